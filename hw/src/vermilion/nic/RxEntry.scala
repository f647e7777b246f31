package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Accepts a beat from the MAC in every cycle and discards the rest of a frame that a reset cut.
  *
  * Two registers keep their values through a reset. They record that a frame was in progress ([[vermilion.stream.Ingress]]
  * does the same). The module does not know whether the source was reset too. If it was, the first frame after the reset
  * counts as the rest of the cut frame. At power-up the registers must be 0, as in an FPGA. Beats that arrive during
  * reset are discarded.
  *
  * `lost` is high in the cycle after the last beat of a discarded frame.
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
