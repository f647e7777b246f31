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

  /** Ages count ticks of 2^22 ns (4.19 ms); the clock of 48 bits has 26 bits of them. */
  val TickShift = 22
  val TickBits = TimeBits - TickShift
  val AgeBits = 16

  /** A tick that seems this close to a whole round old lies ahead: the clock was set back by up to 2^15 ticks (137 s). */
  val FutureBits = 15
}

/** Which rules mark a queue's packets. */
object FlowKind {
  val None = 0 // NM: all yellow
  val ThreeColour = 1 // 3CPM
  val Web = 2 // WPM: the green rules alone
  val Adaptive = 3 // APM: the red rules alone
  val Bits = 2
}

/** The marker of one queue (`docs/flow-markers.md`). */
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

/** What tells flows apart. A direction of a connection is a flow, and so is the same direction in another queue or VLAN. */
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
  val time = UInt(TimeBits.W) // ns, not before that of the request before
  val headers = new Headers
  val config = new FlowConfig
}

/** What of a packet its flow's state needs. */
class FlowPacket extends Bundle {
  val seq = UInt(32.W)
  val isTcp = Bool()
  val uses = Bool() // makes or uses state
  val syn = Bool()
  val config = new FlowConfig

  /** Green though it uses no state. */
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

/** A lookup in the table, for a packet that makes or uses state. */
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

/** Where a flow's state is. */
class FlowPlace(indexBits: Int) extends Bundle {
  val found = Bool() // an entry: one with its tag, or one it was given
  val fresh = Bool() // the entry has been given now; what lies in it is not this flow's
  val index = UInt(indexBits.W)
  val collision = Bool() // a flow without an entry found all four ways of its set taken by others, or its tag
  val agedOut = Bool() // the entry's former state, its own or another flow's, had aged out
  val displaced = Bool() // a half-open entry, not aged, was given away
}

/** What happened, one bit a counter. */
class FlowEvents extends Bundle {
  val adopted = Bool() // state made by a data packet
  val collision = Bool() // FlowPlace
  val agedOut = Bool()
  val displaced = Bool()
  val tableFull = Bool() // no state, packet yellow
  val loss = Bool() // SN <= SN_h: taken for a retransmission
  val jump = Bool() // SN at least 2^30 away from SN_h: state made anew
  val probe = Bool() // marked red
}

object FlowEvents {

  /** @param asked  there is a packet
    * @param place  valid if the packet uses state and the table was ready
    * @param colour the packet's, if it has state
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

/** What lies in the table of states for a flow. */
class FlowState extends Bundle {
  import FlowFormats._
  val raised = Bool() // A_Y is average / (1 - alpha), see FlowLoop
  val average = UInt(AverageBits.W)
  val burst = UInt(BurstBits.W) // L_Y
  val highestSeq = UInt(32.W) // SN_h
  val credits = UInt(CreditBits.W)
}

/** What a packet begins that finds no state, or is a SYN, or jumps: the state after it, and its colour. */
class FlowBegun extends Bundle {
  val state = new FlowState
  val probe = Bool() // red
  val green = Bool()
}

object FlowBegun {

  /** @param grown A_0 increased, of use where A_0 is less than a packet */
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

/** The colour, and for traces the flow's state after the packet; it reads 0 where the packet has no state. */
class FlowAnswer extends Bundle {
  val colour = UInt(2.W)
  val hasState = Bool()
  val state = new FlowState
  val events = new FlowEvents
}
