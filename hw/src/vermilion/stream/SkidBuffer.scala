package vermilion.stream

import chisel3._
import chisel3.util._

/** Room for one element that finds its way barred, so that `in.ready` is a register, and nothing that comes on the way out is asked in the same clock.
  *
  * What comes passes in the same clock if `out` is ready then; else it is kept and comes first. Rate: one a clock. Latency: 0 clocks.
  */
class SkidBuffer[T <: Bundle](element: T) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(element.cloneType))
    val out = Decoupled(element.cloneType)
    val held =
      Valid(element.cloneType) // what waits here, and is on its way out; else `in` is: for who has to know soon
  })

  private val full = RegInit(false.B)
  // The same for wide fields, the other way round so that it stays a register of its own: what is decided should not wait for a net to every bit.
  private val straight = RegInit(true.B)
  private val waits = io.out.valid && !io.out.ready
  full := waits
  straight := !waits
  // Written whether it will be wanted or not: who takes it at once is known late.
  private val store = RegEnable(io.in.bits, straight)

  io.held.valid := full
  io.held.bits := store
  io.in.ready := !full
  io.out.valid := full || io.in.valid
  for ((name, field) <- io.out.bits.elements) {
    val wide = field.getWidth > 64
    field := Mux(if (wide) !straight else full, store.elements(name), io.in.bits.elements(name))
  }
}
