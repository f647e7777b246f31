package vermilion.stream

import chisel3._
import chisel3.util._

/** A FIFO of a few short elements in flip-flops.
  *
  * One multiplexer selects `out.bits` from the flip-flops. This is faster than the output of a memory in LUTs.
  * As in Chisel's `Queue`, `in.ready` and `out.valid` depend on registers only. Rate: one per cycle. Latency: 1 cycle.
  */
object ShortQueue {
  def apply[T <: Data](in: DecoupledIO[T], depth: Int): DecoupledIO[T] = {
    require(depth >= 2 && isPow2(depth), s"depth is $depth; legal are powers of two from 2")
    val out = Wire(Decoupled(chiselTypeOf(in.bits)))
    val held = Reg(Vec(depth, chiselTypeOf(in.bits)))
    val from, to = RegInit(0.U(log2Ceil(depth).W))
    val count = RegInit(0.U(log2Ceil(depth + 1).W))
    val some = RegInit(false.B)
    in.ready := count =/= depth.U
    out.valid := some
    out.bits := held(from)
    when(in.fire) {
      held(to) := in.bits
      to := to + 1.U
    }
    when(out.fire) { from := from + 1.U }
    some := in.fire || Mux(out.fire, count > 1.U, some)
    assert(some === (count =/= 0.U), "a queue says wrong whether it holds an element")
    when(in.fire =/= out.fire) { count := Mux(in.fire, count + 1.U, count - 1.U) }
    out
  }
}
