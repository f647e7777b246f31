package vermilion.control

import chisel3._
import vermilion.decide.PoolLimit
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
  val min = UInt(LenBits.W) // bytes, or packets where `unit` is set, as `max` and `end`
  val max = UInt(LenBits.W)
  val end = UInt(LenBits.W)
  val slope1 = UInt(ProbBits.W)
  val base2 = UInt(ProbBits.W)
  val slope2 = UInt(ProbBits.W)
  val square2 = new Scaled(InvMantBits, ShiftBits)
}

/** One over the width of each of a curve's two segments. */
object CurveInverses {
  def apply(): Vec[Scaled] = Vec(2, new Scaled(InvMantBits, ShiftBits))
}

/** One drop or mark curve. */
class CurveConfig extends Bundle {
  val shape = new CurveShape
  val inverses = CurveInverses()
}

/** The curves of one colour: for drops, and for marks where these have thresholds of their own. */
class ColourConfig extends Bundle {
  val drop = new CurveConfig
  val ecnOwn = Bool()
  val ecn = new CurveConfig
}

/** Spacing of early drops, `docs/architecture.md`. */
object Spacing {
  val Geometric = 0
  val Uniform = 1
  val Wait = 2
}

/** What the averages of a queue need. */
class AverageConfig extends Bundle {
  val unit = Bool() // averages count packets, else bytes
  val update = Bool() // averages step on departures, too
  val masks = Vec(Colour.Count, UInt(Colour.Count.W))
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
  val lambda = new Scaled(LambdaMantBits, ShiftBits)
  val idleStep = UInt(IdleStepBits.W)
}

/** Does a packet's size weight its probability, and one over the mean size. */
class SizeConfig extends Bundle {
  val weight = Bool()
  val invMeanLen = new Scaled(SizeMantBits, ShiftBits)
}

/** The DSCP that a colour leaves with. */
class Remark extends Bundle {
  val on = Bool()
  val dscp = UInt(6.W)
}

/** What the verdict of a queue needs beside the curves. */
class DecideConfig extends Bundle {
  val ecn = Bool()
  val spacing = UInt(2.W)
  val limit = UInt(LenBits.W) // bytes
  val limitPackets = UInt(LenBits.W)
  val alpha = UInt(PoolLimit.AlphaBits.W) // of the dynamic threshold in the pool, [[vermilion.decide.PoolLimit]]
  val remark = Vec(Colour.Count, new Remark)
  val ttlOption = Bool() // the TTL option becomes padding at the egress
  val victim =
    Bool() // what is dropped or marked early, or dropped over the curve's end, is the nearest packet of the queue
  val victimByColour = Bool() // but only of the arriving packet's colour or a worse one
  val victimWindow = UInt(
    5.W
  ) // not 0: instead, what is dropped at the limit is the nearest of so many of the last packets, at most 16

  /** So many of the last packets may lose a push-out; 0: all, or none where the queue holds no push-outs. */
  def lastMayLose: UInt = Mux(victim, victimWindow, 0.U)
}

/** What a packet's distance is taken from ([[vermilion.victim.Distance]]). */
class DistanceConfig extends Bundle {
  val option = Bool() // the initial TTL of the TTL option
  val infer = Bool() // where there is none: the least usual initial TTL not below the packet's
  val share = Bool() // the share of the path that is covered, not the hops
}

/** A queue's marker; which fields count depends on the kind ([[vermilion.mark.TokenMarker]]). */
class MarkConfig extends Bundle {
  val kind = UInt(MarkerKind.Bits.W)
  val colourAware = Bool()
  val length = Bool() // a packet's length is that of its IP packet, else of its frame
  val packet = UInt(PktLenBits.W) // what every packet counts as; 0: its own length
  val cost = Vec(2, new Scaled(CostMantBits, ShiftBits)) // of buckets A and B: ns a byte
  val burst = Vec(2, UInt(BurstBits.W)) // ns; srTCM's B: CBS + EBS
  val out = UInt(2.W) // leaf, out of profile
  val lowThreshold = UInt(BurstBits.W) // REDP's T_L and T_H as time, ns
  val highThreshold = UInt(BurstBits.W)
  val demote = new Scaled(CostMantBits, ShiftBits) // REDP: T_L / MAX_demo and (b - T_H) / MAX_promo
  val promote = new Scaled(CostMantBits, ShiftBits)
  val pDrop = UInt((MarkDrawBits + 1).W) // REDP's P_drop, U1.16
  val meter = UInt(BurstBits.W) // REDP, ns: how long a yellow packet keeps the dropper off
  val drop = UInt(Colour.Count.W) // packets that leave with these colours are dropped
  val flow = new FlowConfig // kind 5
}

/** All that the policy pipeline must know of one queue; committed as a whole between two packets. Fields have the names of the profile,
  * `hw/regs/profile.yaml`, which gives their ranges.
  */
class PolicyConfig extends Bundle {
  val mark = new MarkConfig
  val distance = new DistanceConfig
  val average = new AverageConfig
  val size = new SizeConfig
  val decide = new DecideConfig
  val colours = Vec(Colour.Count, new ColourConfig)
}
