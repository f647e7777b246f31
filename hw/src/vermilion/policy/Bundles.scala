package vermilion.policy

import chisel3._
import chisel3.util.Valid
import vermilion.average.Tally
import vermilion.classify.ClassEntry
import vermilion.control.{AverageConfig, DecideConfig, PolicyConfig, Scaled}
import vermilion.fixed.Formats._
import vermilion.flow.FlowState
import vermilion.lane.LaneParams
import vermilion.stream._
import vermilion.victim.{ArrivalRequest, Distance, Outcome, Sought, VictimParams}

/** Everything that a decision saw and gave, for the statistics and for the bit-exact replay. */
class Decision(p: LaneParams) extends Bundle {
  val refresh = Bool() // not a packet: averages refreshed at a departure
  val input = UInt(p.inputBits.W)
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
  val ecn = UInt(2.W)
  val bad = Bool()
  val noBuffer = Bool()
  val time = UInt(TimeBits.W)
  val backlog = Vec(Colour.Count, new Tally) // what the averages saw
  val lastDeparture = Vec(Colour.Count, UInt(TimeBits.W))
  val ahead = Vec(Colour.Count, UInt(3.W))
  val draw = UInt(32.W)
  val average = Vec(Colour.Count, UInt(AvgBits.W))
  val probability = UInt(ProbBits.W)
  val queued = new Tally // what the limit saw
  val poolFull = Bool() // the pool has no room for it
  val distance = UInt(Distance.Bits.W)
  val verdict = UInt(Verdict.Bits.W) // what became of the packet
  val mark = new MarkTrace
  // The verdict of the policy alone, before the push-out;
  val provisionalVerdict = UInt(
    Verdict.Bits.W
  ) // it differs from the verdict only where another packet is the victim
  val pushOut = Bool() // it or another packet of its queue had to be dropped
  val headCell = UInt(p.cellBits.W) // names the packet, as `outcome.victim.cell` does
  val outcome = new Outcome(VictimParams.of(p)) // means something where `pushOut` is set
}

/** Packets on their way into the queues, and what became of them `VictimQueues.Latency` clocks later. The search for
  * a victim begins `VictimQueues.Ahead` cycles before.
  */
class PushOutPorts(p: LaneParams) extends Bundle {
  val ahead = Valid(new Sought(VictimParams.of(p)))
  val arrival = Valid(new ArrivalRequest(p, VictimParams.of(p)))
  val outcome = Flipped(Valid(new Outcome(VictimParams.of(p))))
}

object PushOutPorts {

  /** What is asked ahead of a packet's verdict, if there is one in that stage. */
  def sought(p: LaneParams, slot: Valid[Token], isPacket: Bool, config: DecideConfig): Valid[Sought] = {
    val ahead = Wire(Valid(new Sought(VictimParams.of(p))))
    ahead.valid := isPacket
    ahead.bits.queue := slot.bits.entry.queue
    ahead.bits.lenBytes := slot.bits.descriptor.lenBytes
    ahead.bits.colour := slot.bits.entry.colour
    ahead.bits.distance := slot.bits.distance
    ahead.bits.byColour := config.victimByColour
    ahead.bits.last := config.lastMayLose
    ahead
  }
}

/** What a packet's marker saw and gave; `colour` of the decision is the one it gave. */
class MarkTrace extends Bundle {
  val time = UInt(TimeBits.W)
  val colour = UInt(2.W) // as it came
  val draw = UInt(32.W)
  val policed = Bool()
  val level = UInt((TimeBits + ShaperFrac).W) // of bucket A before the packet, U48.16 ns
  val hasFlow = Bool() // the packet's flow has state
  val flow = new FlowState // after the packet
}

/** A queue's configuration, to be taken as a whole. */
class PolicyCommit(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val config = new PolicyConfig
}

/** What a slot of the pipeline carries. */
object Slot extends ChiselEnum {
  val Packet, // a packet that wants a verdict
  Refresh, // a departure that refreshes averages
  HostRead, // the host reads a queue's averages, aged to this moment
  Commit // a queue's configuration: each stage takes its part when this passes
  = Value
}

/** One slot on its way through the pipeline. */
class Token(p: LaneParams) extends Bundle {
  val slot = Slot()
  val descriptor = new PacketDescriptor(p)
  val entry = new ClassEntry(p)
  val time = UInt(TimeBits.W)
  val draw = UInt(32.W)
  val mark = new MarkTrace
  val distance = UInt(Distance.Bits.W) // from stage 0 on
  def isPacket: Bool = slot === Slot.Packet

  /** A packet as it should be: it is marked. */
  def sound: Bool = isPacket && !descriptor.bad && !descriptor.noBuffer

  /** A packet that comes to its queue: averages count it. */
  def counted: Bool = sound && !mark.policed
  def isEct: Bool = (descriptor.headers.isIp4 || descriptor.headers.isIp6) && descriptor.headers.ecn =/= 0.U
}

/** What averages need beside what they see of their queue ([[vermilion.average.LookupConfig]]). */
class StepConfig extends Bundle {
  val update = Bool()
  val masks = Vec(Colour.Count, UInt(Colour.Count.W))
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
}

object StepConfig {
  def apply(c: AverageConfig): StepConfig = {
    val part = Wire(new StepConfig)
    part.update := c.update
    part.masks := c.masks
    part.weight := c.weight
    part
  }
}
