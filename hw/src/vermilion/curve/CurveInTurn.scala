package vermilion.curve

import chisel3._
import chisel3.util.{Cat, RegEnable}
import vermilion.control.{ColourConfig, CurveConfig, Scaled}
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ShiftDown, WideWriteRam}
import vermilion.lane.LaneParams

/** What [[CurveUnit]] computes, with the curves of all queues, for requests that are 8 clocks apart or more.
  *
  * The curves lie in RAMs that are written a queue at a time and read a colour, a curve or a segment at a time ([[vermilion.fixed.WideWriteRam]]), so
  * nothing chooses among colours. The drop curve's thresholds meet the average first, then those of the curve that holds: the drop curve's again, or
  * the mark curve's in their place. One multiplier gives inv r of the four segments, one behind the other; another one (a - th) square2 and then
  * (a - th) (inv r), and one shifter z and then y.
  * {{{
  *   -5..-2  addresses of the inverses     0  the drop curve's end: which curve    3, 4  products    6  products (slope + z) y
  *   -3..0   inv r; in a RAM from -1 to 2  1  its segment, a - th                  4, 5  shift: z,   7  sums with base r
  *   -2, -1  addresses of the thresholds   2, 3  products with square2, inv r            y; 5 slope + z      8  sum
  * }}}
  * Timing, in clocks behind the average's: `request` in [[CurveInTurn.Request]]; `ratio` stands from -[[CurveUnit.Early]] to 4, `average` and `canMark`
  * from 0 to 1. `forced` stands from 2 to 9, `probability` from [[CurveInTurn.Latency]] for 8 clocks. A commit lies 8 clocks or more from
  * requests before it and behind it if it comes in one of the clocks -5 to 2 of the slot that it has for itself.
  */
class CurveInTurn(p: LaneParams) extends QueueCurves(p) {
  import CurveInTurn._
  private val one = BigInt(1) << ProbFrac
  private val phases = Seq.iterate(io.request.valid, Latency - Request)(RegNext(_, false.B))
  assert(!io.request.valid || !VecInit(phases.slice(1, 8)).asUInt.orR, "a request within eight clocks of another")

  /** So many clocks behind the average's. */
  private def phase(clock: Int): Bool = phases(clock - Request)
  private val held = RegEnable(Cat(io.request.bits.queue, io.request.bits.colour), io.request.valid)
  private val place = Mux(phase(Request), io.request.bits.asUInt, held)

  /** Records of the three colours' curves, `of` a curve and at what colour, chosen from RAM by `address`. */
  private def table[T <: Data](each: Int, address: UInt)(of: (ColourConfig, CurveConfig) => Seq[T]): T =
    WideWriteRam(
      p.queues,
      4 * 2 * each,
      io.commit.valid,
      io.commit.bits.queue,
      io.commit.bits.colours.flatMap(colour => Seq(colour.drop, colour.ecn).flatMap(of(colour, _))),
      address
    )

  // -- clocks -5 to 1: inv r of the four segments --
  private val counted = Reg(UInt(2.W))
  private val next = Mux(phase(Request), 0.U, counted)
  private val after = wrap(next +& 1.U, 2)
  counted := after
  private val inverse = Delay(table(2, Cat(place, next))((_, curve) => curve.inverses))
  private val (low, high) = (io.ratio(LowDigit - 1, 0), io.ratio(RatioBits - 1, LowDigit))
  private val lowProduct = Delay(inverse.mant * low)
  private val highProduct = Delay(inverse.mant * high)
  private val scaled = Wire(new Factor)
  scaled.mant := Cat(wrap((lowProduct >> LowDigit) +& highProduct, FactorBits - LowDigit), lowProduct(LowDigit - 1, 0))
  scaled.shift := Delay(inverse.shift)
  private val factors = Mem(4, new Factor)
  factors.write(after, scaled) // three clocks behind its address: the next one of the four in turn

  // -- clocks 0 and 1: where is the average? --
  private val byMark = Wire(Bool())
  private val read = table(1, Cat(place, phase(-1))) { (colour, curve) =>
    val record = Wire(new Thresholds)
    record.ecnOwn := colour.ecnOwn
    record.on := curve.shape.on
    record.minTh := curve.shape.minTh
    record.maxTh := curve.shape.maxTh
    record.endTh := curve.shape.endTh
    record.base2 := curve.shape.base2
    record.square2 := curve.shape.square2
    Seq(record)
  }
  private val curve = RegEnable(read, phase(-1) || (phase(0) && byMark))
  private val whole = (io.average >> AvgFrac).asUInt
  private val (first, second, end) = (whole -& curve.minTh, whole -& curve.maxTh, whole -& curve.endTh)
  private def reached(distance: UInt): Bool = !distance(LenBits)
  private val below = !curve.on || !reached(first)
  private val over = !below && reached(end)
  byMark := io.canMark && curve.ecnOwn && !over
  private val s1ByMark = RegEnable(byMark, phase(0))
  io.forced := RegEnable(RegEnable(over, phase(0)), phase(1))

  private val s2Below = RegEnable(below, phase(1))
  private val s2Over = RegEnable(over, phase(1))
  private val s2Second = RegEnable(reached(second), phase(1))
  private val s2Distance = RegEnable(
    Cat(Mux(reached(second), second, first)(LenBits - 1, 0), io.average(AvgFrac - 1, 0)),
    phase(1)
  )

  // -- clocks 2 to 5: (a - th) square2, then (a - th) (inv r) --
  private val square = Wire(new Factor)
  square.mant := curve.square2.mant << RatioFrac // the shift below takes it away again
  square.shift := curve.square2.shift
  private val factor = Delay(Mux(phase(1), square, factors.read(Cat(s1ByMark, s2Second))))
  private val product = Delay(distanceTimes(s2Distance, factor.mant)) >> RatioFrac
  private val (kept, lost) = ShiftDown.capped(product, Delay(factor.shift, 2), WayBits)
  private val shifted = Delay(Mux(lost, ((BigInt(1) << WayBits) - 1).U, kept))
  private val shiftedOver = Delay(lost)

  // -- clock 5: slope + z --
  private val slope = RegEnable(
    table(2, Cat(held, s1ByMark, s2Second))((_, curve) => Seq(curve.shape.slope1, curve.shape.slope2)),
    phase(3)
  )
  private val risen = slope +& Mux(s2Second, shifted, 0.U)
  private val steep = (s2Second && shiftedOver) || (risen >> ProbFrac).orR
  private val s6Slope = Delay(Cat(steep, Mux(steep, 0.U, risen(ProbFrac - 1, 0))))

  // -- clocks 3 to 7: base r --
  private val base = Delay(Mux(s2Second, curve.base2, 0.U))
  private val lowBase = Delay(base(LowDigit - 1, 0) * io.ratio)
  private val highBase = Delay(base(ProbBits - 1, LowDigit) * io.ratio)
  private val s7Base =
    Delay(Delay(Cat((lowBase >> LowDigit) +& highBase, lowBase(LowDigit - 1, 0)) >> RatioFrac))

  // -- clocks 6 to 9: p --
  private val (s7Outer, s7Inner) = {
    val (t0, t1) = (s6Slope(LowDigit - 1, 0), s6Slope(ProbBits - 1, LowDigit))
    val (y0, y1) = (shifted(HighDigit - 1, 0), shifted(WayBits - 1, HighDigit))
    (Cat(Delay(t1 * y1), Delay(t0 * y0)), (Delay(t1 * y0), Delay(t0 * y1)))
  }
  private val s8Outer = Delay(Cat((s7Outer >> PosFrac) +& s7Base, s7Outer(PosFrac - 1, LowDigit)))
  private val s8Inner =
    Delay(Cat((s7Inner._1 >> (HighDigit - LowDigit)) +& s7Inner._2, s7Inner._1(HighDigit - LowDigit - 1, 0)))
  private val sum = (s8Outer +& s8Inner) >> (PosFrac - LowDigit)
  private val certain = s2Over || (sum >> ProbFrac).orR
  private val fraction = Mux(s2Below || certain, 0.U, sum(ProbFrac - 1, 0))
  io.probability := RegEnable(Cat(!s2Below && certain, fraction), phase(Latency - 1))
}

object CurveInTurn {

  /** Clocks from the average to the request; and to the probability. */
  val Request = -5
  val Latency = 9

  /** Unsigned digits that one signed multiplier of 27 by 18 bits takes. */
  private val HighDigit = 26
  private val LowDigit = 17
  private val FactorBits = InvMantBits + RatioBits

  private class Factor extends Bundle {
    val mant = UInt(FactorBits.W)
    val shift = UInt(ShiftBits.W)
  }

  private class Thresholds extends Bundle {
    val ecnOwn = Bool()
    val on = Bool()
    val minTh = UInt(LenBits.W)
    val maxTh = UInt(LenBits.W)
    val endTh = UInt(LenBits.W)
    val base2 = UInt(ProbBits.W)
    val square2 = new Scaled(InvMantBits, ShiftBits)
  }

  /** A distance times a factor, from digits whose products stand side by side, two in each of three sums. A clock of a multiplier is behind its
    * operands.
    */
  private def distanceTimes(distance: UInt, factor: UInt): UInt = {
    val (d0, d1) = (distance(HighDigit - 1, 0), distance(AvgBits - 1, HighDigit))
    val (f0, f1, f2) =
      (factor(LowDigit - 1, 0), factor(2 * LowDigit - 1, LowDigit), factor(FactorBits - 1, 2 * LowDigit))
    def at(place: Int, of: UInt): UInt = Cat(of, 0.U(place.W))
    val outer = Cat(Delay(d1 * f1), Delay(d0 * f0)) // from 0 and 43
    val middle = Cat(Delay(d1 * f2), Delay(d0 * f1)) // from 17 and 60
    val (inner, top) = (Delay(d1 * f0), Delay(d0 * f2)) // from 26; from 34
    val sides = Cat((outer >> LowDigit) + middle, outer(LowDigit - 1, 0))
    val inside = Cat((inner >> (2 * LowDigit - HighDigit)) +& top, inner(2 * LowDigit - HighDigit - 1, 0))
    wrap(sides + at(HighDigit, inside), AvgBits + FactorBits)
  }
}
