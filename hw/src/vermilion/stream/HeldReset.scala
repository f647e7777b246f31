package vermilion.stream

import chisel3._
import chisel3.util._

/** Registers the reset of a block's port for the block's internal logic.
  *
  * The register is 1 at power-up, which AMD devices support. So the internal logic starts with one cycle of reset.
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

/** Delays a block's reset by one register, so that its path is timed like any other.
  *
  * The internal reset begins and ends one cycle after the reset of the port. In the cycle after the port's reset, the block must accept no
  * transfer, because the transfer would be lost. It must also output none, because its state is from before the reset. So its ports are gated
  * ([[gate]]).
  */
object HeldReset {

  /** The internal reset, from the reset at the port. */
  def apply(clock: Clock, reset: Reset): Bool = {
    val register = Module(new HeldReset)
    register.clock := clock
    register.reset := reset.asBool
    register.held
  }

  /** Passes transfers of a port, into the block or out of it, and blocks them while `held`. */
  def gate[T <: Data](in: DecoupledIO[T], held: Bool): DecoupledIO[T] = {
    val out = Wire(chiselTypeOf(in))
    out.bits := in.bits
    out.valid := in.valid && !held
    in.ready := out.ready && !held
    out
  }
}
