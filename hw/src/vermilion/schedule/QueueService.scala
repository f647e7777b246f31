package vermilion.schedule

import chisel3._
import vermilion.departure.{CodelSettings, DualPi2Settings, MarkSettings}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Service settings of a queue. They are written as a whole, one queue per cycle; in builds with `codel` no queue in two consecutive cycles. */
class QueueService(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val strict = Bool()
  val priority = UInt(4.W) // among strict queues, higher first; above 7 counts as 7
  val quantum = UInt(18.W) // bytes per DRR turn, for queues that are not strict; below 64 counts as 64
  val shaper = new ShaperConfig
  val codel = Option.when(p.codel)(new CodelSettings)
  val marks = Option.when(p.codel)(new MarkSettings)
  val dualPi2 = Option.when(p.dualpi2)(new DualPi2Settings)
  val flows = Option.when(p.fq)(Bool()) // of a group whose queues hold flows
}

/** The part of [[QueueService]] that the choice needs. */
class ServiceRecord(p: LaneParams) extends Bundle {
  val strict = Bool()
  val priority = UInt(3.W)
  val quantum = UInt(18.W)
  val shaped = Bool()
  val judged = Option.when(p.codel)(Bool()) // its packets get a verdict
  val flows = Option.when(p.fq)(Bool())
}

/** A packet that a verdict drops. */
class DroppedPacket(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val lenBytes = UInt(PktLenBits.W)
}
