package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.{Chain, QueueEntry}

/** A cell of a packet that is read for its egress. */
class CellBeat(p: LaneParams) extends Bundle {
  val data = UInt((CellBytes * 8).W) // byte 0 in bits 7..0
  val first = Bool()
  val last = Bool()
  val validBytes = UInt(7.W) // 1 to 64; below 64 only at `last`
  val queueEntry = new QueueEntry(p)
}

/** Reads a packet's cells in order, one per cycle if the egress accepts it, and then returns the chain.
  *
  * The link of the present cell is read together with its bytes, so the next address is known when the cell is handed over.
  * After a packet's last cell the address is the next queue entry's head cell, so packets follow each other without an idle cycle.
  * While `cell` is stalled, the same address is read again. This holds the RAM's outputs without a 512-bit register.
  * The chain is freed only when its last cell has been taken, so the data that is read again cannot change.
  *
  * With several egresses their readers share the RAM. One reader reads per cycle, and `cell` is valid only in the cycle after a read.
  * A reader requests a read (`wants`) when the egress can take a cell. The egress keeps its `ready`. A cell that is not taken is read again.
  * So a reader alone sends a cell in three cycles. If all readers request, a cell takes as many cycles as there are egresses.
  *
  * Latency: queue entry to first cell 1 cycle; with several egresses 2, plus the wait for the RAM. `freed` comes in the cycle in which
  * the last cell is taken. The reader does not look at the bytes. `cells` must be ceil(lenBytes / 64), which an assertion checks.
  */
class PacketReader(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val packet = Flipped(Decoupled(new QueueEntry(p)))
    val wants = Output(Bool()) // requests a read
    // With one egress, in builds with `reports`: `readAddress` is that of the cycle before, or has no effect.
    val spare = Option.when(p.egresses == 1 && p.reports)(Output(Bool()))
    val reads = Input(Bool()) // it may read: always high with one egress
    val readAddress = Output(UInt(p.cellBits.W))
    val readData = Input(UInt((CellBytes * 8).W))
    val readLink = Input(UInt(p.cellBits.W))
    val linkUsed = Output(Bool()) // in this cycle
    val cell = Decoupled(new CellBeat(p))
    val freed = Valid(new Chain(p))
    val holds = Output(Bool()) // a packet is being read
  })

  private val valid = RegInit(false.B)
  private val address = RegInit(0.U(p.cellBits.W))
  private val first = RegInit(false.B)
  private val remaining = RegInit(0.U(p.chainBits.W)) // cells of the packet that remain, this one included
  private val queueEntry = Reg(new QueueEntry(p))

  private val last = Reg(Bool()) // remaining === 1
  private val isFresh = if (p.egresses == 1) true.B else RegNext(io.reads, false.B) // the RAM shows the present cell
  private val advance = !valid || (isFresh && io.cell.ready)
  io.wants := (if (p.egresses == 1) true.B else valid && !isFresh && io.cell.ready)
  private val startPacket = !valid || last
  io.packet.ready := advance && startPacket

  private val nextAddress = Mux(startPacket, io.packet.bits.headCell, io.readLink)
  io.readAddress := Mux(advance, nextAddress, address)
  io.linkUsed := advance && !startPacket
  io.spare.foreach(_ := !advance || startPacket && !io.packet.valid)
  when(advance) {
    valid := !startPacket || io.packet.valid
    address := nextAddress
    first := startPacket
    remaining := Mux(startPacket, io.packet.bits.cells, remaining - 1.U)
    last := Mux(startPacket, io.packet.bits.cells === 1.U, remaining === 2.U)
    when(startPacket) { queueEntry := io.packet.bits }
  }

  private val tailBytes = queueEntry.lenBytes(5, 0)
  io.holds := valid
  io.cell.valid := valid && isFresh
  io.cell.bits.data := io.readData
  io.cell.bits.first := first
  io.cell.bits.last := last
  io.cell.bits.validBytes := Mux(last && tailBytes =/= 0.U, tailBytes, CellBytes.U)
  io.cell.bits.queueEntry := queueEntry
  io.freed.valid := io.cell.fire && last
  io.freed.bits.head := queueEntry.headCell
  io.freed.bits.cells := queueEntry.cells

  assert(
    !io.packet.fire || io.packet.bits.cells === (io.packet.bits.lenBytes +& (CellBytes - 1).U) >> 6,
    "a packet's cells do not match its length"
  )
}
