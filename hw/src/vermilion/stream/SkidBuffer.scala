package vermilion.stream

import chisel3._
import chisel3.util._

/** Room for one element that finds its way barred, so that `in.ready` is a register, and nothing that comes on the way out is asked in the same clock.
  *
  * What comes passes in the same clock if `out` is ready then; else it is kept and comes first. Rate: one a clock. Latency: 0 clocks.
  */
class SkidBuffer[T <: Data](element: T) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(element.cloneType))
    val out = Decoupled(element.cloneType)
    val kept = Output(Bool()) // what is at `out` has waited here
  })

  private val full = RegInit(false.B)
  // Written whether it will be wanted or not: who takes it at once is known late.
  private val store = RegEnable(io.in.bits, !full)
  full := io.out.valid && !io.out.ready

  io.in.ready := !full
  io.out.valid := full || io.in.valid
  io.out.bits := Mux(full, store, io.in.bits)
  io.kept := full
}
