package vermilion.control

import chisel3._
import vermilion.classify.{RuleFormats, RulePorts}
import vermilion.control.{RegisterMap => R}
import vermilion.lane.LaneParams

/** Gives a lane its rules and ranges of ports, and the host their counters ([[vermilion.classify.RuleTable]]).
  *
  * A write has no effect if it names a rule or queue that the build lacks, or while a commit of rules is pending. `bad` is then high for one cycle.
  *
  * @param stored  the value of a register
  * @param after   high one cycle after a write to an address
  * @param file    where registers are kept for reads
  */
class RuleRegisters(
    p: LaneParams,
    stored: R.Register => UInt,
    after: Int => Bool,
    file: RegisterFile
) {
  private val wordsOfRule = 2 << RuleFormats.WordBits

  /** Connects the ports. Returns `bad`, and the words that a host reads beside those in the file. */
  def apply(ports: RulePorts): (Bool, Seq[(Int, UInt)]) = {
    for (i <- 0 until RuleFormats.KeyWords; of <- Seq(R.RuleValue, R.RuleMask)) file.keep(of(i), of.mask)
    for (i <- 0 until 2 * RuleFormats.Ranges) file.keep(R.PortRange(i), R.PortRange.mask)
    for (of <- Seq(R.RuleAction, R.RuleMarker)) file.keep(of(), of.mask)
    val rule = R.RuleSelect.rule(stored(R.RuleSelect))
    val exists = rule < p.rules.U
    val selects = after(R.RuleSelect())
    ports.snapshot.valid := selects && exists
    ports.snapshot.bits := rule(p.ruleBits - 1, 0)

    val ofEgress = p.ofOneEgress.queues.U
    val (word, data) = file.recent(R.RuleValue(0), wordsOfRule)
    val (action, marker) = (R.RuleAction(), R.RuleMarker())
    def is(address: Int): Bool = word.bits === ((address - R.RuleValue(0)) / 4).U
    val isElsewhere =
      (is(action) && R.RuleAction.setsQueue(data).asBool && R.RuleAction.queue(data) >= ofEgress) ||
        (is(marker) && R.RuleMarker.setsMarker(data).asBool && R.RuleMarker.queue(data) >= ofEgress)
    val isLegal = exists && !ports.pending && !isElsewhere
    ports.write.valid := word.valid && isLegal
    ports.write.bits.rule := rule(p.ruleBits - 1, 0)
    ports.write.bits.word := word.bits
    ports.write.bits.data := data

    val (range, limits) = file.recent(R.PortRange(0), 2 * RuleFormats.Ranges)
    ports.range.valid := range.valid && !ports.pending
    ports.range.bits.range := range.bits
    ports.range.bits.low := R.PortRange.low(limits)
    ports.range.bits.high := R.PortRange.high(limits)

    val commits = after(R.RuleCommit())
    ports.commit := commits && !ports.pending
    val bad = (selects && !exists) || (word.valid && !isLegal) || ((range.valid || commits) && ports.pending)
    val counts = ports.counts
    val words = Seq(
      R.RuleCountsPacketsLow -> counts.packets(31, 0),
      R.RuleCountsPacketsHigh -> counts.packets(63, 32),
      R.RuleCountsBytesLow -> counts.bytes(31, 0),
      R.RuleCountsBytesHigh -> counts.bytes(63, 32)
    )
    (bad, (R.Rules() -> p.rules.U(32.W)) +: words.map { case (of, word) => of() -> word })
  }
}
