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
  *
  * For the clock's sake the loop keeps beside the state what hangs on the state and, known a clock ahead, on the next packet's number and n, which may be
  * another than the last one's:
  * {{{
  *   against    how that number stands to the highest seen
  *   excess     raised: 256 L - 1, else 256 L - A - 1       so a loss is floor((8 A + n (excess + 1)) / 8) for both
  *   burstPlus  L + 1, saturating
  *   share      (8-n) (L + 1), with the n of the packet that comes next
  * }}}
  * A product by c = 0..8 is the sum of {0, 4, 8} x and {0, 1, 2, -1} x; the choice, [[FlowTerms]], is made a clock ahead. What is of three terms
  * goes through one carry chain.
  */
object FlowLoop {
  import FlowFormats._

  /** Of (8-n) L, with a sign behind a subtraction. */
  val ShareBits: Int = BurstBits + 4

  /** Of `excess`, two's complement. */
  val ExcessBits: Int = BurstBits + AverageFrac + 1

  /** n, at most 8. */
  def eighths(c: FlowConfig): UInt = Mux(c.alpha > 8.U, 8.U, c.alpha)

  /** {0, 1, 2} x. */
  private def first(c: Eighths, x: UInt): UInt =
    MuxLookup(c.fours, 0.U(x.getWidth.W))(Seq(1.U -> x, 2.U -> wrap(x << 1, x.getWidth)))

  /** x + y + z, and 1 for each of the two bits: sums and carries of the three in a LUT a bit, and one carry chain for both. */
  private def total(x: UInt, y: UInt, z: UInt, one: Bool, another: Bool): UInt = {
    val width = x.getWidth
    val carries = (x & y) | (x & z) | (y & z)
    (Cat(x ^ y ^ z, one) + Cat(carries(width - 2, 0), another, one))(width, 1)
  }

  /** The terms for a packet's configuration. */
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

  /** The excess with one packet more. */
  def excessPlus(s: FlowState, excess: UInt): UInt =
    Cat(excess(ExcessBits - 1, AverageFrac) + !s.burst.andR, excess(AverageFrac - 1, 0))

  /** The excess where L = 0. */
  def excessAtRest(average: UInt, raised: Bool): UInt = Cat(3.U(2.W), ~Mux(raised, 0.U, average))

  /** How a segment's number stands to the highest seen, modulo 2^32 ([[FlowMarker]]). */
  def against(seq: UInt, highest: UInt): SeqClass = {
    val distance = seq - highest
    val less = seq + (~highest).asUInt // the distance less 1, so that 0 is a loss
    val c = Wire(new SeqClass)
    c.jump := distance(31) ^ distance(30)
    c.loss := less(31)
    c
  }

  /** Is L > A_Y, for L = `burst`? The sign of 8 average - (8-n) L, or of 8 average - 8 L; to 1/32 of a packet, which is exact. */
  def over(burst: UInt, share: UInt, s: FlowState): Bool = {
    val a = (s.average >> (AverageFrac - 3)).asUInt.pad(ShareBits)
    val kept = a - share
    val whole = a - wrap(burst.pad(ShareBits) << 3, ShareBits)
    Mux(s.raised, kept(ShareBits - 1), whole(ShareBits - 1))
  }

  /** (8-n) L, or where `plus` (8-n) (L + 1). */
  def share(burst: UInt, plus: Bool, t: FlowTerms): UInt = {
    val c = t.keep
    val l = burst.pad(ShareBits)
    val second = MuxLookup(c.ones, 0.U(ShareBits.W))(Seq(1.U -> l, 2.U -> wrap(l << 1, ShareBits), 3.U -> ~l))
    val more = Mux(plus, t.kept, 0.U).pad(ShareBits)
    total(Cat(first(c, l)(ShareBits - 3, 0), 0.U(2.W)), second, more, c.ones.andR, false.B)
  }

  /** A_Y after a loss: 8 average + n (excess + 1) = 8 average + first + second + n, or n + 1 where the second is an inverse. */
  def afterLoss(s: FlowState, excess: UInt, t: FlowTerms): UInt = {
    val width = AverageBits + 5
    val y = Cat(Fill(width - ExcessBits, excess(ExcessBits - 1)), excess)
    val second = MuxLookup(t.alpha.ones, 0.U(width.W))(Seq(1.U -> y, 2.U -> wrap(y << 1, width), 3.U -> ~y))
    val fours = Cat(first(t.alpha, y)(width - 3, 0), 0.U(2.W))
    val sum = total(Cat(0.U(2.W), s.average, t.unit), fours, second, true.B, false.B)
    // n = 0 has one too many, in bits that are dropped.
    saturate(sum >> 3, AverageBits)
  }

  /** The average after a probe of one that is not raised. Then it is, where `byFactor`. */
  def increase(average: UInt, t: FlowTerms): UInt = Mux(t.byFactor, average, doubled(average))
  def doubled(average: UInt): UInt = saturate((average +& (1 << AverageFrac).U) << 1, AverageBits)

  /** The average after a probe, by a factor, of one that is raised already. */
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

/** What a segment's number says. With neither bit set it is new. */
class SeqClass extends Bundle {
  val jump = Bool() // no distance that a TCP window can reach
  val loss = Bool() // sent before; without meaning where `jump`
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

/** What a packet's alpha chooses in the loop. */
class FlowTerms extends Bundle {
  val alpha = new Eighths // n
  val keep = new Eighths // 8 - n
  val kept = UInt(4.W) // the same as a number
  val unit = UInt(3.W) // afterLoss: n - 1, or n where n is 3 or 7; 0 for 0
  val shift = UInt(2.W) // grown: the greatest term
  val small = UInt(2.W) // and which pair of small ones
  val byFactor = Bool()
}
