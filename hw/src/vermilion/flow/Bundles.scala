package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Formats.TimeBits
import vermilion.stream.{Colour, Headers}

/** Number formats of the per-flow markers; the model's are in `sim/model/flow_marker.h`. */
object FlowFormats {

  /** A_Y and A_0 in packets, U16.8. */
  val AverageFrac = 8
  val AverageBits = 16 + AverageFrac

  /** L_Y in packets, saturating. */
  val BurstBits = 17
  val CreditBits = 8

  /** alpha in eighths. */
  val AlphaBits = 4

  /** Ages are in ticks of 2^22 ns (4.19 ms). The 48-bit time holds 26 bits of ticks. */
  val TickShift = 22
  val TickBits = TimeBits - TickShift
  val AgeBits = 16

  /** An age within 2^15 ticks (137 s) of wrapping is a tick in the future, as after a clock is set back. */
  val FutureBits = 15
}

/** The rules that mark a queue's packets. */
object FlowKind {
  val None = 0 // NM: all yellow
  val ThreeColour = 1 // 3CPM
  val Web = 2 // WPM: only the green rules
  val Adaptive = 3 // APM: only the red rules
  val Bits = 2
}

/** The configuration of one queue's flow marker (`docs/flow-markers.md`). */
class FlowConfig extends Bundle {
  import FlowFormats._
  val kind = UInt(FlowKind.Bits.W)
  val alpha = UInt(AlphaBits.W) // alpha = n/8, n = 0..8; more counts as 8
  val a0 = UInt(AverageBits.W) // A_0
  val ns = UInt(CreditBits.W) // N_s
  val na = UInt(CreditBits.W) // N_a
  val increase = Bool() // A_Y / (1 - alpha), else 2 (A_Y + 1)
  val ack = Bool() // TCP packets without payload and without SYN: green, else yellow
  val idle = UInt(AgeBits.W) // ticks
  val halfOpen = UInt(AgeBits.W) // ticks

  def greenRules: Bool = kind === FlowKind.ThreeColour.U || kind === FlowKind.Web.U
  def redRules: Bool = kind === FlowKind.ThreeColour.U || kind === FlowKind.Adaptive.U
}

/** The fields that identify a flow. Each direction of a connection is a flow. The same direction in another queue or VLAN is another flow. */
class FlowKey(queueBits: Int) extends Bundle {
  val vlan = UInt(24.W) // Headers.vlan
  val isIp6 = Bool()
  val queue = UInt(queueBits.W)
  val dstPort = UInt(16.W)
  val srcPort = UInt(16.W)
  val dstAddr = UInt(128.W)
  val srcAddr = UInt(128.W)
}

/** A packet to mark. */
class FlowRequest(queueBits: Int) extends Bundle {
  val queue = UInt(queueBits.W)
  val time = UInt(TimeBits.W) // ns, not before the time of the previous request
  val headers = new Headers
  val config = new FlowConfig
}

/** The fields of a packet that the state of its flow depends on. */
class FlowPacket extends Bundle {
  val seq = UInt(32.W)
  val isTcp = Bool()
  val uses = Bool() // creates or uses state
  val syn = Bool()
  val config = new FlowConfig

  /** True for a packet that is green without state. */
  def bare: Bool = isTcp && !uses && config.greenRules && config.ack
}

object FlowPacket {
  def apply(request: FlowRequest): FlowPacket = {
    val packet = Wire(new FlowPacket)
    val h = request.headers
    packet.seq := h.tcpSeq
    packet.isTcp := h.isTcp
    packet.syn := h.tcpFlags(1)
    packet.uses := h.isTcp && !h.tcpFlags(2) && (h.tcpFlags(
      1
    ) || h.tcpPayload) && request.config.kind =/= FlowKind.None.U
    packet.config := request.config
    packet
  }
}

/** A lookup in the table, for a packet that creates or uses state. */
class FlowLookup(queueBits: Int) extends Bundle {
  val key = new FlowKey(queueBits)
  val syn = Bool()
  val tick = UInt(FlowFormats.TickBits.W)
  val idle = UInt(FlowFormats.AgeBits.W)
  val halfOpen = UInt(FlowFormats.AgeBits.W)
}

object FlowLookup {
  def apply(queueBits: Int, request: FlowRequest): FlowLookup = {
    val lookup = Wire(new FlowLookup(queueBits))
    val h = request.headers
    lookup.key.isIp6 := h.isIp6
    lookup.key.queue := request.queue
    lookup.key.vlan := h.vlan
    lookup.key.srcAddr := h.srcAddr
    lookup.key.dstAddr := h.dstAddr
    lookup.key.srcPort := h.srcPort
    lookup.key.dstPort := h.dstPort
    lookup.syn := h.tcpFlags(1)
    lookup.tick := request.time >> FlowFormats.TickShift
    lookup.idle := request.config.idle
    lookup.halfOpen := request.config.halfOpen
    lookup
  }
}

/** The table's entry of a flow. */
class FlowPlace(indexBits: Int) extends Bundle {
  // the flow has an entry: one with its tag, or one that the table has just allocated
  val found = Bool()
  // the table has allocated the entry with this packet; the state in it is not this flow's
  val fresh = Bool()
  val index = UInt(indexBits.W)
  // the flow had no entry, and other flows use all four ways of its set; or another flow has its tag
  val collision = Bool()
  // the entry's former state, of this or another flow, had aged out
  val agedOut = Bool()
  // a half-open entry that had not aged out was reallocated
  val displaced = Bool()
}

/** Events of one packet; each bit has a counter. */
class FlowEvents extends Bundle {
  val adopted = Bool() // a data packet created state
  val collision = Bool() // as in FlowPlace
  val agedOut = Bool()
  val displaced = Bool()
  val tableFull = Bool() // no state, packet yellow
  val loss = Bool() // SN <= SN_h: counts as a retransmission
  val jump = Bool() // SN at least 2^30 away from SN_h: state created anew
  val probe = Bool() // marked red
}

object FlowEvents {

  /** @param asked  a packet is present
    * @param place  valid if the packet uses state and the table was ready
    * @param colour the packet's colour, if it has state
    */
  def apply(
      asked: Bool,
      packet: FlowPacket,
      place: Valid[FlowPlace],
      jump: Bool,
      loss: Bool,
      colour: UInt
  ): FlowEvents = {
    val events = Wire(new FlowEvents)
    val has = place.valid && place.bits.found
    val continues = has && !place.bits.fresh && !packet.syn
    events.adopted := has && place.bits.fresh && !packet.syn
    events.collision := place.valid && place.bits.collision
    events.agedOut := place.valid && place.bits.agedOut
    events.displaced := place.valid && place.bits.displaced
    events.tableFull := asked && packet.uses && !has
    events.loss := continues && !jump && loss
    events.jump := continues && jump
    events.probe := has && colour === Colour.Red.U
    events
  }
}

/** The state of a flow, as stored in the RAM of states. */
class FlowState extends Bundle {
  import FlowFormats._
  val raised = Bool() // A_Y is average / (1 - alpha), see FlowLoop
  val average = UInt(AverageBits.W)
  val burst = UInt(BurstBits.W) // L_Y
  val highestSeq = UInt(32.W) // SN_h
  val credits = UInt(CreditBits.W)
}

/** The new state and the colour of a packet that finds no state, is a SYN, or jumps. */
class FlowBegun extends Bundle {
  val state = new FlowState
  val probe = Bool() // red
  val green = Bool()
}

object FlowBegun {

  /** @param grown A_0 increased, used if A_0 is less than one packet */
  def apply(packet: FlowPacket, grown: UInt): FlowBegun = {
    import FlowFormats._
    val begun = Wire(new FlowBegun)
    val config = packet.config
    val counts = !packet.syn && config.redRules
    val credit = config.greenRules && !packet.syn && !begun.probe && config.ns =/= 0.U
    begun.probe := counts && config.a0 < (1 << AverageFrac).U // 1 > A_0
    begun.green := credit || (config.greenRules && packet.syn)
    begun.state.average := Mux(begun.probe, grown, config.a0)
    begun.state.raised := begun.probe && config.increase
    begun.state.burst := (counts && !begun.probe).asUInt
    begun.state.highestSeq := packet.seq
    begun.state.credits := Mux(credit, wrap(config.ns - 1.U, CreditBits), config.ns)
    begun
  }
}

/** The colour, and for traces the flow's state after the packet. The state reads 0 if the packet has none. */
class FlowAnswer extends Bundle {
  val colour = UInt(2.W)
  val hasState = Bool()
  val state = new FlowState
  val events = new FlowEvents
}
