package vermilion.fixed

import chisel3._

/** Pipeline registers that keep their type, so that widths stay known after them (Chisel's `RegNext` infers its width). */
object Delay {

  /** `x` as it was `cycles` cycles before. */
  def apply[T <: Data](x: T, cycles: Int = 1): T = {
    require(cycles >= 0, s"cycles is $cycles; legal are 0 and more")
    if (cycles == 0) x
    else {
      val held = Reg(chiselTypeOf(x))
      held := x
      apply(held, cycles - 1)
    }
  }

  /** A register that takes `x` while `on` is high, and otherwise keeps its value. So nothing toggles in an empty stage of a pipeline. */
  def enabled[T <: Data](x: T, on: Bool): T = {
    val held = Reg(chiselTypeOf(x))
    when(on) { held := x }
    held
  }
}
