package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Takes what the MAC brings, in every clock, and leaves out the rest of a frame that a reset cut.
  *
  * Two registers outlive the reset and know that a frame was under way ([[vermilion.stream.Ingress]] does the same).
  * They know nothing of the source: if it was reset too, its next frame is taken for the rest and left out. When power
  * comes they must be 0, as an FPGA's are. In reset beats vanish.
  *
  * `lost` rises for a clock behind the last beat of a frame that was left out.
  *
  * Latency: one clock. Rate: a beat a clock.
  */
class RxEntry(beat: => AxisBeat) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Valid(beat))
    val out = Valid(beat)
    val lost = Output(Bool())
  })
  private val open = Reg(Bool())
  private val cut = Reg(Bool())
  private val openNext = Mux(io.in.valid, !io.in.bits.last, open)
  open := openNext
  when(reset.asBool) { cut := openNext }.elsewhen(io.in.valid && io.in.bits.last) { cut := false.B }
  io.out.valid := RegNext(io.in.valid && !cut, false.B)
  io.out.bits := RegNext(io.in.bits)
  io.lost := RegNext(io.in.valid && io.in.bits.last && cut && !reset.asBool, false.B)
}
