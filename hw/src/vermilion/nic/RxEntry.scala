package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Accepts a beat from the MAC in every cycle and discards the rest of a frame that a reset cut.
  *
  * Two registers are not reset and record that a frame was in progress ([[vermilion.stream.Ingress]] does the same).
  * They have no information about the source. If the source was reset too, the module takes its next frame for the rest
  * and discards it. At power-up the registers must be 0, as in an FPGA. Beats that arrive during reset are discarded.
  *
  * `lost` is high for one cycle after the last beat of a frame that was discarded.
  *
  * Latency: one cycle. Rate: one beat per cycle.
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
