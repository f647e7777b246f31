package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, Memory, MemoryKind, SweepInit}

/** Finds the first rule that matches a packet: a multi-field classifier (RFC 2475, section 2.3.1). One packet per cycle.
  *
  * The rule with the lowest number wins. A rule that others cover never wins, and its counters stay. A rule compares any bits of the words in
  * [[RuleFormats]], which hold input, outer VLAN tag, addresses, protocol, ports, DSCP and ECN. Ranges of ports that are no prefix take one of the
  * eight ranges for source ports or of those for destination ports. Rules share ranges.
  *
  * '''Commit''': rules and ranges that the host writes have no effect before a commit. It makes a second set of match tables ([[RuleWriter]]) and then changes
  * over to it in one cycle. So each packet sees all rules of before the commit, or all of after it. A commit takes [[RuleWriter.cycles]] cycles
  * (11,330 with 64 rules), in which packets are looked up as before. After a reset no rule matches until the first commit.
  *
  * '''Counters''' of a rule: packets and their bytes, as `counted` tells. They begin at 0 after a reset, never end, and a commit leaves them as they
  * are. `counts` shows those of the rule in `snapshot` one cycle after it, all as of its cycle.
  *
  * Latency: [[RuleTable.Latency]] cycles from `request` to `answer`. `ready` is low for as many cycles after a reset as there are rules. Until then
  * nothing may be counted.
  *
  * @param rules     a power of two from 16 to 256
  * @param queueBits bits of a queue's number within its egress
  */
class RuleTable(rules: Int, queueBits: Int) extends Module {
  import RuleFormats.Ranges
  require(rules >= 16 && rules <= 256 && isPow2(rules), s"rules is $rules; legal are powers of two from 16 to 256")
  require(queueBits >= 1 && queueBits <= 12, s"queueBits is $queueBits; legal are 1 to 12")
  private val ruleBits = log2Ceil(rules)
  val io = IO(new Bundle {
    val request = Flipped(Valid(new RuleFields))
    val answer = Valid(new RuleAnswer(ruleBits, queueBits))
    val counted = Flipped(Valid(new RuleCount(ruleBits))) // adds to a rule's counters
    val host = new RulePorts(ruleBits)
  })
  private val writer = Module(new RuleWriter(rules))
  private val tables = Module(new RuleMatch(rules))
  writer.io.write := io.host.write
  writer.io.commit := io.host.commit

  // -- the change-over: `bank` goes with each packet from s0 on; the ranges follow, as s1 compares them --
  private val bank = RegInit(false.B)
  private val hasRules = RegInit(false.B) // there was a commit
  when(writer.io.done) {
    bank := !bank
    hasRules := true.B
  }
  private val follows = RegNext(writer.io.done, false.B)
  private val nextRanges, ranges = Reg(Vec(2 * Ranges, new PortRange))
  when(io.host.range.valid) {
    nextRanges(io.host.range.bits.range).low := io.host.range.bits.low
    nextRanges(io.host.range.bits.range).high := io.host.range.bits.high
  }
  when(follows) { ranges := nextRanges }
  io.host.pending := writer.io.pending || follows
  assert(!(io.host.pending && io.host.range.valid), "a range is written while the table is being made")

  // -- s0 to s3: which rules match --
  tables.io.fields := io.request.bits
  tables.io.bank := bank
  tables.io.ranges := ranges
  tables.io.column := writer.io.column
  tables.io.writeBank := !bank
  private val valids = Seq.iterate(io.request.valid, RuleTable.Latency + 1)(RegNext(_, false.B))
  private val s3Bank = Delay(bank, RuleMatch.Latency)
  private val s3HasRules = Delay(hasRules, RuleMatch.Latency)
  private val (s3Any, s3First) = RuleTable.first(tables.io.matches)

  // -- s4: what the first of them does --
  private val written = Wire(new RuleAction(queueBits))
  written := RuleAction(queueBits, writer.io.action.bits.data, writer.io.marker)
  private val actions = new Memory(2 * rules, new RuleAction(queueBits), MemoryKind.of(2 * rules))
  actions.write(writer.io.action.valid, !bank ## writer.io.action.bits.rule, written)
  private val answer = io.answer.bits
  io.answer.valid := valids.last
  answer.hit := Delay(s3Any && s3HasRules)
  answer.rule := Delay(s3First)
  answer.action := actions.read(s3Bank ## s3First)

  // -- counters: a record in LUT RAM is read, changed and written back in one cycle --
  private val clear = new SweepInit(rules)
  io.host.ready := clear.done
  assert(clear.done || !io.counted.valid, "a packet is counted before the counters are cleared")
  private val counters = Mem(rules, new RuleCounts)
  private val counted = io.counted.bits
  private val old = counters.read(counted.rule)
  private val sum = Wire(new RuleCounts)
  sum.packets := old.packets + 1.U
  sum.bytes := old.bytes + counted.lenBytes
  when(io.counted.valid || !clear.done) {
    counters.write(
      Mux(clear.done, counted.rule, clear.address),
      Mux(clear.done, sum, 0.U.asTypeOf(sum))
    )
  }
  io.host.counts := Delay.enabled(counters.read(io.host.snapshot.bits), io.host.snapshot.valid)
}

object RuleTable {

  /** Cycles from a request to its answer. */
  val Latency: Int = RuleMatch.Latency + 1

  /** Tells whether any bit is set, and which is the first. */
  private def first(bits: UInt): (Bool, UInt) =
    if (bits.getWidth == 1) (bits.asBool, 0.U(0.W))
    else {
      val half = bits.getWidth / 2
      val ((lowAny, low), (highAny, high)) = (first(bits(half - 1, 0)), first(bits(2 * half - 1, half)))
      (lowAny || highAny, Cat(!lowAny, Mux(lowAny, low, high)))
    }
}
