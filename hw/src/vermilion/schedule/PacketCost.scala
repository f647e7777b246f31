package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._

/** A packet's length and a rate in the format of [[DueTime]]. */
class CostRequest extends Bundle {
  val lenBytes = UInt(PktLenBits.W)
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
}

/** The cost of a packet, one cycle after the request; `cost` is U34.16 ns. */
class CostAnswer extends Bundle {
  val cost = UInt(DueTime.CostBits.W)
  val magnitude = new CostMagnitude
}

/** Computes the cost of a packet by a multiplier and a shifter, one per cycle. The answer is held while `enable` is low. */
class PacketCost extends Module {
  val io = IO(new Bundle {
    val enable = Input(Bool())
    val request = Input(new CostRequest)
    val answer = Output(new CostAnswer)
  })

  private val product = RegEnable(io.request.lenBytes * io.request.costMant, io.enable)
  private val shift = RegEnable(io.request.costShift, io.enable)
  io.answer.cost := ((product << ShaperFrac) >> shift).asUInt(DueTime.CostBits - 1, 0)
  io.answer.magnitude := CostMagnitude(product)
}
