package vermilion.decide

import chisel3._
import chisel3.util.RegEnable
import vermilion.control.SizeConfig
import vermilion.fixed.{Delay, ShiftDown}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** The ports of a packet's size over the mean. */
abstract class SizeWeighing extends Module {
  val io = IO(new Bundle {
    val valid = Input(Bool()) // length and configuration are there; matters in turn alone
    val lenBytes = Input(UInt(PktLenBits.W))
    val config = Input(new SizeConfig)
    val ratio = Output(UInt(RatioBits.W))
  })
}

/** A packet's size over the mean size, by which its drop probability is weighted (Floyd and Jacobson 1993, section 4).
  *
  * r = (L m) >> s is U8.12, saturating; 1 where the queue does not weight. Latency [[SizeRatio.Latency]] clocks, one a clock.
  */
class SizeRatio extends SizeWeighing {
  private val inverse = io.config.invMeanLen
  private val s3Product = Delay(Delay(Delay(io.lenBytes) * Delay(inverse.mant)))
  private val s3Mask = Delay(ShiftDown.mask(Delay(inverse.shift, 2), PktLenBits + SizeMantBits, RatioBits))
  private val s3Ratio = ShiftDown.saturated(s3Product, Delay(inverse.shift, 3), s3Mask, RatioBits)
  io.ratio := Delay(Mux(Delay(io.config.on, 3), s3Ratio, (1 << RatioFrac).U))
}

/** The same, for packets that are 8 clocks apart or more: `ratio` stands until the next one's. Not to weight is to multiply 1 by 1. */
class SizeRatioInTurn extends SizeWeighing {
  private val valid = Seq.iterate(io.valid, SizeRatio.Latency)(RegNext(_, false.B))
  private def whereOn(x: UInt, otherwise: Int): UInt = RegEnable(Mux(io.config.on, x, otherwise.U), io.valid)
  private val lenBytes = whereOn(io.lenBytes, 1)
  private val mant = whereOn(io.config.invMeanLen.mant, 1 << RatioFrac)
  private val shift = whereOn(io.config.invMeanLen.shift, 0)
  private val (kept, lost) = ShiftDown.capped(Delay(Delay(lenBytes * mant)), shift, RatioBits)
  io.ratio := RegEnable(Mux(lost, ((1 << RatioBits) - 1).U, kept), valid.last)
}

object SizeRatio {
  val Latency = 4

  def apply(p: LaneParams): SizeWeighing = if (p.inTurn) new SizeRatioInTurn else new SizeRatio
}
