package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}

/** Tells which rules match a packet, in LUT RAM: one packet per cycle.
  *
  * {{{
  *   character of the key, 4 bits -> its table, 2 banks x 16 values x one bit per rule -> AND over the 86 characters
  * }}}
  * So the key needs no comparators, and a table has the width of the LUT RAM's words: 32 words of 14 bits take 8 LUTs. Rules are written column by column
  * into the bank that no packet reads ([[RuleWriter]]). `bank` and `ranges` select for each packet which rules it sees.
  *
  * `matches` comes [[RuleMatch.Latency]] cycles after `fields`. Bits of ranges are compared in the second of them, and looked up in the third.
  */
class RuleMatch(rules: Int) extends Module {
  import RuleFormats._
  val io = IO(new Bundle {
    val fields = Input(new RuleFields)
    val bank = Input(Bool())
    val ranges = Input(Vec(2 * Ranges, new PortRange)) // one cycle after `fields`
    val column = Flipped(Valid(new ColumnWrite(rules)))
    val writeBank = Input(Bool())
    val matches = Output(UInt(rules.W))
  })

  /** A register that is stored inverted. Otherwise synthesis would merge it into the memory that it addresses. */
  private def inverted(x: UInt): UInt = (~Delay((~x).asUInt)).asUInt

  private val s1Bank = inverted(io.bank)
  private val s1Words = io.fields.words.map(inverted)
  private val s1Ports = s1Words(8)
  private val s1InRange = VecInit(io.ranges.zipWithIndex.map { case (range, i) =>
    range.holds(if (i < Ranges) s1Ports(31, 16) else s1Ports(15, 0))
  }).asUInt
  private val s2Bank = inverted(s1Bank)
  private val s2Range = Cat(inverted(s1InRange), 0.U(RangeLow.W))

  private def table(word: Int, character: Int, bank: UInt, of: UInt): UInt = {
    val memory = Mem(2 << CharacterBits, UInt(rules.W))
    when(io.column.valid && io.column.bits.word === word.U) {
      memory.write(io.writeBank ## io.column.bits.value, io.column.bits.columns(character))
    }
    memory.read(bank ## of)
  }
  private val characters = for (w <- 0 until KeyWords; c <- 0 until Characters if exists(w, c)) yield (w, c)
  private val (late, early) = characters.partition { case (w, c) => isRange(w, c) }
  private def joined(columns: Seq[UInt]): UInt = VecInit(Seq.tabulate(rules) { r =>
    Arithmetic.all(columns.map(_(r)).grouped(RuleMatch.Inputs).map(_.reduce(_ && _)).toSeq)
  }).asUInt
  private def of(word: UInt, c: Int): UInt = word(CharacterBits * (c + 1) - 1, CharacterBits * c)

  private val s2Matches = Delay(joined(early.map { case (w, c) => table(w, c, s1Bank, of(s1Words(w), c)) }))
  private val s3Matches = Delay(joined(late.map { case (w, c) => table(w, c, s2Bank, of(s2Range, c)) } :+ s2Matches))
  io.matches := s3Matches
}

object RuleMatch {
  val Latency = 3

  /** Inputs of a LUT. */
  private val Inputs = 6
}

/** A range of ports, both ends included. It is empty if `low` is greater. */
class PortRange extends Bundle {
  val low = UInt(16.W)
  val high = UInt(16.W)
  def holds(port: UInt): Bool = !Arithmetic.less(port, low) && !Arithmetic.less(high, port)
}
