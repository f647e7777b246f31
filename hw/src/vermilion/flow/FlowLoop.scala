package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.{saturate, wrap}

/** Computes a flow's next state: adders and comparisons, no multiplier (P1 section II; widths in [[FlowFormats]]).
  *
  * A = A_Y, L = L_Y, alpha = n/8:
  * {{{
  *   loss      A <- floor(((8-n) A + n L) / 8)                  saturating, to 2^-8
  *   increase  A <- 2 (A + 1)                                   saturating
  *   or        A <- A / (1 - alpha) = 8 A / (8-n)               not a binary fraction for n = 1, 2, 3, 5
  * }}}
  * The division is not computed. A bit, `raised`, stands for it: if it is set, A_Y is exactly 8 average / (8-n), and
  * {{{
  *   is L > A_Y?    (8-n) L > 8 average         loss of a raised A_Y:  average <- floor((8 average + n L) / 8), not raised
  * }}}
  * So a probe that is lost restores exactly the average from before it, for every n: P1's stationary point is a fixed point, without drift.
  * Only an increase of a raised A_Y (two probes without a loss between) rounds. The average then grows by a factor of few bits:
  * {{{
  *   n    0  1          2          3          4  5          6  7  8
  *   x    1  1.140625   1.3125     1.625      2  2.625      4  8  8          plus 2^-8, so that the average can rise from 0
  *   is   1  8/7        4/3        8/5        2  8/3        4  8  -
  * }}}
  * n = 8 has no 1/(1 - alpha): once raised, the flow is not probed until a loss. A change of n or of the rule keeps `raised`.
  * 2 (A + 1) uses the average as A_Y and clears `raised`.
  *
  * To meet timing, the loop stores precomputed values with the state. They depend on the state and on the next packet's sequence number and n, which
  * are known one cycle before. That n may differ from the last packet's.
  * {{{
  *   against    the class of that sequence number, relative to the highest seen
  *   excess     raised: 256 L - 1, else 256 L - A - 1       so a loss is floor((8 A + n (excess + 1)) / 8) for both
  *   burstPlus  L + 1, saturating
  *   share      (8-n) (L + 1), with the n of the next packet
  * }}}
  * A product by c = 0..8 is the sum of {0, 4, 8} x and {0, 1, 2, -1} x. [[FlowTerms]] holds the selection, computed one cycle before.
  * Sums of three terms use one carry chain.
  */
object FlowLoop {
  import FlowFormats._

  /** Bits of (8-n) L, with a sign after a subtraction. */
  val ShareBits: Int = BurstBits + 4

  /** Bits of `excess`, two's complement. */
  val ExcessBits: Int = BurstBits + AverageFrac + 1

  /** n, at most 8. */
  def eighths(c: FlowConfig): UInt = Mux(c.alpha > 8.U, 8.U, c.alpha)

  /** {0, 1, 2} x. */
  private def first(c: Eighths, x: UInt): UInt =
    MuxLookup(c.fours, 0.U(x.getWidth.W))(Seq(1.U -> x, 2.U -> wrap(x << 1, x.getWidth)))

  /** x + y + z, plus 1 for each of the two bits. One LUT per bit makes sums and carries of the three, and one carry chain adds them. */
  private def total(x: UInt, y: UInt, z: UInt, one: Bool, another: Bool): UInt = {
    val width = x.getWidth
    val carries = (x & y) | (x & z) | (y & z)
    (Cat(x ^ y ^ z, one) + Cat(carries(width - 2, 0), another, one))(width, 1)
  }

  /** The terms of a packet's configuration. */
  def terms(config: FlowConfig): FlowTerms = {
    val n = eighths(config)
    val t = Wire(new FlowTerms)
    def pick(bits: Int)(values: Int*): UInt = VecInit(values.map(_.U(bits.W)))(n)
    t.alpha := Eighths(n)
    t.keep := Eighths(8.U(4.W) - n)
    t.kept := 8.U(4.W) - n
    t.unit := pick(3)(0, 0, 1, 3, 3, 4, 5, 7, 7)
    t.shift := pick(2)(0, 0, 0, 0, 1, 1, 2, 3, 3)
    t.small := pick(2)(0, 1, 2, 3, 0, 3, 0, 0, 0)
    t.byFactor := config.increase
    t
  }

  def plus(burst: UInt): UInt = saturate(burst +& 1.U, BurstBits)

  def excess(s: FlowState): UInt = {
    val less = ~Mux(s.raised, 0.U, s.average)
    val whole = s.burst.pad(ExcessBits - AverageFrac) + Cat(3.U(2.W), less(AverageBits - 1, AverageFrac))
    Cat(whole, less(AverageFrac - 1, 0))
  }

  /** The excess after one more packet. */
  def excessPlus(s: FlowState, excess: UInt): UInt =
    Cat(excess(ExcessBits - 1, AverageFrac) + !s.burst.andR, excess(AverageFrac - 1, 0))

  /** The excess if L = 0. */
  def excessAtRest(average: UInt, raised: Bool): UInt = Cat(3.U(2.W), ~Mux(raised, 0.U, average))

  /** The class of a segment's sequence number relative to the highest seen, modulo 2^32 ([[FlowMarker]]). */
  def against(seq: UInt, highest: UInt): SeqClass = {
    val distance = seq - highest
    val less = seq + (~highest).asUInt // the distance less 1, so that 0 is a loss
    val c = Wire(new SeqClass)
    c.jump := distance(31) ^ distance(30)
    c.loss := less(31)
    c
  }

  /** Tells whether L > A_Y, for L = `burst`. It is the sign of 8 average - (8-n) L, or of 8 average - 8 L, in 1/32 of a packet, which is exact. */
  def over(burst: UInt, share: UInt, s: FlowState): Bool = {
    val a = (s.average >> (AverageFrac - 3)).asUInt.pad(ShareBits)
    val kept = a - share
    val whole = a - wrap(burst.pad(ShareBits) << 3, ShareBits)
    Mux(s.raised, kept(ShareBits - 1), whole(ShareBits - 1))
  }

  /** (8-n) L, or with `plus` (8-n) (L + 1). */
  def share(burst: UInt, plus: Bool, t: FlowTerms): UInt = {
    val c = t.keep
    val l = burst.pad(ShareBits)
    val second = MuxLookup(c.ones, 0.U(ShareBits.W))(Seq(1.U -> l, 2.U -> wrap(l << 1, ShareBits), 3.U -> ~l))
    val more = Mux(plus, t.kept, 0.U).pad(ShareBits)
    total(Cat(first(c, l)(ShareBits - 3, 0), 0.U(2.W)), second, more, c.ones.andR, false.B)
  }

  /** A_Y after a loss: 8 average + n (excess + 1) = 8 average + first + second + n, or n + 1 if the second is an inverse. */
  def afterLoss(s: FlowState, excess: UInt, t: FlowTerms): UInt = {
    val width = AverageBits + 5
    val y = Cat(Fill(width - ExcessBits, excess(ExcessBits - 1)), excess)
    val second = MuxLookup(t.alpha.ones, 0.U(width.W))(Seq(1.U -> y, 2.U -> wrap(y << 1, width), 3.U -> ~y))
    val fours = Cat(first(t.alpha, y)(width - 3, 0), 0.U(2.W))
    val sum = total(Cat(0.U(2.W), s.average, t.unit), fours, second, true.B, false.B)
    // For n = 0 the sum is one too large, in bits that are dropped.
    saturate(sum >> 3, AverageBits)
  }

  /** The average after a probe, if A_Y was not raised. With `byFactor` it becomes raised. */
  def increase(average: UInt, t: FlowTerms): UInt = Mux(t.byFactor, average, doubled(average))
  def doubled(average: UInt): UInt = saturate((average +& (1 << AverageFrac).U) << 1, AverageBits)

  /** The average after a probe with `byFactor`, if A_Y was already raised. */
  def grown(average: UInt, t: FlowTerms): UInt = {
    val a = average.pad(AverageBits + 4)
    def small(shifts: Int*): UInt =
      MuxLookup(t.small, 0.U(average.getWidth.W))(shifts.zipWithIndex.map { case (k, i) =>
        (i + 1).U -> (average >> k).pad(average.getWidth)
      })
    val whole = MuxLookup(t.shift, a)((1 to 3).map(k => k.U -> wrap(a << k, a.getWidth)))
    saturate(
      total(whole, small(3, 2, 1).pad(a.getWidth), small(6, 4, 3).pad(a.getWidth), true.B, false.B),
      AverageBits
    )
  }
}

/** The class of a segment's sequence number. With neither bit set the segment is new. */
class SeqClass extends Bundle {
  val jump = Bool() // a distance that no TCP window can reach
  val loss = Bool() // sent before; undefined if `jump`
}

/** A factor c = 0..8 as two terms: {0, 4, 8} and {0, 1, 2, -1}. */
class Eighths extends Bundle {
  val fours = UInt(2.W)
  val ones = UInt(2.W)
}

object Eighths {
  def apply(c: UInt): Eighths = {
    val e = Wire(new Eighths)
    e.fours := (c +& 1.U)(3, 2)
    e.ones := c(1, 0)
    e
  }
}

/** The terms that a packet's alpha selects in the loop. */
class FlowTerms extends Bundle {
  val alpha = new Eighths // n
  val keep = new Eighths // 8 - n
  val kept = UInt(4.W) // 8 - n as a number
  val unit = UInt(3.W) // afterLoss: n - 1, or n if n is 3 or 7; 0 for 0
  val shift = UInt(2.W) // grown: the largest term
  val small = UInt(2.W) // grown: the pair of small terms
  val byFactor = Bool()
}
