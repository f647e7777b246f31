package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.{ConstantTable, Delay, Memory, MemoryKind}

/** Fills the window with a snapshot: at most one 32-bit word per cycle, by the steps of [[WindowProgram]].
  *
  * {{{
  *   cycle 0  step and half      1  `slot` to the RAMs      2  a word of the selected source      3  accumulated, written
  * }}}
  * If an event uses the source's read port in cycle 1, the word waits there, and all later words with it.
  * `walking` is high from the cycle after `start` until the last word is written. This takes 2 cycles per step, 4 more, and the cycles in which
  * words wait.
  * The window is a RAM. Words that no step writes read as 0.
  *
  * @param program all steps
  */
class WindowWriter(program: Seq[WindowProgram.Step], start: Bool) {
  import WindowProgram._
  import WindowWriter.SlotBits
  private val stepBits = log2Ceil(program.size)
  private class Control extends Bundle {
    val source = UInt(log2Ceil(Source.maxId).W)
    val slot = UInt(SlotBits.W)
    val field = Bool()
    val pair = UInt((StatisticsWindow.IndexBits - 1).W)
    val shows, adds, total = Bool()
  }
  private val step = RegInit(0.U((stepBits + 1).W)) // the step, and which half of its counter
  private val busy = RegInit(false.B)
  val walking: Bool = RegInit(false.B)
  private def number(step: Step): BigInt = {
    val bits = Seq(step.to.isDefined, step.adds, step.total).foldLeft(BigInt(0))((x, b) => 2 * x + (if (b) 1 else 0))
    def push(x: BigInt, value: Int, width: Int) = (x << width) + value
    val head = push(push(BigInt(0), step.source.id, log2Ceil(Source.maxId)), step.slot, SlotBits)
    push(push(head, step.field, 1), step.to.getOrElse(0) / 2, StatisticsWindow.IndexBits - 1) * 8 + bits
  }
  private val table = program.padTo(1 << stepBits, Step(Source.Nothing)).map(number)
  private val isLast = step === (2 * program.size - 1).U
  private val s0 = ConstantTable(table, (new Control).getWidth)(step >> 1).asTypeOf(new Control)
  private val advances = WireInit(true.B) // cycle 1
  private val s1 = RegEnable(s0, advances)
  private val s1Half = RegEnable(step(0), advances)
  private val s1Valid = RegEnable(busy, false.B, advances)
  private val s1Last = RegEnable(isLast, advances)
  private val s2 = Delay(s1)
  private val s2Half = Delay(s1Half)
  private val s3 = Delay(s2)
  private val s3Half = Delay(s2Half)
  private val s2Valid = RegNext(s1Valid && advances, false.B)
  private val s3Valid = RegNext(s2Valid, false.B)
  private val s3Last = Delay(s1Last, 2)
  when(busy && advances) {
    step := step + 1.U
    when(isLast) { busy := false.B }
  }

  /** The last cycle of `walking`. */
  val ends: Bool = s3Valid && s3Last
  when(ends) { walking := false.B }
  when(start) {
    step := 0.U
    busy := true.B
    walking := true.B
  }

  /** The slot of the sources that is read. */
  val slot: UInt = s1.slot

  private val words = scala.collection.mutable.ArrayBuffer.empty[UInt]

  /** Adds a source. `ask` requests the record at `slot` and returns whether it can be read in this cycle. One cycle later `word` gives its bits,
    * by a function that selects a word of a record.
    */
  def source(name: Source.Value, ask: Bool => Bool, word: (UInt => UInt) => UInt): Unit = {
    val wants = s1Valid && s1.source === name.id.U
    val `given` = ask(wants)
    when(wants && !`given`) { advances := false.B }
    def choose(record: UInt): UInt = {
      val halves =
        Seq.tabulate((record.getWidth + 31) / 32)(i => record((32 * i + 31).min(record.getWidth - 1), 32 * i).pad(32))
      if (halves.size > 2) Mux(s2.field, Mux(s2Half, halves(3), halves(2)), Mux(s2Half, halves(1), halves(0)))
      else Mux(s2Half, halves(1), halves(0))
    }
    words += held(name, word(choose))
  }

  /** Adds a source of single words, two per slot. */
  def source(name: Source.Value, single: Seq[UInt]): Unit = {
    val table = single.zipWithIndex.map { case (x, i) => i.U -> x.pad(32) }
    words += held(name, MuxLookup(Cat(s2.slot, s2Half)(log2Ceil(single.size) - 1, 0), 0.U(32.W))(table))
  }

  /** A source's word of the cycle before, or 0 if another source is selected: a register that is cleared, upstream of an OR. */
  private def held(name: Source.Value, word: UInt): UInt = {
    val held = Reg(UInt(32.W))
    held := Mux(s2.source === name.id.U, word, 0.U)
    held
  }

  private val window = new Memory(StatisticsWindow.Words, UInt(32.W), MemoryKind.Block)

  /** A word of the window, two cycles later. To be called once, after all sources. */
  def read(index: UInt): UInt = {
    val word = words.reduce(_ | _)
    val carry = RegInit(false.B)
    val sum = Wire(UInt(33.W))
    val last = RegEnable(sum(31, 0), s3Valid) // the low half of the step during its high one, and the reverse
    val base = RegEnable(last, s3Valid) & Fill(32, s3.adds) // the same half of the step before, if this one adds to it
    sum := (Cat(0.U(1.W), base, carry) + Cat(0.U(1.W), word, 1.U(1.W)))(33, 1)
    when(s3Valid) { carry := sum(32) && !s3Half }
    window.write(s3Valid && s3.shows, Cat(s3.pair, s3Half), Mux(s3.total, sum(31, 0), word))
    val written = program.flatMap(_.to).toSet
    val pairs = Seq.tabulate(StatisticsWindow.Words / 2)(i => BigInt(if (written(2 * i)) 1 else 0))
    RegNext(window.read(index) & Fill(32, RegNext(ConstantTable(pairs, 1)(index >> 1))))
  }
}

object WindowWriter {

  /** Bits of the largest source's slot. */
  val SlotBits = 6
}
