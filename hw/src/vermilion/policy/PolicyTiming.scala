package vermilion.policy

import vermilion.average.{AverageUnit, QueueLook}
import vermilion.curve.CurveUnit
import vermilion.decide.SizeRatio
import vermilion.flow.FlowMarker
import vermilion.lane.LaneParams
import vermilion.mark.TokenMarker

/** Where a slot is in which clock: stages of [[PolicyPipeline]], numbered from that in which the packet comes to its queue with its colour.
  *
  * A decision every clock, or in turn (`LaneParams.slotClocks`): then what averages see of a queue and the flow's marker take two clocks more, the curve one.
  */
case class PolicyTiming(p: LaneParams) {

  /** Clocks from the slot to stage 0: a clock for the marker's kind, and the marker by flow. */
  val mark: Int = 1 + FlowMarker.Latency + (if (p.inTurn) 2 else 0)

  /** The stages in which the markers have answered. */
  val bucketDone: Int = TokenMarker.Latency - mark
  val flowDone: Int = 1 + FlowMarker.Latency - mark

  /** The stage in which the queue is looked up: what averages see of it stands ready in stage 1, beside their base. */
  val lookAt: Int = 1 - QueueLook.Latency
  require(mark + lookAt > 0, "the queue would be looked up in the slot's own clock, or before")

  /** The stage in which the colour's own average stands ready, and meets the curves; and that in which all do. */
  val averageDone: Int = AverageUnit.Latency
  val live: Int = averageDone + (if (p.inTurn) 2 else 0)

  /** The stages in which configuration is read for what weights a packet by its size, for its curves and for its verdict. */
  val inverseRead: Int = averageDone - 1 - CurveUnit.Early
  val ratioRead: Int = inverseRead - SizeRatio.Latency
  val shapeRead: Int = averageDone - 2
  val decideRead: Int = averageDone - 1

  /** The stage in which it is known whether the average is over the end of its curve. */
  val forced: Int = averageDone + 1

  /** The stage of the verdict's one-clock loop, in which the probability stands ready. */
  val decide: Int = averageDone + CurveUnit.Latency

  /** The last stage, that of the verdict at the port. */
  val latency: Int = decide + 1
}
