package vermilion.stream

import chisel3._
import chisel3.util._

/** Holds one stalled element, so that `in.ready` comes from a register.
  *
  * `in.ready` does not depend on `out.ready` of the same cycle. An element passes in the same cycle if `out` is ready. Otherwise the buffer holds
  * it and outputs it before any other. Rate: one per cycle. Latency: 0 cycles.
  */
class SkidBuffer[T <: Bundle](element: T) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(element.cloneType))
    val out = Decoupled(element.cloneType)
    val held =
      Valid(element.cloneType) // the held element, which is at `out`; if not valid, `in` is at `out`. Known early
  })

  private val full = RegInit(false.B)
  // !full for wide fields, inverted so that synthesis keeps a separate register: control logic does not wait for a net to every bit.
  private val straight = RegInit(true.B)
  private val waits = io.out.valid && !io.out.ready
  full := waits
  straight := !waits
  // Written whether needed or not: it is known late whether `out` accepts the element in this cycle.
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
