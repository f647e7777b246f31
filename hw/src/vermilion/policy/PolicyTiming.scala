package vermilion.policy

import vermilion.average.{AverageUnit, QueueStateLookup}
import vermilion.curve.{CurveUnit, QueueCurves}
import vermilion.decide.{QueueLimit, SizeRatio}
import vermilion.flow.FlowMarker
import vermilion.mark.TokenMarker
import vermilion.victim.VictimQueues

/** Where a slot is in which clock: stages of [[PolicyPipeline]], numbered from that in which the packet comes to its queue with its colour. */
object PolicyTiming {

  /** Clocks from the slot to stage 0: a clock for the marker's kind, and the marker by flow. */
  val mark: Int = 1 + FlowMarker.Latency

  /** The stages in which the markers have answered. */
  val bucketDone: Int = TokenMarker.Latency - mark
  val flowDone: Int = 0

  /** The stage in which the queue is looked up, so that what an update changes is told in stage 1; and that in which all of its backlog is seen. */
  val lookupAt: Int = 1 - QueueStateLookup.Latency
  val backlogSeen: Int = lookupAt + 2
  require(mark + lookupAt > 0, "the queue would be looked up in the slot's own clock, or before")

  /** The stages in which weights and masks are read, with the averages' request a clock behind; of its queue; of its colour. */
  val stepRead: Int = 0
  val averageQueue: Int = stepRead
  val averageColour: Int = AverageUnit.Latency - 1

  /** The stage in which the averages stand ready, and the colour's own meets its curves. */
  val averageDone: Int = AverageUnit.Latency

  /** The stages in which configuration is read for what weights a packet by its size, for its curves and for its verdict. */
  val curveRequest: Int = averageDone + QueueCurves.Request
  val ratioRead: Int = averageDone - 1 - CurveUnit.Early - SizeRatio.Latency
  val decideRead: Int = averageDone - 1

  /** The stage in which it is known whether the average is over the end of its curve. */
  val forced: Int = averageDone + QueueCurves.Forced

  /** The stage of the verdict's one-clock loop, in which the probability stands ready. */
  val decide: Int = averageDone + QueueCurves.Latency

  /** The stage in which the limit is asked for a queue. */
  val limitAhead: Int = decide - QueueLimit.Ahead

  /** The last stage, that of the verdict at the port. */
  val latency: Int = decide + 1

  /** The stage in which the search for a victim begins, in builds with the victim search. */
  val seek: Int = latency - VictimQueues.Ahead
}
