package vermilion.decide

import chisel3._
import vermilion.control.SizeConfig
import vermilion.fixed.{Delay, ShiftDown}
import vermilion.fixed.Formats._

/** Computes a packet's size over the mean size, which weights its drop probability (Floyd and Jacobson 1993, section 4).
  *
  * r = (L m) >> s is U8.12, saturating. It is 1 if the queue does not weight by size. Latency: [[SizeRatio.Latency]] cycles, one result per cycle.
  */
class SizeRatio extends Module {
  val io = IO(new Bundle {
    val lenBytes = Input(UInt(PktLenBits.W))
    val config = Input(new SizeConfig)
    val ratio = Output(UInt(RatioBits.W))
  })
  private val inverse = io.config.invMeanLen
  private val s3Product = Delay(Delay(Delay(io.lenBytes) * Delay(inverse.mant)))
  private val s3Mask = Delay(ShiftDown.mask(Delay(inverse.shift, 2), PktLenBits + SizeMantBits, RatioBits))
  private val s3Ratio = ShiftDown.saturated(s3Product, Delay(inverse.shift, 3), s3Mask, RatioBits)
  io.ratio := Delay(Mux(Delay(io.config.weight, 3), s3Ratio, (1 << RatioFrac).U))
}

object SizeRatio {
  val Latency = 4
}
