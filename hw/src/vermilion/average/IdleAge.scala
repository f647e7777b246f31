package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.control.Scaled
import vermilion.fixed.{Delay, ShiftDown}
import vermilion.fixed.Formats._

/** How far an average decays in an idle spell: (1-w)^(t/s) = 2^-(t lambda) (Floyd and Jacobson 1993, section 4).
  *
  * x = (t m) >> s, U6.10, saturating; the factor is `rom(fraction) 2^-integer` with rom(i) = round(2^17 2^(-i/1024)).
  * The fraction is truncated to 10 bits, so the factor is at most 0.07 % too large (2^(1/1024) - 1).
  * At saturation (x over 63.999) a U27.16 average is 0.
  *
  * Latency [[IdleAge.Latency]] clocks, one result a clock.
  *
  * @param inTurn a clock less, for lanes of 250 MHz: the shifted product addresses the table itself
  */
class IdleAge(inTurn: Boolean = false) extends Module {
  val io = IO(new Bundle {
    val idleNs = Input(UInt(TimeBits.W))
    val lambda = Input(new Scaled(LambdaMantBits, ShiftBits))
    val factor = Output(UInt(18.W)) // U1.17
    val halvings = Output(UInt(6.W))
  })
  private val s1Time = Delay(io.idleNs)
  private val s1Lambda = Delay(io.lambda)
  private val s2Product = Delay(s1Time * s1Lambda.mant)
  private val s2Shift = Delay(s1Lambda.shift)
  private val s3Product = Delay(s2Product)
  private val s3Shift = Delay(s2Shift)
  private val s4Exponent =
    if (inTurn) ShiftDown.saturatedAlone(s3Product, s3Shift, IdleBits)
    else {
      val s3Mask = Delay(ShiftDown.mask(s2Shift, TimeBits + LambdaMantBits, IdleBits))
      Delay(ShiftDown.saturated(s3Product, s3Shift, s3Mask, IdleBits))
    }
  private val rom = VecInit(IdleAge.rom.map(_.U(18.W)))
  io.factor := Delay(rom(s4Exponent(IdleFrac - 1, 0)))
  io.halvings := Delay(s4Exponent(IdleBits - 1, IdleFrac))
}

object IdleAge {
  val Latency = 5
  val LatencyInTurn: Int = Latency - 1

  /** round(2^17 2^(-i/1024)), i = 0..1023; no entry lies near enough to a half for a double to round it wrongly. */
  val rom: Seq[Int] = Seq.tabulate(1024)(i => math.round(131072.0 * math.pow(2.0, -i / 1024.0)).toInt)
}
