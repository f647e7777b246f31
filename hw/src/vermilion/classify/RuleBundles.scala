package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.parse.OuterTag
import vermilion.stream.Headers

/** Sizes of a rule table, and the words of a rule.
  *
  * A rule is 32 words of 32 bits. Words 0 to 10 are the value of its key, words 16 to 26 its mask. A rule matches a packet if
  * `(key & mask) === value` in all of these words. A mask of zeros matches every packet, and a bit of the value outside the mask none.
  *
  * {{{
  *   0 to 3    source address, lowest word first; IPv4 in word 0, the others 0
  *   4 to 7    destination address
  *   8         15:0 destination port, 31:16 source port; 0 without ports
  *   9         11:0 VLAN ID, 14:12 PCP and 15 presence of the outer tag, 23:16 protocol, 29:24 DSCP, 31:30 ECN
  *   10        3:0 input, 4 IPv4, 5 IPv6, 6 has ports, 7 IPv4 or IPv6, 15:8 the source port is in range i, 23:16 the destination port is in range i
  *   11        actions: 11:0 queue, 13:12 colour, 21:16 DSCP, 24 sets the queue, 25 the colour, 26 the DSCP, 27 drop, 31 the rule is on
  *   27        11:0 marker, 31 sets the marker
  * }}}
  */
object RuleFormats {
  val KeyWords = 11
  val WordBits = 4 // of the number of a word of the value, or of the mask
  val Ranges = 8 // of source ports, and as many of destination ports
  val InputBits = 4

  /** A character is what one table of match bits looks up. Words have eight, and the last one six. */
  val CharacterBits = 4
  val Characters = 32 / CharacterBits
  val RangeLow = 8 // the first bit of ranges in the last word of the key
  val KeyBits: Int = 32 * (KeyWords - 1) + RangeLow + 2 * Ranges

  /** Tells whether the character holds bits of ranges, which are known one cycle later than the others. */
  def isRange(word: Int, character: Int): Boolean = word == KeyWords - 1 && character >= RangeLow / CharacterBits
  def exists(word: Int, character: Int): Boolean = 32 * word + CharacterBits * character < KeyBits
  val ActionWord = KeyWords
}

/** The fields of a packet that rules compare. */
class RuleFields extends Bundle {
  val headers = new Headers
  val tag = new OuterTag
  val input = UInt(RuleFormats.InputBits.W)

  /** The words of the key, without the bits of ranges. */
  def words: Seq[UInt] = {
    val h = headers
    def addresses(of: UInt): Seq[UInt] = Seq.tabulate(4)(i => of(32 * i + 31, 32 * i))
    addresses(h.srcAddr) ++ addresses(h.dstAddr) ++ Seq(
      Cat(h.srcPort, h.dstPort),
      Cat(h.ecn, h.dscp, h.proto, tag.present, tag.pcp, tag.vlan),
      Cat(h.isIp4 || h.isIp6, h.hasPorts, h.isIp6, h.isIp4, input).pad(32)
    )
  }
}

/** What a rule does with a packet; what is not valid stays as it is. Queues and markers are numbered within the packet's egress. */
class RuleAction(queueBits: Int) extends Bundle {
  val drop = Bool()
  val queue = Valid(UInt(queueBits.W))
  val colour = Valid(UInt(2.W))
  val dscp = Valid(UInt(6.W))
  val marker = Valid(UInt(queueBits.W)) // the queue whose marker marks the packet
}

object RuleAction {

  /** From the words 11 and 27 of a rule. A colour of 3 is red. */
  def apply(queueBits: Int, actions: UInt, marker: UInt): RuleAction = {
    val out = Wire(new RuleAction(queueBits))
    out.queue.bits := actions(11, 0)
    out.colour.bits := Cat(actions(13), actions(12) && !actions(13))
    out.dscp.bits := actions(21, 16)
    out.queue.valid := actions(24)
    out.colour.valid := actions(25)
    out.dscp.valid := actions(26)
    out.drop := actions(27)
    out.marker.bits := marker(11, 0)
    out.marker.valid := marker(31)
    out
  }

  /** Tells whether the rule is on. */
  def isOn(actions: UInt): Bool = actions(31)
}

/** Writes one word of a rule. */
class RuleWrite(ruleBits: Int) extends Bundle {
  val rule = UInt(ruleBits.W)
  val word = UInt((RuleFormats.WordBits + 1).W)
  val data = UInt(32.W)
}

/** Writes a range of ports, both ends included. Ranges 0 to 7 are of source ports, 8 to 15 of destination ports. */
class RangeWrite extends Bundle {
  val range = UInt(log2Ceil(2 * RuleFormats.Ranges).W)
  val low = UInt(16.W)
  val high = UInt(16.W)
}

/** A packet for the counters of the rule that it was the first to match. */
class RuleCount(ruleBits: Int) extends Bundle {
  val rule = UInt(ruleBits.W)
  val lenBytes = UInt(vermilion.fixed.Formats.PktLenBits.W)
}

/** The answer of a rule table. */
class RuleAnswer(ruleBits: Int, queueBits: Int) extends Bundle {
  val hit = Bool() // some rule matches
  val rule = UInt(ruleBits.W) // the first that does
  val action = new RuleAction(queueBits) // undefined without a hit
}

/** What the rules of a build do with a packet, in its descriptor. Without a matching rule all of it is 0, but for `action.dscp.bits`, which then is the packet's own DSCP.
  * `action.dscp` is valid for IP packets only.
  */
class RuleChoice(ruleBits: Int, queueBits: Int) extends RuleAnswer(ruleBits, queueBits)

object RuleChoice {

  /** The choice for a packet of these headers, from the answer for them. */
  def apply(answer: RuleAnswer, isIp: Bool, dscp: UInt): RuleChoice = {
    val out = Wire(new RuleChoice(answer.rule.getWidth, answer.action.queue.bits.getWidth))
    val action = answer.action
    out := 0.U.asTypeOf(out)
    when(answer.hit) { out := answer }
    val sets = answer.hit && action.dscp.valid && isIp
    out.action.dscp.valid := sets
    out.action.dscp.bits := Mux(sets, action.dscp.bits, dscp)
    out
  }
}

/** The counters of a rule. */
class RuleCounts extends Bundle {
  val packets = UInt(64.W)
  val bytes = UInt(64.W)
}

/** The ports between a control port and a rule table. */
class RulePorts(ruleBits: Int) extends Bundle {
  val write = Flipped(Valid(new RuleWrite(ruleBits)))
  val range = Flipped(Valid(new RangeWrite))
  val commit = Input(Bool())
  val pending = Output(Bool()) // the commit has not taken effect; rules and ranges must not be written
  val snapshot = Flipped(Valid(UInt(ruleBits.W)))
  val counts = Output(new RuleCounts)
  val ready = Output(Bool()) // packets can be looked up
}
