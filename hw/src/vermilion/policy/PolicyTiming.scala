package vermilion.policy

import vermilion.average.{AverageUnit, QueueStateLookup}
import vermilion.curve.{CurveUnit, QueueCurves}
import vermilion.decide.{QueueLimit, SizeRatio}
import vermilion.departure.PieUnit
import vermilion.flow.FlowMarker
import vermilion.mark.TokenMarker
import vermilion.victim.VictimQueues

/** Defines the timing of [[PolicyPipeline]]. Stages are counted from stage 0, in which a packet's colour is known. */
object PolicyTiming {

  /** Cycles from the slot to stage 0: one to read the marker's kind, then those of the flow marker. */
  val mark: Int = 1 + FlowMarker.Latency

  /** The stages in which the results of the bucket marker and of the flow marker are valid. */
  val bucketDone: Int = TokenMarker.Latency - mark
  val flowDone: Int = 0

  /** The stage of the queue state lookup, and that in which all of its backlog is visible. The averages update what the lookup reads in stage 1. */
  val lookupAt: Int = 1 - QueueStateLookup.Latency
  val backlogSeen: Int = lookupAt + 2
  require(mark + lookupAt > 0, "the queue would be looked up in the slot's own cycle, or before it")

  /** The stages in which weights and masks are read (the averages' request follows one cycle later), and in which the averages get queue and colour. */
  val stepRead: Int = 0
  val averageQueue: Int = stepRead
  val averageColour: Int = AverageUnit.Latency - 1

  /** The stage in which the averages are valid. The average of the packet's colour is then the input of its curves. */
  val averageDone: Int = AverageUnit.Latency

  /** The stages in which configuration is read: for the curves, for the size ratio and for the verdict. */
  val curveRequest: Int = averageDone + QueueCurves.Request
  val ratioRead: Int = averageDone - 1 - CurveUnit.Early - SizeRatio.Latency
  val decideRead: Int = averageDone - 1

  /** The stage in which it is known whether the average is over the end of its curve. */
  val forced: Int = averageDone + QueueCurves.Forced

  /** The stage of the verdict's one-cycle loop, in which the probability is valid. */
  val decide: Int = averageDone + QueueCurves.Latency

  /** The stage in which PIE is requested; its result comes with the verdict. */
  val pie: Int = decide - PieUnit.Latency

  /** The stage in which the limit of a queue is requested. */
  val limitAhead: Int = decide - QueueLimit.Ahead

  /** The last stage: the verdict is at the port. */
  val latency: Int = decide + 1

  /** The stage in which the search for a victim begins, in builds with the victim search. */
  val seek: Int = latency - VictimQueues.Ahead
}
