package vermilion.stream

import chisel3._
import vermilion.classify.RuleChoice
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.IpStart

/** One AXI-Stream beat.
  *
  * `keep` is contiguous from lane 0, and full on all beats but the last. `bad` is valid at `last`. At an ingress, `user` is also valid only at
  * `last`. At an egress, all beats of a frame carry its `user`.
  */
class AxisBeat(val dataBits: Int, val userBits: Int = 0) extends Bundle {
  val data = UInt(dataBits.W)
  val keep = UInt((dataBits / 8).W)
  val last = Bool()
  val bad = Bool()
  val user = UInt(userBits.W)
}

/** Colours (drop precedences) of RFC 2597, in the order AFx1, AFx2, AFx3. */
object Colour {
  val Count = 3
  val Green = 0
  val Yellow = 1
  val Red = 2
}

/** The parsed header fields of a packet. Byte offsets count from the frame's first byte. */
class Headers extends Bundle {
  val isPtpType = Bool() // EtherType 0x88f7, IEEE 1588 over Ethernet: not IP
  val isIp4 = Bool()
  val isIp6 = Bool()
  val l3Offset = UInt(6.W) // 14, 18 or 22: start of the IP header
  val vlan = UInt(24.W) // VLAN IDs, 12 bits each: inner or only tag low, outer tag high; 0: no tag, or a priority tag
  val ipBytes = UInt(16.W) // length of the IP packet by its header, saturating; 0: not given, or not IP
  val dscp = UInt(6.W)
  val ecn = UInt(2.W)
  val ttl = UInt(8.W)
  val proto = UInt(8.W) // transport protocol, after IPv6 extension headers
  val hasPorts = Bool() // TCP or UDP, first fragment, ports within the frame
  val srcPort = UInt(16.W)
  val dstPort = UInt(16.W)
  val isTcp = Bool() // hasPorts, and sequence number and flags within the frame
  val tcpFlags = UInt(8.W)
  val tcpSeq = UInt(32.W)
  val tcpPayload = Bool() // isTcp, and the segment holds at least one byte (HeaderParser)
  val hasTtlOption = Bool() // well formed; the TTL may still be above its initial TTL
  val initialTtl = UInt(8.W)
  val finalTtl = UInt(8.W) // 0: not known
  val ttlOptionAt = UInt(4.W) // its first byte, 0 to 8 bytes into the options (parse/TtlOption.scala)
  val srcAddr = UInt(128.W) // IPv4 in the low 32 bits
  val dstAddr = UInt(128.W)
}

/** The record of a packet from ingress to the policy pipeline, one per frame. `cells` cells are linked from `headCell`; 0: no cell is allocated. */
class PacketDescriptor(p: LaneParams) extends Bundle {
  val input = UInt(p.inputBits.W)
  val lenBytes = UInt(PktLenBits.W) // saturating
  val headCell = UInt(p.cellBits.W)
  val cells = UInt(p.chainBits.W)
  val bad = Bool() // arrived with `bad` set, or with an illegal `keep`
  val noBuffer = Bool() // no free cell, or longer than maxFrameBytes
  val user = UInt(p.userBits.W)
  val headers = new Headers
  val rule = Option.when(p.rules > 0)(new RuleChoice(p.ruleBits, p.ofOneEgress.queueBits))
}

/** The record that an ingress gives at a frame's end. The arbiter adds the headers. Fields are as in [[PacketDescriptor]]. */
class FrameEnd(p: LaneParams) extends Bundle {
  val lenBytes = UInt(PktLenBits.W)
  val headCell = UInt(p.cellBits.W)
  val cells = UInt(p.chainBits.W)
  val bad = Bool()
  val noBuffer = Bool()
  val user = UInt(p.userBits.W)
  val parsed = Bool() // false: the parser did not receive its head, so its headers are unknown
}

/** A cell that requests a grant from the ingress arbiter.
  *
  * The cell is written to the buffer if a cell is free. It also goes to the parser if it is one of the frame's first two.
  */
class IngressCell(p: LaneParams) extends Bundle {
  val write = new CellWrite(p)
  val stored = Bool()
  val first = Bool() // these three as in PassingCell
  val endsHead = Bool()
  val headBytes = UInt(8.W)
  val start = new IpStart // valid at `first`
}

/** Verdict codes, `docs/architecture.md`. */
object Verdict {

  /** True if the packet is enqueued. */
  def admits(verdict: UInt): Bool = verdict === Enqueue.U || verdict === Mark.U

  val Enqueue = 0
  val Mark = 1
  val Early = 2
  val Forced = 3
  val Tail = 4
  val NoBuffer = 5
  val Bad = 6
  val Policed = 7
  val Bits = 3
}

/** A chain of linked cells that returns to the free list. */
class Chain(p: LaneParams) extends Bundle {
  val head = UInt(p.cellBits.W)
  val cells = UInt(p.chainBits.W) // at least 1
}

/** The record of a queued packet: what the reader and the rewrite need at the egress. */
class QueueEntry(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val headCell = UInt(p.cellBits.W)
  val cells = UInt(p.chainBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val colour = UInt(2.W)
  val arrival = UInt(TimeBits.W) // ns at the decision
  val isIp4 = Bool()
  val isIp6 = Bool()
  val l3Offset = UInt(6.W)
  val setCe = Bool()
  val setDscp = Bool()
  val dscp = UInt(6.W)
  val removeOption = Bool() // the TTL option, which begins ttlOptionAt bytes into the options
  val ttlOptionAt = UInt(4.W)
  val dsField = Option.when(p.codel)(UInt(8.W)) // as the packet came, with the DSCP of its rule
}

/** A request to append a packet to the tail of a queue. */
class EnqueueRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val queueEntry = new QueueEntry(p)
}

/** A packet that has left its queue, to be sent or discarded: by a flush, or by its verdict. */
class Departure(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
  val arrival = UInt(TimeBits.W)
  val flushed = Bool()
  val dropped, marked = Option.when(p.codel)(Bool()) // by the verdict

  /** It is sent, and not discarded. */
  def isSent: Bool = !flushed && !dropped.getOrElse(false.B)
}

/** A write of one 64-byte cell, and of the link to it from the packet's previous cell. */
class CellWrite(p: LaneParams) extends Bundle {
  val cell = UInt(p.cellBits.W)
  val data = UInt((CellBytes * 8).W) // byte 0 of the frame in bits 7..0
  val hasPrevious = Bool()
  val previous = UInt(p.cellBits.W)
}
