package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.{saturate, wrap}

/** The arithmetic of a flow's state: adders and compares, no multiplier (P1 section II; widths in [[FlowFormats]]).
  *
  * A = A_Y, L = L_Y, alpha = n/8:
  * {{{
  *   loss      A <- floor(((8-n) A + n L) / 8)                  saturating, to 2^-8
  *   increase  A <- 2 (A + 1)                                   saturating
  *   or        A <- A / (1 - alpha) = 8 A / (8-n)               no dyadic number for n = 1, 2, 3, 5
  * }}}
  * The division is not worked out but kept as a bit, `raised`: then A_Y is 8 average / (8-n), exactly, and
  * {{{
  *   is L > A_Y?    (8-n) L > 8 average         loss of a raised A_Y:  average <- floor((8 average + n L) / 8), not raised
  * }}}
  * So a probe that is lost gives back exactly the average from before it, for every n: P1's stationary point is a fixed point, without
  * drift. Only an increase of what is raised already (two probes and no loss between) rounds: the average grows by a factor of few bits
  * {{{
  *   n    0  1          2          3          4  5          6  7  8
  *   x    1  1.140625   1.3125     1.625      2  2.625      4  8  8          and by 2^-8 more, so that 0 is not the end
  *   is   1  8/7        4/3        8/5        2  8/3        4  8  -
  * }}}
  * n = 8 has no 1/(1 - alpha): raised, it is not probed until a loss. A change of n or of the rule finds `raised` as it is;
  * 2 (A + 1) takes the average for A_Y and clears it.
  */
object FlowLoop {
  import FlowFormats._

  /** `c x`, c = 0..8, as one sum of two shifts. */
  private def times(c: UInt, x: UInt): UInt = {
    val width = x.getWidth + 4
    val zero = 0.U(width.W)
    val x1 = x.pad(width)
    val Seq(x2, x4, x8) = Seq(1, 2, 3).map(k => wrap(x1 << k, width))
    val first = MuxLookup(c, x8)(Seq(zero, x1, x2, x2, x4, x4, x4, x8).zipWithIndex.map { case (t, i) => i.U -> t })
    val second = MuxLookup(c, zero)(Seq(3.U -> x1, 5.U -> x1, 6.U -> x2, 7.U -> ~x1))
    wrap(first + second + (c === 7.U), width)
  }

  /** n, at most 8. */
  def eighths(c: FlowConfig): UInt = Mux(c.alphaEighths > 8.U, 8.U, c.alphaEighths)

  /** 8 - n where the state is not raised; what the average is multiplied with at a loss. */
  private def keep(n: UInt): UInt = 8.U(4.W) - n

  /** Is L > A_Y, for L = `burst`? (8-n) L > 8 average, both with 8 fraction bits. */
  def over(burst: UInt, s: FlowState, n: UInt): Bool =
    times(Mux(s.raised, keep(n), 8.U), burst) > (s.average >> (AverageFrac - 3)).asUInt

  /** A_Y after a loss, for the burst in `s`. */
  def afterLoss(s: FlowState, n: UInt): UInt = {
    val sum = times(Mux(s.raised, 8.U, keep(n)), s.average) +& (times(n, s.burst) << AverageFrac)
    saturate(sum >> 3, AverageBits)
  }

  /** The average and `raised` after a probe. */
  def increase(average: UInt, raised: Bool, c: FlowConfig): (UInt, Bool) = {
    val n = eighths(c)
    val a = average.pad(AverageBits + 4)
    val terms = Seq(
      Seq(0),
      Seq(0, -3, -6),
      Seq(0, -2, -4),
      Seq(0, -1, -3),
      Seq(1),
      Seq(1, -1, -3),
      Seq(2),
      Seq(3),
      Seq(3)
    )
    def term(which: Int): UInt = MuxLookup(n, 0.U(a.getWidth.W))(terms.zipWithIndex.collect {
      case (shifts, i) if shifts.length > which =>
        val k = shifts(which)
        i.U -> (if (k < 0) (a >> -k).pad(a.getWidth) else wrap(a << k, a.getWidth))
    })
    val grown = saturate(term(0) +& term(1) +& (term(2) +& 1.U), AverageBits)
    val doubled = saturate((average +& (1 << AverageFrac).U) << 1, AverageBits)
    (Mux(c.increaseByFactor, Mux(raised, grown, average), doubled), c.increaseByFactor)
  }
}
