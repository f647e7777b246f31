package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.policy.Decision
import vermilion.stream._
import vermilion.victim.Distance

/** Packets and bytes, 64 bits each. */
class Count extends Bundle {
  val packets = UInt(64.W)
  val bytes = UInt(64.W)

  def plus(lenBytes: UInt): Count = {
    val sum = Wire(new Count)
    sum.packets := packets + 1.U
    sum.bytes := bytes + lenBytes
    sum
  }
}

/** What has gone into a queue or come out of it, modulo 2^27, and the greatest difference seen. */
class Passed extends Bundle {
  val bytes = UInt(LenBits.W)
  val packets = UInt(LenBits.W)
  val maxBytes = UInt(LenBits.W)
  val maxPackets = UInt(LenBits.W)
}

/** Of one distance: packets that a queue lost, and those among its queued packets that paid, dropped or marked. A decision
  * counts in one of its queue's records at most, so both stand in one word.
  */
class ByDistance extends Bundle {
  val lost = UInt(64.W)
  val victims = UInt(64.W)
}

/** Decisions in which a queued packet could pay, and those of them in which the search had turned void. */
class Contests extends Bundle {
  val held = UInt(64.W)
  val blind = UInt(64.W)
}

/** The host's side of the statistics, as the statistics see it. */
class StatisticsWindow(p: LaneParams) extends Bundle {
  val snapshot = Flipped(Valid(UInt(p.queueBits.W))) // ignored while `snapshotting`
  val clear = Input(Bool())
  val live = Input(Vec(Colour.Count, UInt(AvgBits.W))) // averages of the queue that `snapshot` names
  val index = Input(UInt(StatisticsWindow.IndexBits.W)) // word of the window
  val word = Output(UInt(32.W)) // two clocks later
  val snapshotting = Output(Bool())
  val clearing = Output(Bool()) // a clear waits or tidies up
}

object StatisticsWindow {

  /** 32-bit words of the window; its layout is that of `window` in `hw/regs/vermilion.rdl`. */
  val Words = 1024
  val IndexBits = 10
}

/** Counters per queue and colour, backlog, high-water marks and the latency histogram of every queue, all in RAM.
  *
  * Builds with the victim search count by distance, too, who was evicted, and contests. A packet that a queue loses is one that is dropped early,
  * forced or at the limit, or evicted; a decision loses at most one. A victim is a queued packet that was evicted or marked CE.
  *
  * Events, at most one a clock of each kind: a decision (refreshes are no events), a departure, a CE written. Each kind has
  * RAMs of its own, so that each RAM has one writer; they are [[RecordRam]]s:
  * {{{
  *   decision   arrived (queue, colour)    outcome (queue, colour, 1 enqueued .. 7 policed)    ceChosen (queue, colour)
  *              marked (queue, colour in, colour out)
  *              evicted (queue, colour of the victim)    contests (queue): held, blind
  *              distances (queue, distance of the packet that paid): lost, victims
  *              in (queue): bytes, packets, less those evicted; their greatest excess over out
  *   departure  sent (queue, colour)       latency (queue, log2 of ns)                     out (queue): bytes, packets
  *   rewrite    ceWritten (queue, colour)
  * }}}
  * In every snapshot  arrived = enqueued + early + forced + tail + nobuf + bad + policed  for each colour, and over the colours
  * enqueued = sent + evicted + backlog  if nothing was queued at the last clear. Counters wrap at 2^64.
  *
  * Events count two clocks after they are shown, so a snapshot or clear is as of two clocks before it is asked for, for all
  * RAMs alike. A departure in the clock of an enqueue does not lower that enqueue's
  * high-water mark. Latency is `now - arrival` when the departure is shown, in 1 ns steps, modulo 2^48 ns.
  * `ready` is low for 32 clocks a queue, with the victim search 64, after reset; events until then are lost.
  */
class Statistics(p: LaneParams) extends Module {
  import Statistics._
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val decision = Flipped(Valid(new Decision(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val ceWritten = Flipped(Valid(new Departure(p)))
    val window = new StatisticsWindow(p)
    val ready = Output(Bool())
  })

  // -- events, registered --
  private class Event extends Bundle {
    val queue = UInt(p.queueBits.W)
    val colour = UInt(2.W)
    val lenBytes = UInt(PktLenBits.W)
  }
  private def event(valid: Bool, queue: UInt, colour: UInt, lenBytes: UInt): Valid[Event] = {
    val next = Reg(Valid(new Event))
    next.valid := valid && !reset.asBool
    next.bits.queue := queue
    next.bits.colour := colour
    next.bits.lenBytes := lenBytes
    next
  }
  private val d = io.decision.bits
  private val decided = event(io.decision.valid && !d.refresh, d.queue, d.colour, d.lenBytes)
  private val verdict = RegNext(d.verdict)
  private val searched = p.victims != 0
  private val outcome = d.outcome
  private def victimEvent(flag: Bool): Valid[Event] = event(
    if (searched) io.decision.valid && d.contest && flag else false.B,
    d.queue,
    outcome.victim.colour,
    outcome.victim.lenBytes
  )
  private val evicted = victimEvent(outcome.evicted)
  private val victimMarked = victimEvent(outcome.victimMarked)
  private val dropped = Seq(Verdict.Early, Verdict.Forced, Verdict.Tail).map(d.verdict === _.U).reduce(_ || _)
  // One packet at most pays for a decision: a queued one, or the arriving one, which is lost unless it is marked.
  private def shown(flag: Bool): Bool = RegNext(io.decision.valid && !d.refresh && flag, false.B)
  private val victimPays = d.contest && (outcome.evicted || outcome.victimMarked)
  private val payerDistance = RegNext(Mux(victimPays, outcome.victim.distance, d.distance))
  private val loses = shown(Mux(victimPays, outcome.evicted, dropped))
  private val hasVictim = shown(victimPays)
  private val contested = shown(d.contest)
  private val blind = RegNext(outcome.blind)
  private val departed =
    event(io.departed.valid, io.departed.bits.queue, io.departed.bits.colour, io.departed.bits.lenBytes)
  private val written =
    event(io.ceWritten.valid, io.ceWritten.bits.queue, io.ceWritten.bits.colour, io.ceWritten.bits.lenBytes)
  private val age = (io.now - io.departed.bits.arrival)(TimeBits - 1, 0)
  private val bin = RegNext(Mux(age(TimeBits - 1, Bins - 1).orR, (Bins - 1).U, Log2(age(Bins - 1, 0))))

  // -- clear and snapshot --
  private val epoch = RegInit(false.B)
  private val flipped = WireInit(false.B)
  private val start = WireInit(false.B)
  private val queue = RegEnable(io.window.snapshot.bits, 0.U(p.queueBits.W), start)
  private val control = new RecordControl(epoch, flipped, start, queue)

  private val zeroCount = (_: Count) => 0.U.asTypeOf(new Count)
  private def counts(slots: Int) = new RecordRam(p.queues, slots, new Count, control)(zeroCount)
  private val arrived = counts(4)
  private val outcomes = counts(32)
  private val ceChosen = counts(4)
  private val ceWritten = counts(4)
  private val sent = counts(4)
  private val marked = new RecordRam(p.queues, 16, UInt(64.W), control)(_ => 0.U(64.W))
  private val latency = new RecordRam(p.queues, Bins, UInt(64.W), control)(_ => 0.U(64.W))

  // A clear leaves the backlog: it is what is there.
  private def withoutMax(x: Passed): Passed = {
    val y = WireInit(x)
    y.maxBytes := 0.U
    y.maxPackets := 0.U
    y
  }
  private val in = new RecordRam(p.queues, 2, new Passed, control)(withoutMax)
  private val out = new RecordRam(p.queues, 2, new Passed, control)(withoutMax)
  private val evictions = Option.when(searched)(counts(4))
  private val distances = Option.when(searched)(
    new RecordRam(p.queues, 1 << Distance.Bits, new ByDistance, control)(_ => 0.U.asTypeOf(new ByDistance))
  )
  private val contests = Option.when(searched)(
    new RecordRam(p.queues, 2, new Contests, control)(_ => 0.U.asTypeOf(new Contests))
  )
  private val all =
    Seq(arrived, outcomes, ceChosen, ceWritten, sent, marked, latency, in, out) ++ evictions ++ distances ++ contests

  private val walking = all.map(_.walking).reduce(_ || _)
  private val sweeping = all.map(_.sweeping).reduce(_ || _)
  io.ready := all.map(_.ready).reduce(_ && _)
  private val clearAsked = RegInit(false.B)
  when(io.window.clear) { clearAsked := true.B }
  start := io.window.snapshot.valid && !walking
  flipped := clearAsked && !walking && !start && !sweeping && io.ready
  when(flipped) {
    epoch := !epoch
    clearAsked := io.window.clear
  }
  io.window.snapshotting := walking
  io.window.clearing := clearAsked || sweeping || !io.ready

  // -- counting --
  private val enqueued = decided.valid && (verdict === Verdict.Enqueue.U || verdict === Verdict.Mark.U)
  private def counted(ram: RecordRam[Count], valid: Bool, e: Event, slot: UInt): Unit =
    ram.event(valid, e.queue, slot)(_.plus(RegNext(e.lenBytes)))
  private val kind = Mux(verdict === Verdict.Enqueue.U, Verdict.Mark.U, verdict) // a mark is an enqueue
  counted(arrived, decided.valid, decided.bits, decided.bits.colour)
  counted(outcomes, decided.valid, decided.bits, Cat(decided.bits.colour, kind))
  marked.event(decided.valid, decided.bits.queue, Cat(RegNext(d.mark.colour), decided.bits.colour))(_ + 1.U)
  private val chosen = Mux(victimMarked.valid, victimMarked.bits, decided.bits)
  counted(
    ceChosen,
    victimMarked.valid || (decided.valid && verdict === Verdict.Mark.U),
    chosen,
    chosen.colour
  )
  for (ram <- evictions) counted(ram, evicted.valid, evicted.bits, evicted.bits.colour)
  for (ram <- distances) ram.event(loses || hasVictim, decided.bits.queue, payerDistance) { old =>
    val next = Wire(new ByDistance)
    next.lost := old.lost + RegNext(loses)
    next.victims := old.victims + RegNext(hasVictim)
    next
  }
  for (ram <- contests) ram.event(contested, decided.bits.queue, 0.U) { old =>
    val next = Wire(new Contests)
    next.held := old.held + 1.U
    next.blind := old.blind + RegNext(blind)
    next
  }
  counted(ceWritten, written.valid, written.bits, written.bits.colour)
  counted(sent, departed.valid, departed.bits, departed.bits.colour)
  latency.event(departed.valid, departed.bits.queue, bin)(_ + 1.U)

  private def larger(a: UInt, b: UInt): UInt = Mux(a > b, a, b)
  private def wrapped(x: UInt): UInt = x(LenBits - 1, 0)
  private val gone = out.look(decided.bits.queue, 0.U)
  in.event(enqueued, decided.bits.queue, 0.U) { old =>
    val next = Wire(new Passed)
    val leaves = RegNext(evicted.valid)
    next.bytes := old.bytes + RegNext(decided.bits.lenBytes) - Mux(leaves, RegNext(evicted.bits.lenBytes), 0.U)
    next.packets := old.packets + !leaves
    next.maxBytes := larger(old.maxBytes, wrapped(next.bytes - gone.bytes))
    next.maxPackets := larger(old.maxPackets, wrapped(next.packets - gone.packets))
    next
  }
  out.event(departed.valid, departed.bits.queue, 0.U) { old =>
    val next = WireInit(old)
    next.bytes := old.bytes + RegNext(departed.bits.lenBytes)
    next.packets := old.packets + 1.U
    next
  }

  // -- the window: what is not in a RAM --
  private val live = RegEnable(io.window.live, start)
  private val time = RegEnable(io.now, start)

  // -- the window, word by word: look up, choose --
  private val index = io.window.index
  private val s1 = RegNext(index)
  private val colour = index(7, 6)
  private val rows =
    Seq(arrived.atSnapshot(colour), outcomes.atSnapshot(Cat(colour, Mux(index(5), Verdict.Policed.U, index(4, 2))))) ++
      Seq(ceChosen, ceWritten, sent).map(_.atSnapshot(colour))
  private val row = MuxLookup(s1(5, 2), 0.U.asTypeOf(new Count))(
    Seq(0.U -> rows(0)) ++ (1 to 6).map(_.U -> rows(1)) ++
      Seq(7.U -> rows(2), 8.U -> rows(3), 9.U -> rows(4), 10.U -> rows(1)) ++
      evictions.map(11.U -> _.atSnapshot(colour))
  )
  private val rowWords = VecInit(row.packets(31, 0), row.packets(63, 32), row.bytes(31, 0), row.bytes(63, 32))
  private val latencyRow = latency.atSnapshot(index(5, 1))
  private val markedRow = marked.atSnapshot((index(5, 1) - (MarkedWord / 2).U)(3, 0))
  private val inRow = in.atSnapshot(0.U)
  private val outRow = out.atSnapshot(0.U)
  private def half(x: UInt): UInt = Mux(s1(0), x(63, 32), x(31, 0))
  private def halves(x: UInt): Seq[UInt] = Seq(x(31, 0), x(x.getWidth - 1, 32).pad(32))
  private val gauges = Seq(
    wrapped(inRow.bytes - outRow.bytes),
    wrapped(inRow.packets - outRow.packets),
    inRow.maxBytes,
    inRow.maxPackets
  ) ++ live.flatMap(halves) ++ halves(time) :+ queue
  private val contestRows = contests.toSeq.flatMap { ram =>
    val row = ram.atSnapshot(0.U)
    (halves(row.held) ++ halves(row.blind)).zipWithIndex.map { case (x, i) => (ContestsWord + i).U -> x }
  }
  private val gauge = MuxLookup(s1(5, 0), 0.U(32.W))(
    gauges.zipWithIndex.map { case (x, i) => i.U -> x.pad(32) } ++ contestRows
  )
  private val isMarked = s1(5, 0) >= MarkedWord.U && s1(5, 0) < ContestsWord.U
  io.window.word := RegNext(
    MuxLookup(s1(9, 6), 0.U(32.W))(
      (0 until Colour.Count).map(c => c.U -> rowWords(s1(1, 0))) ++
        Seq(
          4.U -> half(latencyRow),
          5.U -> Mux(isMarked, half(markedRow), gauge)
        ) ++ distances.toSeq.flatMap { ram =>
          val row = ram.atSnapshot(index(6, 1))
          Seq(6, 7).map(_.U -> half(row.lost)) ++ Seq(8, 9).map(_.U -> half(row.victims))
        }
    )
  )
}

object Statistics {

  /** Bins of the latency histogram: bin k is 2^k to 2^(k+1)-1 ns. */
  val Bins = 32

  /** Words of the window's sixth block at which the matrix of marks and the contests begin. */
  private val MarkedWord = 16
  private val ContestsWord = 40
}
