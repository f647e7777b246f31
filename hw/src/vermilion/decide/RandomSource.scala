package vermilion.decide

import chisel3._
import chisel3.util._

object RandomSource {

  /** The state after a reset, s0 first. */
  val resetState: Seq[BigInt] = Seq("9e3779b9", "243f6a88", "b7e15162", "deadbeef").map(BigInt(_, 16))
}

/** Generates random numbers by xoshiro128++ 1.0: 32 new bits per draw, period 2^128 - 1.
  *
  * Source: Blackman and Vigna, ACM TOMS 47, 2021. State step and output are additions, rotations and exclusive ors.
  * `draw` holds the present number, and `next` steps the state. A seed of all zeros is not a state of the generator, and is ignored.
  */
class RandomSource extends Module {
  val io = IO(new Bundle {
    val next = Input(Bool())
    val draw = Output(UInt(32.W))
    val seed = Flipped(Valid(UInt(128.W)))
  })
  private val s = RegInit(VecInit(RandomSource.resetState.map(_.U(32.W))))
  private def rotateLeft(x: UInt, k: Int): UInt = Cat(x(31 - k, 0), x(31, 32 - k))

  io.draw := rotateLeft(s(0) + s(3), 7) + s(0)
  when(io.next) {
    val t = (s(1) << 9)(31, 0)
    val x2 = s(2) ^ s(0)
    val x3 = s(3) ^ s(1)
    s(1) := s(1) ^ x2
    s(0) := s(0) ^ x3
    s(2) := x2 ^ t
    s(3) := rotateLeft(x3, 11)
  }
  when(io.seed.valid && io.seed.bits.orR) {
    s := VecInit(Seq.tabulate(4)(i => io.seed.bits(32 * i + 31, 32 * i)))
  }
}
