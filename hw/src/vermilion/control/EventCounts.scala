package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.control.{RegisterMap => R}
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.{Delay, Memory, MemoryKind}
import vermilion.fixed.Formats._
import vermilion.flow.FlowEvents
import vermilion.lane.LaneParams
import vermilion.report.ReportCounts

/** Counts events for the host in a RAM, with one adder for all counts.
  *
  * {{{
  *   lost_frames, lost_bytes             64 bits per input; they wrap, and `clear` sets them to 0, including a loss in the same cycle
  *   flow_collisions                     64 bits, as these; only in builds with `fq`
  *   flow_events, refreshes_skipped,     32 bits; they saturate at 2^32 - 1
  *   report_events
  * }}}
  * A walk steps through the words without end, one word per cycle. Meanwhile a few bits per count gather new events. In the cycle before a walk
  * begins, it takes all of them. So the walk brings all counts to the state of one cycle. The walk that writes the 0 of a cleared count adds nothing
  * to it: events after `clear` stay gathered for the next walk.
  *
  * The host reads a copy. A read that takes a copy (of the lowest word of an input's `lost_frames` or of `flow_collisions`, or of any 32-bit word) waits while `ready` is
  * low. The next walk copies the words that belong together, for example the four words of an input. So a read waits for at most two walks and three
  * cycles, and for one walk more after `clear`. It sees all events before it. After a reset all reads wait for one walk, which writes zeros.
  *
  * @param wordBits bits of a word, 32; fewer for a test in which counts reach their end
  */
class EventCounts(p: LaneParams, wordBits: Int = 32) extends Module {
  import EventCounts._
  val io = IO(new Bundle {
    val lost = Input(Vec(p.inputs, Valid(UInt(PktLenBits.W))))
    val flowEvents = Flipped(Valid(new FlowEvents))
    val refreshSkipped = Input(Bool())
    val flowCollision = Option.when(p.fq)(Input(Bool()))
    val clear = Input(Bool()) // of the counts of 64 bits
    val request = Flipped(Valid(UInt(ControlPort.AddressBits.W))) // a read of any address; stays until it is `taken`
    val taken = Input(Bool())
    val ready = Output(Bool())
    val readAddress = Input(UInt(ControlPort.AddressBits.W))
    val reports = Option.when(p.reports)(Input(new ReportCounts))
    val word = Output(UInt(32.W)) // of the address one cycle before, the last that was taken; 0 if it has no count
  })
  private val longWords = 4 * p.inputs + (if (p.fq) 2 else 0)
  private val period = longWords + EventWords + 1 + (if (p.reports) ReportWords else 0)
  private val at = RegInit(0.U(log2Ceil(period).W))
  private val start = at === (period - 1).U // the next cycle begins a walk
  at := Mux(start, 0.U, at + 1.U)

  private val isFirst = RegInit(true.B) // the walk after a reset
  when(start) { isFirst := false.B }
  private val clearAsked, clearing = RegInit(false.B)
  when(start) {
    clearing := clearAsked
    clearAsked := false.B
  }
  when(io.clear) { clearAsked := true.B }

  /** A count of one word, or of two words if `isLong`. `adds` is its increment in this cycle. */
  private class Count(val address: Int, val isLong: Boolean, adds: UInt) {
    private val most = (BigInt(1) << adds.getWidth) - 1
    private val gathered = RegInit(0.U((most * (2 * period + 1)).bitLength.W)) // of two walks, if the first one clears
    private val sum = gathered +& adds
    assert(!sum(gathered.getWidth), "more events than a count can gather")
    gathered := wrap(sum, gathered.getWidth)
    when(start && !(isLong.B && clearAsked) || isLong.B && io.clear) { gathered := 0.U }

    /** The amount that the walk adds. */
    val more: UInt = RegEnable(wrap(sum, gathered.getWidth), start)
    require(more.getWidth <= wordBits, s"wordBits is $wordBits; legal are ${more.getWidth} to 32")
  }
  private val lost = io.lost.zipWithIndex.flatMap { case (frame, i) =>
    Seq(
      new Count(R.LostFramesLow(i), true, frame.valid),
      new Count(R.LostBytesLow(i), true, Mux(frame.valid, frame.bits, 0.U))
    )
  }
  private val collisions = io.flowCollision.map(new Count(R.FlowCollisionsLow(), true, _))
  private val events = io.flowEvents.bits
  private val kinds = Seq(
    events.adopted,
    events.collision,
    events.agedOut,
    events.displaced,
    events.tableFull,
    events.loss,
    events.jump,
    events.probe
  )
  private val happened = kinds.zipWithIndex.map { case (event, i) =>
    new Count(R.FlowEvents(i), false, io.flowEvents.valid && event)
  }
  private val reported = io.reports.toSeq.flatMap { counts =>
    Seq(counts.offered, counts.lost, counts.limited, counts.headless).zipWithIndex.map { case (adds, i) =>
      new Count(R.ReportEvents(i), false, adds.asUInt)
    }
  }
  private val all =
    (lost ++ collisions ++ happened :+ new Count(R.RefreshesSkipped(), false, io.refreshSkipped)) ++ reported

  /** The words in the order of the walk. The high word of a long count follows its low word. */
  private val words = all.flatMap(count => Seq(Some(count)) ++ Option.when(count.isLong)(None))
  private val addresses = all.flatMap(count => Seq(count.address) ++ Option.when(count.isLong)(count.address + 4))
  private val mostBits = all.map(_.more.getWidth).max
  require(words.size == period, s"${words.size} words in a walk of $period clocks")
  private val record = UInt((1 + wordBits).W) // highest bit: a count of one word has overflowed
  private val counts = new Memory(period, record, MemoryKind.of(period)) // in the walk's order
  private val copies = new Memory(Depth, record, MemoryKind.of(Depth)) // by address

  // -- the walk: the address of a word, its sum one cycle later, its write one more cycle later --
  private def ofWord[T <: Data](of: Seq[T]): T = {
    val last =
      Seq.fill((1 << at.getWidth) - period)(of.last) // to a power of two, so that the bits of `at` select the word
    Delay(VecInit(of ++ last)(at))
  }
  private val s1Old = counts.read(at)
  private val s1At = Delay(at)
  private val s1Index = ofWord(addresses.map(address => indexOf(address.U(ControlPort.AddressBits.W))))
  private val s1More = ofWord(words.map(_.map(_.more).getOrElse(0.U).pad(mostBits)))
  private val s1IsHigh = ofWord(words.map(_.isEmpty.B))
  private val isLongs = at < longWords.U
  private val s1IsLong = Delay(isLongs)
  private val s1IsZero = Delay(isFirst || (clearing && isLongs))
  private val s2Carry = Reg(Bool())
  private val s1Low = s1Old(wordBits - 1, 0)
  private val s1Sum = (Cat(s1Low, true.B) +& Cat(s1More, s1IsHigh && s2Carry)) >> 1
  s2Carry := s1Sum(wordBits)
  private val s2Sum = Delay(Mux(s1IsZero, 0.U, s1Sum(wordBits - 1, 0)))
  private val s2IsOver = Delay(!s1IsZero && !s1IsLong && (s1Old(wordBits) || s1Sum(wordBits)))
  private val s2Index = Delay(s1Index)
  counts.write(true.B, Delay(s1At), Cat(s2IsOver, s2Sum))

  // -- the host's copy --
  private val isCopying, isFresh = RegInit(false.B)
  private val wants = io.request.valid && takesCopy(io.request.bits)
  when(start) { isCopying := wants && !isCopying && !isFresh && !clearAsked }
  when(Delay(start && isCopying, 2)) { isFresh := true.B }
  when(io.taken || !wants) { isFresh := false.B }
  private val s2Copies = Delay(isCopying, 2) && s2Index >> 2 === indexOf(io.request.bits) >> 2
  copies.write(s2Copies || Delay(isFirst, 2), s2Index, Cat(s2IsOver, s2Sum))
  private val isCleared = RegNext(RegNext(RegNext(!isFirst, false.B), false.B), false.B)
  io.ready := isCleared && (!takesCopy(io.request.bits) || isFresh)

  private val read = copies.read(indexOf(io.readAddress))
  private val isHere = RegEnable(isCount(io.request.bits), io.taken)
  io.word := Mux(isHere, read(wordBits - 1, 0) | Fill(wordBits, read(wordBits)), 0.U)

  private def isLow(address: UInt): Bool = address(ControlPort.AddressBits - 1, PageBits) === 0.U
  private def isLost(address: UInt): Bool = isLow(address) &&
    (0 until p.inputs).map(i => address(PageBits - 1, 4) === (R.LostFramesLow(i) >> 4).U).reduce(_ || _)
  private def isEvent(address: UInt): Bool = isLow(address) &&
    (address(PageBits - 1, 5) === (R.FlowEvents(0) >> 5).U || address(PageBits - 1, 2) === (R
      .RefreshesSkipped() >> 2).U ||
      (p.reports.B && address(PageBits - 1, 4) === (R.ReportEvents(0) >> 4).U))
  private def isCollisions(address: UInt): Bool =
    if (p.fq) isLow(address) && address(PageBits - 1, 3) === (R.FlowCollisionsLow() >> 3).U else false.B
  private def isCount(address: UInt): Bool = isLost(address) || isEvent(address) || isCollisions(address)
  private def takesCopy(address: UInt): Bool =
    isEvent(address) || (isLost(address) || isCollisions(address)) && address(3, 2) === 0.U
}

object EventCounts {

  /** The depth of a block RAM. Synthesis puts shallower memories into LUTs. */
  private val Depth = 512

  /** Address bits of the page that contains all counts. */
  private val PageBits = 12

  /** Words of flow_events. */
  private val EventWords = 8

  /** Words of report_events. */
  private val ReportWords = 4

  /** The index of a count's word in the copy. */
  private def indexOf(address: UInt): UInt = Cat(address(11), address(9, 2))
}
