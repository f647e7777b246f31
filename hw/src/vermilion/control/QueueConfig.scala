package vermilion.control

import chisel3._
import vermilion.decide.PoolLimit
import vermilion.departure.PieSettings
import vermilion.fixed.Formats._
import vermilion.flow.FlowConfig
import vermilion.stream.Colour

/** A number m 2^-s as the host programs it. */
class Scaled(mantBits: Int, shiftBits: Int) extends Bundle {
  val mant = UInt(mantBits.W)
  val shift = UInt(shiftBits.W)
}

/** Thresholds and coefficients of a drop or mark curve, `docs/architecture.md`, "Curve record". Widths as in [[vermilion.fixed.Formats]]. */
class CurveShape extends Bundle {
  val on = Bool()
  val min = UInt(LenBits.W) // bytes, or packets if `unit` is set; `max` and `end` too
  val max = UInt(LenBits.W)
  val end = UInt(LenBits.W)
  val slope1 = UInt(ProbBits.W)
  val base2 = UInt(ProbBits.W)
  val slope2 = UInt(ProbBits.W)
  val square2 = new Scaled(InvMantBits, ShiftBits)
}

/** The reciprocals of the widths of a curve's two segments. */
object CurveInverses {
  def apply(): Vec[Scaled] = Vec(2, new Scaled(InvMantBits, ShiftBits))
}

/** One drop or mark curve. */
class CurveConfig extends Bundle {
  val shape = new CurveShape
  val inverses = CurveInverses()
}

/** The curves of one colour: for drops, and for marks if these have their own thresholds. */
class ColourConfig extends Bundle {
  val drop = new CurveConfig
  val ecnOwn = Bool()
  val late = Bool() // in builds with `codel`: packets that can be marked are, as they leave
  val ecn = new CurveConfig
}

/** Spacing of early drops, `docs/architecture.md`. */
object Spacing {
  val Geometric = 0
  val Uniform = 1
  val Wait = 2
}

/** The settings of a queue's averages. */
class AverageConfig extends Bundle {
  val unit = Bool() // 1: averages count packets, 0: bytes
  val update = Bool() // departures also update averages
  val masks = Vec(Colour.Count, UInt(Colour.Count.W))
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
  val lambda = new Scaled(LambdaMantBits, ShiftBits)
  val idleStep = UInt(IdleStepBits.W)
}

/** Whether a packet's size weights its probability, and the reciprocal of the mean size. */
class SizeConfig extends Bundle {
  val weight = Bool()
  val invMeanLen = new Scaled(SizeMantBits, ShiftBits)
}

/** The DSCP with which packets of a colour leave. */
class Remark extends Bundle {
  val on = Bool()
  val dscp = UInt(6.W)
}

/** The settings for the verdicts of a queue, besides the curves. */
class DecideConfig extends Bundle {
  val ecn = Bool()
  val spacing = UInt(2.W)
  val limit = UInt(LenBits.W) // bytes
  val limitPackets = UInt(LenBits.W)
  val alpha = UInt(PoolLimit.AlphaBits.W) // of the dynamic threshold in the pool, [[vermilion.decide.PoolLimit]]
  val remark = Vec(Colour.Count, new Remark)
  val ttlOption = Bool() // the TTL option becomes padding at the egress
  val victim =
    Bool() // early drops, early marks and drops over the end of the curve select the nearest packet of the queue
  val victimByColour = Bool() // only packets of the arriving packet's colour or a worse one
  val victimWindow = UInt(
    5.W
  ) // if not 0: instead, a drop at the limit selects the nearest of this many last packets of the queue, at most 16

  /** Number of last packets that a push-out may select. 0: all packets, or none if the queue has no push-outs. */
  def lastMayLose: UInt = Mux(victim, victimWindow, 0.U)
}

/** The sources of a packet's distance ([[vermilion.victim.Distance]]). */
class DistanceConfig extends Bundle {
  val option = Bool() // the initial TTL of the TTL option
  val infer = Bool() // without it: the smallest of the usual initial TTLs that is not below the packet's TTL
  val share = Bool() // the covered share of the path instead of the hops
}

/** The settings of a queue's marker. The kind defines which fields are used ([[vermilion.mark.TokenMarker]]). */
class MarkConfig extends Bundle {
  val kind = UInt(MarkerKind.Bits.W)
  val colourAware = Bool()
  val length = Bool() // 1: a packet's length is that of its IP packet, 0: of its frame
  val packet = UInt(PktLenBits.W) // length that every packet counts with; 0: its own length
  val cost = Vec(2, new Scaled(CostMantBits, ShiftBits)) // of buckets A and B: ns a byte
  val burst = Vec(2, UInt(BurstBits.W)) // ns; srTCM's B: CBS + EBS
  val out = UInt(2.W) // leaf, out of profile
  val lowThreshold = UInt(BurstBits.W) // REDP's T_L and T_H as time, ns
  val highThreshold = UInt(BurstBits.W)
  val demote = new Scaled(CostMantBits, ShiftBits) // REDP: T_L / MAX_demo and (b - T_H) / MAX_promo
  val promote = new Scaled(CostMantBits, ShiftBits)
  val pDrop = UInt((MarkDrawBits + 1).W) // REDP's P_drop, U1.16
  val meter = UInt(BurstBits.W) // REDP, ns: time for which a yellow packet disables the dropper
  val drop = UInt(Colour.Count.W) // packets that leave the marker with these colours are dropped
  val flow = new FlowConfig // kind 5
}

/** The settings of one queue for the policy pipeline. A commit replaces all of them between two packets.
  *
  * Fields have the names of the profile, `hw/regs/profile.yaml`, which gives their ranges.
  */
class PolicyConfig extends Bundle {
  val mark = new MarkConfig
  val distance = new DistanceConfig
  val average = new AverageConfig
  val size = new SizeConfig
  val decide = new DecideConfig
  val colours = Vec(Colour.Count, new ColourConfig)
  val pie = new PieSettings // in builds with `pie`
  val l4sMask = UInt(
    2.W
  ) // in builds with `dualpi2`: packets whose ECN field has one of these bits go to the queue with the next number
}
