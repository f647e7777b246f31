package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._

/** A cell at the egress: byte 0 in bits 7..0. All but a frame's last cell have 64 bytes. */
class OutCell extends Bundle {
  val data = UInt((CellBytes * 8).W)
  val first = Bool()
  val last = Bool()
  val bytes = UInt(7.W) // 1 to 64; valid at last, taken as 64 before it
}

/** Serializes cells into AXI-Stream beats and applies their edits.
  *
  * `keep` is contiguous, `bad` is never set, and `user` is 0: another module supplies it.
  * There is no gap between the beats of a cell, nor between cells or frames while cells are available. The next cell is accepted in the cycle of
  * the last beat. Latency: one cycle. The module does not check that `bytes` is at least 1: 0 gives one beat with an empty `keep`.
  */
class Serializer(dataBits: Int, userBits: Int = 0) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new SentCell))
    val out = Decoupled(new AxisBeat(dataBits, userBits))
    val room = Output(Bool()) // `in.ready`, from a separate register: for modules further upstream
  })

  private val beatBytes = dataBits / 8
  private val beats = CellBytes / beatBytes

  private val busy = RegInit(false.B)
  private val free = RegInit(true.B) // !busy, inverted so that synthesis keeps a separate register
  private val data = Reg(UInt((CellBytes * 8).W))
  private val beat = Reg(
    UInt(log2Ceil(beats).max(1).W)
  ) // index into `data`, which does not shift: selecting one beat costs less than shifting all
  private val edit = Reg(new CellEdit)
  private val last = Reg(Bool())
  private val left = Reg(UInt(7.W)) // bytes of this cell not yet sent

  private val lastBeat = Reg(Bool()) // left <= beatBytes, computed a cycle early: all upstream logic depends on it
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
