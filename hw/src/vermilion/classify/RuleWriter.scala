package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, Memory, MemoryKind}

/** Writes match bits of the characters of one word, for all rules. Bit r of a column is set if rule r matches where character c of the word is `value`. */
class ColumnWrite(rules: Int) extends Bundle {
  val word = UInt(RuleFormats.WordBits.W)
  val value = UInt(RuleFormats.CharacterBits.W)
  val columns = Vec(RuleFormats.Characters, UInt(rules.W))
}

/** Keeps the rules that the host writes, and turns them into the columns of the match tables.
  *
  * `commit` starts a pass over words, values of a character, and rules. One rule is read per cycle. Its eight match bits for the present value go into
  * eight shift registers. When these hold all rules they are written as columns. Then the actions are written. `done` ends the pass, after
  * [[RuleWriter.cycles]] cycles. While `pending`, rules must not be written.
  *
  * After a reset all rules are off. Words of a rule are undefined until they are written; the host writes all of them before it turns the rule on.
  */
class RuleWriter(rules: Int) extends Module {
  import RuleFormats._
  private val ruleBits = log2Ceil(rules)
  val io = IO(new Bundle {
    val write = Flipped(Valid(new RuleWrite(ruleBits)))
    val commit = Input(Bool())
    val pending = Output(Bool())
    val column = Valid(new ColumnWrite(rules))
    val action = Valid(new RuleWrite(ruleBits)) // `data` is word 11
    val marker = Output(UInt(32.W)) // with `action`: word 27
    val done = Output(Bool())
  })
  private val depth = rules << WordBits
  private val values, masks = new Memory(depth, UInt(32.W), MemoryKind.of(depth))
  private val write = io.write.bits
  private val isMask = write.word(WordBits)
  private val word = write.word(WordBits - 1, 0)
  values.write(io.write.valid && !isMask, write.rule ## word, write.data)
  masks.write(io.write.valid && isMask, write.rule ## word, write.data)
  private val on = RegInit(0.U(rules.W))
  when(io.write.valid && !isMask && word === ActionWord.U) {
    on := on.bitSet(write.rule, RuleAction.isOn(write.data))
  }

  // -- the pass; a stage s0 addresses a rule, its words are there in s1, and complete columns in s2 --
  private val running = RegInit(false.B)
  private val s0Rule = RegInit(0.U(ruleBits.W))
  private val s0Value = RegInit(0.U(CharacterBits.W))
  private val s0Word = RegInit(0.U(WordBits.W))
  private val isAction = s0Word === ActionWord.U
  private val isLast = s0Rule.andR
  when(io.commit) { running := true.B }
  when(running) {
    s0Rule := s0Rule + 1.U
    when(isLast) {
      s0Value := s0Value + 1.U
      when(s0Value.andR) { s0Word := s0Word + 1.U }
      when(isAction) {
        running := false.B
        s0Value := 0.U
        s0Word := 0.U
      }
    }
  }
  private val address = s0Rule ## s0Word
  private val (s1Value, s1Mask) = (values.read(address), masks.read(address))
  private val s1On = Delay(on(s0Rule))
  private val s1At = Delay(s0Value)
  private val s1Word = Delay(s0Word)
  private val s1Ends = RegNext(running && isLast && !isAction, false.B)
  private val s1Acts = RegNext(running && isAction, false.B)
  private val columns = Reg(Vec(Characters, UInt(rules.W)))
  for ((column, c) <- columns.zipWithIndex) {
    def of(word: UInt): UInt = word(CharacterBits * (c + 1) - 1, CharacterBits * c)
    val matches = s1On && (s1At & of(s1Mask)) === of(s1Value)
    column := matches ## column(rules - 1, 1)
  }
  io.column.valid := RegNext(s1Ends, false.B)
  io.column.bits.word := Delay(s1Word)
  io.column.bits.value := Delay(s1At)
  io.column.bits.columns := columns
  io.action.valid := s1Acts
  io.action.bits.rule := Delay(s0Rule)
  io.action.bits.word := s1Word
  io.action.bits.data := s1Value
  io.marker := s1Mask
  io.done := RegNext(s1Acts && !running, false.B)
  private val pending = RegInit(false.B)
  when(io.done) { pending := false.B }
  when(io.commit) { pending := true.B }
  io.pending := pending
  assert(!(io.pending && io.write.valid), "a rule is written while the table is being made")
  assert(!(io.pending && io.commit), "a commit while the table is being made")
}

object RuleWriter {

  /** Cycles from `commit` to `done`. */
  def cycles(rules: Int): Int = rules * ((RuleFormats.KeyWords << RuleFormats.CharacterBits) + 1) + 2
}
