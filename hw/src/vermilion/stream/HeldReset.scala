package vermilion.stream

import chisel3._
import chisel3.util._

/** One register between the reset at a block's port and that of its inside. It is set when power comes, as registers of AMD's devices can be, so the inside begins with
  * a clock of reset.
  */
class HeldReset extends ExtModule {
  val clock = IO(Input(Clock()))
  val reset = IO(Input(Bool()))
  val held = IO(Output(Bool()))
  setInline(
    s"$desiredName.sv",
    s"""module $desiredName(input clock, reset, output held);
       |  reg register;
       |  initial register = 1'b1;
       |  always @(posedge clock) register <= reset;
       |  assign held = register;
       |endmodule
       |""".stripMargin
  )
}

/** A reset that is timed like everything else: a block's inside begins and ends its reset a clock behind the port's. In the clock behind the port's reset the block must
  * take nothing, as it would be lost, and give nothing, as that is of before: its ports are gated ([[gate]]).
  */
object HeldReset {

  /** The reset of the inside, from the reset at the port. */
  def apply(clock: Clock, reset: Reset): Bool = {
    val register = Module(new HeldReset)
    register.clock := clock
    register.reset := reset.asBool
    register.held
  }

  /** What goes by a port, into the block or out of it, and nothing while `held`. */
  def gate[T <: Data](in: DecoupledIO[T], held: Bool): DecoupledIO[T] = {
    val out = Wire(chiselTypeOf(in))
    out.bits := in.bits
    out.valid := in.valid && !held
    in.ready := out.ready && !held
    out
  }
}
