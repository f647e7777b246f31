package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.CellWrite

/** A read port: `data` belongs to the `address` of the clock before. */
class CellPort(p: LaneParams, width: Int) extends Bundle {
  val address = Output(UInt(p.cellBits.W))
  val data = Input(UInt(width.W))
}

/** The packets' bytes and the links that chain a packet's cells.
  *
  * RAMs: `data`, cells x 512 b, 1W 1R; `link`, cells x cellBits, 1W, kept twice for two independent readers:
  * the packet reader (address shared with `data`) and the free list's walk of freed chains.
  * One write port: the ingress side arbitrates, one cell a clock. No read port can be refused, so nothing else to arbitrate.
  *
  * Read latency 1. A read in the clock of a write to the same cell is undefined; it cannot happen,
  * because a cell is read only between its packet's verdict and its return, and written only while it belongs to no packet yet.
  * A chain's links must be written at least one clock before the chain is freed or enqueued.
  */
class CellBuffer(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val write = Flipped(Valid(new CellWrite(p)))
    val readAddress = Input(UInt(p.cellBits.W))
    val readData = Output(UInt((CellBytes * 8).W))
    val readLink = Output(UInt(p.cellBits.W))
    val walk = Flipped(new CellPort(p, p.cellBits))
  })

  private val data = SyncReadMem(p.cells, UInt((CellBytes * 8).W))
  private val readerLink = SyncReadMem(p.cells, UInt(p.cellBits.W))
  private val walkerLink = SyncReadMem(p.cells, UInt(p.cellBits.W))

  when(io.write.valid) { data.write(io.write.bits.cell, io.write.bits.data) }
  when(io.write.valid && io.write.bits.hasPrevious) {
    readerLink.write(io.write.bits.previous, io.write.bits.cell)
    walkerLink.write(io.write.bits.previous, io.write.bits.cell)
  }

  io.readData := data.read(io.readAddress)
  io.readLink := readerLink.read(io.readAddress)
  io.walk.data := walkerLink.read(io.walk.address)

  assert(
    !(io.write.valid && io.write.bits.hasPrevious && io.write.bits.previous === io.write.bits.cell),
    "a cell is linked to itself"
  )
}
