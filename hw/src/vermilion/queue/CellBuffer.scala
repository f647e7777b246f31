package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Memory
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.stream.CellWrite

/** A read port. `data` belongs to the `address` of the cycle before, and `used` to `data`. */
class CellPort(p: LaneParams, width: Int) extends Bundle {
  val address = Output(UInt(p.cellBits.W))
  val data = Input(UInt(width.W))
  val used = Output(Bool()) // the data is used; only builds with `protect` read this
}

/** Stores the packets' bytes and the links that chain a packet's cells.
  *
  * RAMs: `data`, cells x 512 b, 1W 1R; `link`, cells x cellBits, 1W, two copies for two independent readers:
  * the packet reader (address shared with `data`) and the free list's walk of freed chains.
  * One write port: the ingress side arbitrates, one cell per cycle. Reads are always served, so nothing else needs arbitration.
  *
  * Read latency 1. A read in the cycle of a write to the same cell is undefined. The packet reader never makes one: it reads a cell only between its
  * packet's verdict and its return, and a cell is written only before it belongs to a packet. A report's read can be one ([[vermilion.report.ReportHeads]]), and its data
  * is not used then.
  * A chain's links must be written at least one cycle before the chain is freed or enqueued.
  *
  * In builds with `protect` the links are codewords (`protect/ScrubbedRam`). The packets' bytes are not.
  */
class CellBuffer(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val write = Flipped(Valid(new CellWrite(p)))
    val readAddress = Input(UInt(p.cellBits.W))
    val readData = Output(UInt((CellBytes * 8).W))
    val readLink = Output(UInt(p.cellBits.W))
    val linkUsed = Input(Bool()) // the link is used; only builds with `protect` read this
    val walk = Flipped(new CellPort(p, p.cellBits))
  })

  private val data = new Memory(p.cells, UInt((CellBytes * 8).W), p.largeMemory(p.cells, CellBytes * 8))
  private val guards = new Guards(p.protect)
  private val readerLink = guards.unforwarded("readerLink", p.cells, UInt(p.cellBits.W))
  private val walkerLink = guards.unforwarded("walkerLink", p.cells, UInt(p.cellBits.W))

  data.write(io.write.valid, io.write.bits.cell, io.write.bits.data)
  private val links = io.write.valid && io.write.bits.hasPrevious
  for (link <- Seq(readerLink, walkerLink)) link.write(links, io.write.bits.previous, io.write.bits.cell)

  io.readData := data.read(io.readAddress)
  io.readLink := readerLink.read(io.readAddress, io.linkUsed)
  io.walk.data := walkerLink.read(io.walk.address, io.walk.used)

  assert(
    !(io.write.valid && io.write.bits.hasPrevious && io.write.bits.previous === io.write.bits.cell),
    "a cell is linked to itself"
  )

  val guard = guards.ports()
}
