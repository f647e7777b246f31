package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.{Chain, QueueEntry}

/** A cell of a packet on its way out. */
class CellBeat(p: LaneParams) extends Bundle {
  val data = UInt((CellBytes * 8).W) // byte 0 in bits 7..0
  val first = Bool()
  val last = Bool()
  val validBytes = UInt(7.W) // 1 to 64; 64 but at `last`
  val queueEntry = new QueueEntry(p)
}

/** Reads a packet's cells in order, one a clock as the way out takes them, and then gives the chain back.
  *
  * The link of the cell in hand is read together with its bytes, so the next address is known when the cell is handed over;
  * behind a packet's last cell the next queue entry's head cell takes its place, and packets follow without a bubble.
  * While `cell` waits the same address is read again, which holds the RAM's outputs without a register of 512 bits; the chain is freed only
  * when its last cell has been taken, so what is read again cannot change.
  *
  * With several egresses their readers share the RAM: one reads in a clock, and `cell` is valid in the clock behind a read alone. A reader asks (`wants`) when
  * the way out could take a cell, which the way out does not forget; what is not taken then is read again. So alone it sends a cell in three clocks,
  * and in as many as there are egresses where all ask.
  *
  * Latency: queue entry to first cell 1 clock, with several egresses 2 and the wait for the RAM. `freed` comes in the clock in which the last cell is taken.
  * It does not look at the bytes; `cells` must be ceil(lenBytes / 64), which is asserted.
  */
class PacketReader(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val packet = Flipped(Decoupled(new QueueEntry(p)))
    val wants = Output(Bool()) // to read
    val reads = Input(Bool()) // it may: always with one egress
    val readAddress = Output(UInt(p.cellBits.W))
    val readData = Input(UInt((CellBytes * 8).W))
    val readLink = Input(UInt(p.cellBits.W))
    val linkUsed = Output(Bool()) // in this clock
    val cell = Decoupled(new CellBeat(p))
    val freed = Valid(new Chain(p))
    val holds = Output(Bool()) // a packet is being read
  })

  private val valid = RegInit(false.B)
  private val address = RegInit(0.U(p.cellBits.W))
  private val first = RegInit(false.B)
  private val remaining = RegInit(0.U(p.chainBits.W)) // cells of the packet, this one included
  private val queueEntry = Reg(new QueueEntry(p))

  private val last = Reg(Bool()) // remaining === 1
  private val isFresh = if (p.egresses == 1) true.B else RegNext(io.reads, false.B) // the RAM shows the cell in hand
  private val advance = !valid || (isFresh && io.cell.ready)
  io.wants := (if (p.egresses == 1) true.B else valid && !isFresh && io.cell.ready)
  private val startPacket = !valid || last
  io.packet.ready := advance && startPacket

  private val nextAddress = Mux(startPacket, io.packet.bits.headCell, io.readLink)
  io.readAddress := Mux(advance, nextAddress, address)
  io.linkUsed := advance && !startPacket
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
