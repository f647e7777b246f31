package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._

/** A cell on the way out: byte 0 in bits 7..0. All but a frame's last cell have 64 bytes. */
class OutCell extends Bundle {
  val data = UInt((CellBytes * 8).W)
  val first = Bool()
  val last = Bool()
  val bytes = UInt(7.W) // 1 to 64; counts at last, taken as 64 before it
}

/** Cells to AXI-Stream beats, with their edits, `keep` contiguous, `bad` never set; `user` is left to whoever knows it.
  *
  * No gap between the beats of a cell, nor between cells or frames while cells are there: the next cell is taken on the clock of the last beat.
  * Latency: one clock. It does not check that `bytes` is at least 1: 0 gives one beat with an empty `keep`.
  */
class Serializer(dataBits: Int, userBits: Int = 0) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new SentCell))
    val out = Decoupled(new AxisBeat(dataBits, userBits))
    val room = Output(Bool()) // `in.ready`, from a register of its own: for those that wait further up
  })

  private val beatBytes = dataBits / 8
  private val beats = CellBytes / beatBytes

  private val busy = RegInit(false.B)
  private val free = RegInit(true.B) // !busy, the other way round so that it stays a register of its own
  private val data = Reg(UInt((CellBytes * 8).W))
  private val beat = Reg(
    UInt(log2Ceil(beats).max(1).W)
  ) // of `data`, which stands still: a choice of one beat is less than a shift of all
  private val edit = Reg(new CellEdit)
  private val last = Reg(Bool())
  private val left = Reg(UInt(7.W)) // bytes of this cell not yet sent

  private val lastBeat = Reg(Bool()) // left <= beatBytes, known a clock ahead: all that stands before waits for it
  io.in.ready := !busy || (io.out.ready && lastBeat)
  io.room := free || (io.out.ready && lastBeat)
  when(io.in.fire) {
    busy := true.B
    free := false.B
    data := io.in.bits.data
    beat := 0.U
    edit := io.in.bits.edit
    last := io.in.bits.last
    left := Mux(io.in.bits.last, io.in.bits.bytes, CellBytes.U)
    lastBeat := (beats == 1).B || (io.in.bits.last && io.in.bits.bytes <= beatBytes.U)
  }.elsewhen(io.out.fire) {
    busy := !lastBeat
    free := lastBeat
    if (beats > 1) {
      beat := beat + 1.U
      left := left - beatBytes.U
      lastBeat := left <= (2 * beatBytes).U
    }
  }

  io.out.valid := busy
  private val now = if (beats == 1) data else data.asTypeOf(Vec(beats, UInt(dataBits.W)))(beat)
  io.out.bits.data := edit(now, if (beats == 1) 0.U else beat)
  io.out.bits.keep := VecInit(Seq.tabulate(beatBytes)(i => left > i.U)).asUInt
  io.out.bits.last := last && lastBeat
  io.out.bits.bad := false.B
  io.out.bits.user := 0.U(userBits.W)
}
