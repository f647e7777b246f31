package vermilion.fixed

import chisel3._

/** Pipeline registers that keep their type, so that widths stay known behind them (Chisel's `RegNext` infers its own). */
object Delay {

  /** `x` as it was `clocks` clocks ago. */
  def apply[T <: Data](x: T, clocks: Int = 1): T = {
    require(clocks >= 0, s"clocks is $clocks; legal are 0 and more")
    if (clocks == 0) x
    else {
      val held = Reg(chiselTypeOf(x))
      held := x
      apply(held, clocks - 1)
    }
  }

  /** A register that takes `x` where `on`, and otherwise keeps its value. So an empty stage of a pipeline moves nothing. */
  def enabled[T <: Data](x: T, on: Bool): T = {
    val held = Reg(chiselTypeOf(x))
    when(on) { held := x }
    held
  }
}
