package vermilion.average

import chisel3._
import vermilion.control.Scaled
import vermilion.fixed.{Delay, ShiftDown}
import vermilion.fixed.Formats._

/** The values that an ageing starts from, in addition to its idle time. */
class AgeSteps extends Bundle {
  val residue = UInt(IdleStepBits.W) // remainder of the last ageing, in the bits of `kept`
  val kept = UInt(IdleStepBits.W) // AgeSteps.kept of lambda.shift
  val step = UInt(IdleStepBits.W) // the step of one packet
  val steps = UInt(3.W) // the number of packets' steps, 0 to 6
}

object AgeSteps {

  /** A mask with a one for each bit below `shift`. */
  def kept(shift: UInt): UInt = VecInit((0 until IdleStepBits).map(i => shift > i.U)).asUInt
}

/** Computes how far an average decays at an empty queue: (1-w)^(t/s + steps) = 2^-x.
  *
  * Source: Floyd and Jacobson 1993, section 4; docs/decisions/0016.
  * {{{
  *   P = t m + residue + steps step,   in 2^-(10 + shift) halvings
  *   x = P >> shift, U6.10, saturating;   residue of the next ageing: the bits of P below that
  *   factor 2^-halvings = rom(fraction of x) 2^-(whole of x),   rom(i) = round(2^17 2^(-i/1024))
  * }}}
  * So the sum of all x is that of all P: many short idle times lose nothing. At saturation (x over 63.999) a U27.16 average is 0.
  *
  * Latency: [[IdleAge.Latency]] cycles, one result per cycle. `product` is valid earlier, after [[IdleAge.Product]] cycles.
  */
class IdleAge extends Module {
  val io = IO(new Bundle {
    val idleNs = Input(UInt(TimeBits.W))
    val lambda = Input(new Scaled(LambdaMantBits, ShiftBits))
    val from = Input(new AgeSteps)
    val factor = Output(UInt(18.W)) // U1.17
    val halvings = Output(UInt(6.W))
    val product = Output(UInt(IdleStepBits.W)) // P's low bits: the residue of the next ageing
  })
  private val s1Time = Delay(io.idleNs)
  private val s1Lambda = Delay(io.lambda)
  private val s1Residue = Delay(io.from.residue)
  private val s1Kept = Delay(io.from.kept)
  private val s1Steps = Delay(io.from.step * io.from.steps)
  private val s2Product = Delay(s1Time * s1Lambda.mant)
  private val s2Shift = Delay(s1Lambda.shift)
  private val s2Added = Delay(s1Steps +& (s1Residue & s1Kept))
  private val s3Product = Delay(s2Product +& s2Added)
  private val s3Shift = Delay(s2Shift)
  private val s3Mask = Delay(ShiftDown.mask(s2Shift, TimeBits + LambdaMantBits + 1, IdleBits))
  private val s4Exponent = Delay(ShiftDown.saturated(s3Product, s3Shift, s3Mask, IdleBits))
  private val rom = VecInit(IdleAge.rom.map(_.U(18.W)))
  io.factor := Delay(rom(s4Exponent(IdleFrac - 1, 0)))
  io.halvings := Delay(s4Exponent(IdleBits - 1, IdleFrac))
  io.product := s3Product(IdleStepBits - 1, 0)
}

object IdleAge {
  val Latency = 5
  val Product = 3

  /** round(2^17 2^(-i/1024)), i = 0..1023. No entry is near enough to a half for a double to round it wrongly. */
  val rom: Seq[Int] = Seq.tabulate(1024)(i => math.round(131072.0 * math.pow(2.0, -i / 1024.0)).toInt)
}
