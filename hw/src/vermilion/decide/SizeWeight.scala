package vermilion.decide

import chisel3._
import chisel3.util._
import vermilion.control.Scaled
import vermilion.fixed.Arithmetic.{saturate, saturateAt}
import vermilion.fixed.Delay
import vermilion.fixed.Formats._

/** A drop probability in proportion to the packet's size: p' = p L / L_mean (Floyd and Jacobson 1993, section 4).
  *
  * r = (L m) >> s is U8.12, saturating; p' = (p r) >> 12, saturating at 1.0. With `enable` low p' = p.
  * `lenBytes` and `invMeanLen` are taken [[SizeWeight.Early]] clocks before `probability`; latency 3 clocks from there.
  */
class SizeWeight extends Module {
  val io = IO(new Bundle {
    val lenBytes = Input(UInt(PktLenBits.W))
    val invMeanLen = Input(new Scaled(SizeMantBits, ShiftBits))
    val enable = Input(Bool()) // with probability
    val probability = Input(UInt(ProbBits.W))
    val weighted = Output(UInt(ProbBits.W))
  })
  private val ratioProduct = Delay(io.lenBytes * io.invMeanLen.mant)
  private val ratio = Delay(saturate(ratioProduct >> Delay(io.invMeanLen.shift), RatioBits))
  private val factor = Mux(io.enable, ratio, (1 << RatioFrac).U)
  private val s1Probability = Delay(io.probability)
  private val s1Factor = Delay(factor)
  private val s2Product = Delay(s1Probability * s1Factor)
  io.weighted := Delay(saturateAt(s2Product >> RatioFrac, BigInt(1) << ProbFrac, ProbBits))
}

object SizeWeight {
  val Early = 2
  val Latency = 3
}
