package vermilion.curve

import chisel3._
import chisel3.util._
import vermilion.control.CurveConfig
import vermilion.fixed.Arithmetic.saturateAt
import vermilion.fixed.Delay
import vermilion.fixed.Formats._

/** A drop or mark curve: none, RED, gentle RED (P3) or ExRED's second-order polynomial (P4), by coefficients alone.
  *
  * {{{
  *   a < minTh:           p = 0
  *   minTh <= a < maxTh:  p = slope1 y,                          y = (a - minTh) inv1
  *   maxTh <= a < endTh:  p = base2 + y (slope2 + square2 y),    y = (a - maxTh) inv2
  *   a >= endTh:          p = 1, and overEnd
  * }}}
  * y is U1.24, p is U1.32 with 1.0 exact; every product is truncated and every sum saturates at 1.0, so a steep slope can
  * not wrap into a small probability. No division: the host programs reciprocals. Latency [[CurveUnit.Latency]] clocks.
  */
class CurveUnit extends Module {
  val io = IO(new Bundle {
    val average = Input(UInt(AvgBits.W))
    val curve = Input(new CurveConfig)
    val probability = Output(UInt(ProbBits.W))
    val overEnd = Output(Bool())
  })
  private val one = BigInt(1) << ProbFrac
  private val c = io.curve
  private def fixed(threshold: UInt): UInt = Cat(threshold, 0.U(AvgFrac.W))

  // -- stage 0: segment --
  private val below = !c.on || io.average < fixed(c.minTh)
  private val second = io.average >= fixed(c.maxTh)
  private val over = c.on && !below && io.average >= fixed(c.endTh)
  private val s1Distance = Delay(Mux(second, io.average - fixed(c.maxTh), io.average - fixed(c.minTh)))
  private val s1Inverse = Delay(Mux(second, c.inv2, c.inv1))
  private val s1Base = Delay(Mux(second, c.base2, 0.U))
  private val s1Slope = Delay(Mux(second, c.slope2, c.slope1))
  private val s1Square = Delay(Mux(second, c.square2, 0.U))

  // -- stages 1 to 4: y --
  private val s3Product = Delay(Delay(s1Distance * s1Inverse.mant))
  private val s4Shifted = Delay(s3Product >> Delay(s1Inverse.shift, 2))
  private val s5Position = Delay(saturateAt(s4Shifted, BigInt(1) << PosFrac, PosBits))

  // -- stages 5 to 7: t = slope + square y --
  private val s7Square = Delay(Delay(s5Position * Delay(s1Square, 4)))
  private val s8Slope = Delay(saturateAt(Delay(s1Slope, 6) +& (s7Square >> PosFrac), one, ProbBits))

  // -- stages 8 to 10: p = base + t y --
  private val s10Rise = Delay(Delay(s8Slope * Delay(s5Position, 3)))
  private val s11Sum = Delay(saturateAt(Delay(s1Base, 9) +& (s10Rise >> PosFrac), one, ProbBits))

  private val atEnd = CurveUnit.Latency
  io.overEnd := Delay(over, atEnd)
  io.probability := Mux(
    Delay(below, atEnd),
    0.U,
    Mux(io.overEnd, one.U(ProbBits.W), s11Sum)
  )
}

object CurveUnit {
  val Latency = 11
}
