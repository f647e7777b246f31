package vermilion.curve

import chisel3._
import chisel3.util.Cat
import vermilion.control.{CurveInverses, CurveShape}
import vermilion.fixed.Arithmetic.saturateAt
import vermilion.fixed.{Delay, ShiftDown}
import vermilion.fixed.Formats._

/** Computes the drop or mark probability from an average, by the curve of the packet's colour.
  *
  * The coefficients alone select the curve: none, RED, gentle RED (P3) or ExRED's second-order polynomial (P4). The packet's size weights the probability.
  * {{{
  *   a < min:         p = 0
  *   min <= a < max:  p = slope1 y,                     y = (a - min) inv1 r
  *   max <= a < end:  p = base2 r + (slope2 + z) y,     y = (a - max) inv2 r,   z = (a - max) square2
  *   a >= end:        p = 1, and overEnd, for a packet of any size
  * }}}
  * r is the packet's size over the mean size, U8.12 ([[vermilion.decide.SizeRatio]]), or 1. y is U8.24, z and p are U1.32 with 1.0 exact.
  * Every product is truncated. Every sum saturates at 1.0, so a steep slope cannot wrap into a small probability.
  * There is no division: the host programs reciprocals. So only two multiplications are in series:
  * {{{
  *   -3..-1  inv r, of both segments of both curves    1..3  (a - th) square2, (a - th) (inv r)    5..7  (slope + z) y
  *    0      the segment, of both curves at once       4     shift: z, y; 2..5 base r              8     sum
  * }}}
  * A packet that can be marked uses the mark curve, if its colour has one and the average is not over the end of the drop curve.
  *
  * With `none` the probability is 0. `forced` is as without it.
  *
  * Timing: inverses and `ratio` in cycle t - [[CurveUnit.Early]]; `average`, `drop`, `mark`, `mayMark`, `none` in t; `forced` (the average is over the end
  * of the drop curve) in t + 1; `probability` in t + [[CurveUnit.Latency]]. Both outputs come from registers. One packet per cycle.
  *
  * @param hasNone there are packets with a probability of 0, whatever their average
  */
class CurveUnit(hasNone: Boolean = false) extends Module {
  import CurveUnit._
  val io = IO(new Bundle {
    val dropInverses = Input(CurveInverses())
    val markInverses = Input(CurveInverses())
    val ratio = Input(UInt(RatioBits.W))
    val average = Input(UInt(AvgBits.W))
    val drop = Input(new CurveShape)
    val mark = Input(new CurveShape)
    val mayMark = Input(Bool()) // the mark curve may be used
    val none = Option.when(hasNone)(Input(Bool())) // with `average`: the probability is 0
    val forced = Output(Bool())
    val probability = Output(UInt(ProbBits.W))
  })
  private val one = BigInt(1) << ProbFrac

  // -- cycles -3 to 0: inv r --
  private class Inverse extends Bundle {
    val mant = UInt((InvMantBits + RatioBits).W)
    val shift = UInt(ShiftBits.W)
  }
  private val ratio = Delay(io.ratio)
  private val s0Inverses = Seq(io.dropInverses, io.markInverses).map(_.map { inverse =>
    val scaled = Wire(new Inverse)
    scaled.mant := Delay(Delay(Delay(inverse.mant) * ratio))
    scaled.shift := Delay(inverse.shift, Early)
    scaled
  })

  // -- cycle 0: the average's segment of either curve --
  private class Segment extends Bundle {
    val below = Bool()
    val second = Bool()
    val over = Bool()
  }
  // Thresholds are integers, so the difference has the average's fraction.
  private def from(threshold: UInt): SInt =
    Cat(((io.average >> AvgFrac).zext - threshold.zext).asUInt, io.average(AvgFrac - 1, 0)).asSInt
  private def lookup(c: CurveShape): (Segment, UInt) = {
    val segment = Wire(new Segment)
    val (first, second) = (from(c.min), from(c.max))
    segment.below := !c.on || first < 0.S
    segment.second := second >= 0.S
    segment.over := !segment.below && from(c.end) >= 0.S
    (segment, Mux(segment.second, second.asUInt, first.asUInt)(AvgBits - 1, 0))
  }
  private val (drop, dropDistance) = lookup(io.drop)
  private val (mark, markDistance) = lookup(io.mark)
  private val byMark = io.mayMark && !drop.over
  private val s1ByMark = Delay(byMark)
  private val segment = WireInit(Mux(byMark, mark, drop))
  io.none.foreach(none => when(none) { segment.below := true.B })
  private val s1Segment = Delay(segment)
  private val s1Distance = Delay(Mux(byMark, markDistance, dropDistance))
  private val (inverseOfDrop, inverseOfMark) =
    (VecInit(s0Inverses(0))(drop.second), VecInit(s0Inverses(1))(mark.second))
  private val s1Inverse = Delay(Mux(byMark, inverseOfMark, inverseOfDrop))
  private val s1Square = Delay(Mux(byMark, io.mark.square2, io.drop.square2))
  io.forced := Delay(drop.over)

  // -- cycle 1: values that are not needed earlier --
  private val s1Drop = Delay(io.drop)
  private val s1Mark = Delay(io.mark)
  private def chosen(field: CurveShape => UInt): UInt = Mux(s1ByMark, field(s1Mark), field(s1Drop))
  private val s1Second = s1Segment.second
  private val s2Base = Delay(Mux(s1Second, chosen(_.base2), 0.U))
  private val s2Slope = Delay(Mux(s1Second, chosen(_.slope2), chosen(_.slope1)))

  private val s4Second = Delay(s1Second, 3)

  // -- cycles 1 to 5: z, y (operand, product and output registers; shift) --
  private val s3Rise = Delay(Delay(s1Distance * s1Square.mant))
  private val s3RiseMask = Delay(ShiftDown.mask(Delay(s1Square.shift), AvgBits + InvMantBits, ProbFrac))
  private val s3RiseOver = (s3Rise(AvgBits + InvMantBits - 1, ProbFrac) & s3RiseMask).orR
  private val s4Rise =
    Delay(Mux(s3RiseOver, one.U(ProbBits.W), ShiftDown(s3Rise, Delay(s1Square.shift, 2), ProbFrac).pad(ProbBits)))
  private val s3Way = Delay(Delay(s1Distance * s1Inverse.mant)) >> RatioFrac
  private val s3WayMask = Delay(ShiftDown.mask(Delay(s1Inverse.shift), s3Way.getWidth, WayBits))
  private val s4Way = Delay(ShiftDown.saturated(s3Way, Delay(s1Inverse.shift, 2), s3WayMask, WayBits))
  private val s4Square = Mux(s4Second, s4Rise, 0.U)
  private val s5Slope = Delay(saturateAt(Delay(s2Slope, 2) +& s4Square, one, ProbBits))
  private val s5Way = Delay(s4Way)

  // -- cycles 2 to 8: p --
  private val s4Base = Delay(Delay(s2Base * Delay(io.ratio, Early + 2)))
  private val s7Rise = Delay(Delay(s5Slope * s5Way)) >> PosFrac
  private val s7Segment = Delay(s1Segment, 6)
  private val within = saturateAt((Delay(s4Base, 3) >> RatioFrac) +& s7Rise, one, ProbBits)
  io.probability := Delay(Mux(s7Segment.below, 0.U, Mux(s7Segment.over, one.U(ProbBits.W), within)))
}

object CurveUnit {

  /** Cycles from inverses and ratio to average. */
  val Early = 3

  /** Cycles from average to probability. */
  val Latency = 8
}
