package vermilion.policy

import chisel3._
import chisel3.util.Valid
import vermilion.average.Tally
import vermilion.classify.{ClassEntry, FlowGroup, FlowTag}
import vermilion.control.{AverageConfig, DecideConfig, PolicyConfig, Scaled}
import vermilion.fixed.Formats._
import vermilion.departure.{Averaged, PieArrival, QueuePie}
import vermilion.flow.FlowState
import vermilion.lane.LaneParams
import vermilion.stream._
import vermilion.victim.{ArrivalRequest, Distance, Outcome, Sought, VictimParams}

/** Inputs and result of one decision, for the statistics and for the bit-exact replay. */
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
  val backlog = Vec(Colour.Count, new Tally) // the backlog that the averages use
  val lastDeparture = Vec(Colour.Count, UInt(TimeBits.W))
  val ahead = Vec(Colour.Count, UInt(3.W))
  val draw = UInt(32.W)
  val average = Vec(Colour.Count, UInt(AvgBits.W))
  val probability = UInt(ProbBits.W)
  val queued = new Tally // the queue's contents that the limit is compared with
  val poolFull = Bool() // the pool has no room for the packet
  val distance = UInt(Distance.Bits.W)
  val verdict = UInt(Verdict.Bits.W) // the final result for the packet
  val mark = new MarkTrace
  // The verdict of the policy alone, before the push-out. It differs from `verdict` only where another packet is the victim.
  val provisionalVerdict = UInt(
    Verdict.Bits.W
  )
  val pushOut = Bool() // this packet or another one of its queue must be dropped or marked
  val headCell = UInt(p.cellBits.W) // identifies the packet, like `outcome.victim.cell`
  val stored = Option.when(p.reports)(Bool()) // it has cells
  val outcome = new Outcome(VictimParams.of(p)) // defined only where `pushOut` is set
  val rule = Option.when(p.rules > 0)(Valid(UInt(p.ruleBits.W))) // the first that matches the packet
  val flow = Option.when(p.fq)(new FlowTag)
  val updated = Option.when(p.codel)(Vec(Colour.Count, Bool())) // the averages that it has changed

  /** The averages that it has changed, for verdicts at departure. */
  def averaged(valid: Bool): Valid[Averaged] = {
    val out = Wire(Valid(new Averaged(p)))
    out.valid := valid
    out.bits.queue := queue
    out.bits.updated := updated.get
    out.bits.average := average
    out
  }
}

/** Ports from the pipeline to queues with the victim search, and back.
  *
  * `outcome` tells the result of an arrival, `VictimQueues.Latency` cycles after it. `ahead` starts the search for a victim, `VictimQueues.Ahead` cycles before
  * the arrival.
  */
class PushOutPorts(p: LaneParams) extends Bundle {
  val ahead = Valid(new Sought(VictimParams.of(p)))
  val arrival = Valid(new ArrivalRequest(p, VictimParams.of(p)))
  val outcome = Flipped(Valid(new Outcome(VictimParams.of(p))))
}

object PushOutPorts {

  /** The search request for the packet in `slot`; valid if the slot holds a packet. */
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

/** Inputs and result of a packet's marker. The colour that the marker gives is in the decision's `colour`. */
class MarkTrace extends Bundle {
  val time = UInt(TimeBits.W)
  val colour = UInt(2.W) // before the marker
  val draw = UInt(32.W)
  val policed = Bool()
  val level = UInt((TimeBits + ShaperFrac).W) // of bucket A before the packet, U48.16 ns
  val hasFlow = Bool() // the packet's flow has state
  val flow = new FlowState // after the packet
}

/** A queue's configuration, committed as a whole. */
class PolicyCommit(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val config = new PolicyConfig
  val group = Option.when(p.fq)(new FlowGroup)

  /** The queue's part for PIE. */
  def forPie: QueuePie = {
    val out = Wire(new QueuePie(p))
    out.queue := queue
    out.settings := config.pie
    out
  }
}

/** The kinds of slots in the pipeline. */
object Slot extends ChiselEnum {
  val Packet, // a packet that needs a verdict
  Refresh, // a departure that refreshes averages
  HostRead, // the host reads a queue's averages, aged to the cycle of the read
  Commit // a queue's configuration: each stage takes its part when this slot passes
  = Value
}

/** The contents of one slot in the pipeline. */
class Token(p: LaneParams) extends Bundle {
  val slot = Slot()
  val descriptor = new PacketDescriptor(p)
  val entry = new ClassEntry(p)
  val time = UInt(TimeBits.W)
  val draw = UInt(32.W)
  val mark = new MarkTrace
  val distance = UInt(Distance.Bits.W) // from stage 0 on
  val marker = Option.when(p.rules > 0)(UInt(p.queueBits.W)) // the queue whose marker marks the packet
  def isPacket: Bool = slot === Slot.Packet

  /** A packet without a fault: not bad, and with cells. */
  def sound: Bool = isPacket && !descriptor.bad && !descriptor.noBuffer

  /** Upstream of its marker: a packet that is marked, which are those without a fault that no rule drops. */
  def isMarked: Bool = if (marker.isEmpty) sound else counted

  /** The queue whose marker marks the packet. */
  def markedBy: UInt = marker.getOrElse(entry.queue)

  /** A packet that averages count: without a fault and not policed. */
  def counted: Bool = sound && !mark.policed

  /** The packet's entry in its queue; what its verdict and its queue's settings change is 0. */
  def queueEntry: QueueEntry = {
    val d = WireInit(0.U.asTypeOf(new QueueEntry(p)))
    d.queue := entry.queue
    d.headCell := descriptor.headCell
    d.cells := descriptor.cells
    d.lenBytes := descriptor.lenBytes
    d.colour := entry.colour
    d.arrival := time
    d.isIp4 := descriptor.headers.isIp4
    d.isIp6 := descriptor.headers.isIp6
    d.l3Offset := descriptor.headers.l3Offset
    d.ttlOptionAt := descriptor.headers.ttlOptionAt
    d.dsField.foreach(_ := descriptor.headers.dscp ## descriptor.headers.ecn)
    d
  }

  /** Tells `decision` what only some builds show: whether the packet has cells, its flow, and its rule. */
  def tell(decision: Decision, flow: Option[FlowTag]): Unit = {
    decision.stored.foreach(_ := descriptor.cells =/= 0.U)
    for ((to, from) <- decision.flow.zip(flow)) to := from
    for ((to, from) <- decision.rule.zip(descriptor.rule)) {
      to.valid := from.hit
      to.bits := from.rule
    }
  }

  /** The packet's request of PIE, without its queue's backlog. */
  def forPie: PieArrival = {
    val arrival = WireInit(0.U.asTypeOf(new PieArrival(p)))
    arrival.queue := entry.queue
    arrival.lenBytes := descriptor.lenBytes
    arrival.ect := isEct
    arrival.draw := draw
    arrival
  }

  def isEct: Bool = (descriptor.headers.isIp4 || descriptor.headers.isIp6) && descriptor.headers.ecn =/= 0.U
}

/** The configuration that averages need in addition to [[vermilion.average.LookupConfig]]. */
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
