package vermilion.decide

import chisel3._
import chisel3.util._

object RandomSource {

  /** The state after a reset, s0 first. */
  val resetState: Seq[BigInt] = Seq("9e3779b9", "243f6a88", "b7e15162", "deadbeef").map(BigInt(_, 16))

  /** The words of a state or seed in another order, for a source that shares a seed with others and must draw other numbers. `by` is 1 to 3, one for each source. */
  def rotated[T](words: Seq[T], by: Int): Seq[T] = words.drop(by) ++ words.take(by)

  /** The same for a seed, s0 lowest. */
  def rotated(seed: UInt, by: Int): UInt =
    Cat(rotated(Seq.tabulate(4)(i => seed(32 * i + 31, 32 * i)), by).reverse)
}

/** Generates random numbers by xoshiro128++ 1.0: 32 new bits per draw, period 2^128 - 1.
  *
  * Source: Blackman and Vigna, ACM TOMS 47, 2021. State step and output are additions, rotations and exclusive ors.
  * `draw` holds the present number, and `next` steps the state. A seed of all zeros is not a state of the generator, and is ignored.
  *
  * Numbers that must be independent come from one source. Two sources whose seeds differ in constant bits are correlated at each index, whatever the seed, because the
  * step of the state is linear.
  *
  * @param pairs   two numbers at once, `draw` and `second`, and `next` steps past both
  * @param atReset the state after a reset, s0 first; not all zeros
  */
class RandomSource(pairs: Boolean = false, atReset: Seq[BigInt] = RandomSource.resetState) extends Module {
  val io = IO(new Bundle {
    val next = Input(Bool())
    val draw = Output(UInt(32.W))
    val second = Option.when(pairs)(Output(UInt(32.W)))
    val seed = Flipped(Valid(UInt(128.W)))
  })
  private val s = RegInit(VecInit(atReset.map(_.U(32.W))))
  private def rotateLeft(x: UInt, k: Int): UInt = Cat(x(31 - k, 0), x(31, 32 - k))
  private def number(s: Seq[UInt]): UInt = rotateLeft(s(0) + s(3), 7) + s(0)
  private def following(s: Seq[UInt]): Seq[UInt] = {
    val t = (s(1) << 9)(31, 0)
    val x2 = s(2) ^ s(0)
    val x3 = s(3) ^ s(1)
    Seq(s(0) ^ x3, s(1) ^ x2, x2 ^ t, rotateLeft(x3, 11))
  }

  io.draw := number(s)
  private val after = following(s)
  io.second.foreach(_ := number(after))
  when(io.next) { s := VecInit(if (pairs) following(after) else after) }
  when(io.seed.valid && io.seed.bits.orR) {
    s := VecInit(Seq.tabulate(4)(i => io.seed.bits(32 * i + 31, 32 * i)))
  }
}
