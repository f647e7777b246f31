package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.policy.Decision
import vermilion.stream._
import vermilion.victim.Distance

/** The ports between the statistics and the host's registers. */
class StatisticsWindow(p: LaneParams) extends Bundle {
  val snapshot = Flipped(Valid(UInt(p.queueBits.W))) // ignored while `snapshotting`
  val clear = Input(Bool())
  val live = Input(Vec(Colour.Count, UInt(AvgBits.W))) // averages of the queue in `snapshot`
  val index = Input(UInt(StatisticsWindow.IndexBits.W)) // word of the window
  val word = Output(UInt(32.W)) // two cycles later
  val snapshotting = Output(Bool())
  val clearing = Output(Bool()) // a clear waits, or stale records are being rewritten
}

object StatisticsWindow {

  /** 32-bit words of the window. Its layout is that of `window` in `hw/regs/vermilion.rdl`. */
  val Words = 1024
  val IndexBits = 10
}

object Statistics {

  /** Consecutive cycles in which a snapshot or a visit waits for a cycle without an event, before `skip` requests one. */
  private val Patience = 64

  /** The bin of the latency histogram for an age in ns: its logarithm. An age of 0 is in bin 0, all ages beyond the range are in the last bin. */
  private[stats] def bin(age: UInt): UInt = {
    import WindowProgram.Bins
    Mux(age(age.getWidth - 1, Bins - 1).orR, (Bins - 1).U, Log2(age(Bins - 1, 0)))
  }

  /** The low and the high word of a number. */
  private[stats] def halves(x: UInt): Seq[UInt] = Seq(x(31, 0), x(x.getWidth - 1, 32))
}

/** Counts packets and bytes per queue and colour, backlog, high-water marks and the latency histogram of every queue, all in RAM.
  *
  * Builds with the victim search also count the evicted packets by distance, and push-outs. A packet is lost if it is dropped early,
  * forced or at the limit, or evicted. A decision loses at most one packet. A victim is a queued packet that was evicted or marked CE.
  *
  * Events, at most one of each kind per cycle: a decision (refreshes are no events), a departure, a CE written. Each kind has
  * its own RAMs, so that each RAM has one writer. They are [[RecordRam]]s of one or two 64-bit counters:
  * {{{
  *   decision   outcomes (queue, colour, verdict): packets, bytes         marked (queue, colour in, colour out): packets
  *              victims (queue, evicted or marked, colour of the victim): packets, bytes
  *              pushOuts (queue): held, stale
  *              distances (queue, distance of the packet that was dropped): lost, victims
  *   departure  departures (queue, fate, colour): packets, bytes
  *              latency (queue, log2 of ns), of those sent: packets
  *   rewrite    ceWritten (queue, colour): packets, bytes
  * }}}
  * [[QueueGauges]] holds the backlogs and their peaks. All other values of the window are sums ([[WindowProgram]]).
  * In every snapshot  arrived = enqueued + early + forced + tail + nobuf + bad + policed  for each colour, and over the colours
  * enqueued = sent + flushed + evicted + dropped at departure + backlog  if nothing was queued at the last clear. Counters wrap at 2^64.
  *
  * Events count two cycles after they are shown. So a snapshot or clear is as of two cycles before its request, in all
  * RAMs alike. A departure in the cycle of an enqueue does not lower that enqueue's high-water mark.
  * Latency is `now - arrival` when the departure is shown, in 1 ns steps, modulo 2^48 ns.
  *
  * A snapshot takes 260 cycles, with the victim search at most 676, with `codel` 64 more ([[WindowWriter]]). It takes one more for each cycle in which a word waits for
  * a cycle without an event of its kind. The rewriting of stale records after a clear waits in the same way.
  * If either waits in `Statistics.Patience` consecutive cycles, `skip` requests a cycle in which no packet is decided and none is taken.
  * After reset `ready` is low for 32 cycles per queue, with the victim search 64. Events until then are lost, and counters and gauges of a snapshot are 0.
  */
class Statistics(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val decision = Flipped(Valid(new Decision(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val ceWritten = Flipped(Valid(new Departure(p)))
    val window = new StatisticsWindow(p)
    val skip = Output(Bool())
    val ready = Output(Bool())
  })

  import Statistics.{bin, halves}
  import WindowProgram.{Bins, Source}

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
    if (searched) io.decision.valid && d.pushOut && flag else false.B,
    d.queue,
    outcome.victim.colour,
    outcome.victim.lenBytes
  )
  private val evicted = victimEvent(outcome.evicted)
  private val victimMarked = victimEvent(outcome.victimMarked)
  private val dropped = Seq(Verdict.Early, Verdict.Forced, Verdict.Tail).map(d.verdict === _.U).reduce(_ || _)
  // A decision loses at most one packet: a queued one, or the arriving one, which is lost unless it is marked.
  private def shown(flag: Bool): Bool = RegNext(io.decision.valid && !d.refresh && flag, false.B)
  private val victimGoes = d.pushOut && (outcome.evicted || outcome.victimMarked)
  private val lostDistance = RegNext(Mux(victimGoes, outcome.victim.distance, d.distance))
  private val loses = shown(Mux(victimGoes, outcome.evicted, dropped))
  private val hasVictim = shown(victimGoes)
  private val pushesOut = shown(d.pushOut)
  private val stale = RegNext(outcome.stale)
  private val departed =
    event(io.departed.valid, io.departed.bits.queue, io.departed.bits.colour, io.departed.bits.lenBytes)
  private val written =
    event(io.ceWritten.valid, io.ceWritten.bits.queue, io.ceWritten.bits.colour, io.ceWritten.bits.lenBytes)
  // The arrival time comes late, from the queue entries' RAM. It is subtracted in that cycle, and the bin is found in the next.
  private val fate = RegNext(WindowProgram.Fate(io.departed.bits))
  private val isSent = !fate.xorR // see WindowProgram.Fate
  private val departedAge = Delay((io.now - io.departed.bits.arrival)(TimeBits - 1, 0))
  private val departedBin = bin(departedAge)

  // -- clear and snapshot --
  private val epoch = RegInit(false.B)
  private val flipped = WireInit(false.B)
  private val start = WireInit(false.B)
  private val queue = RegEnable(io.window.snapshot.bits, 0.U(p.queueBits.W), start)
  private val writer = new WindowWriter(WindowProgram(searched, p.codel), start)
  private val control = new RecordControl(epoch, flipped, start, writer.walking, queue, writer.slot)
  private def records(slots: Int, fields: Int) = new RecordRam(p.queues, slots, fields, control)
  private val outcomes = records(32, 2)
  private val marked = records(16, 1)
  private val ceWritten = records(4, 2)
  private val departures = records(if (p.codel) 16 else 8, 2)
  private val latency = records(Bins, 1)
  private val victims = Option.when(searched)(records(8, 2))
  private val distances = Option.when(searched)(records(1 << Distance.Bits, 2))
  private val pushOuts = Option.when(searched)(records(1, 2))
  private val gauges = new QueueGauges(p, epoch, flipped, start, io.window.snapshot.bits)
  private val sources = Seq(
    Source.Outcomes -> outcomes,
    Source.Marked -> marked,
    Source.CeWritten -> ceWritten,
    Source.Departures -> departures,
    Source.Latency -> latency
  ) ++ victims.map(Source.Victims -> _) ++ distances.map(Source.Distances -> _) ++ pushOuts.map(Source.PushOuts -> _)
  private val all = sources.map(_._2)

  private val walking = writer.walking
  private val sweeping = all.map(_.sweeping).reduce(_ || _) || gauges.sweeping
  io.ready := all.map(_.ready).reduce(_ && _) && gauges.ready
  private val clearAsked = RegInit(false.B)
  when(io.window.clear) { clearAsked := true.B }
  start := io.window.snapshot.valid && !walking
  flipped := clearAsked && !walking && !start && !sweeping && io.ready
  when(flipped) {
    epoch := !epoch
    clearAsked := io.window.clear
  }
  private val patience = RegInit(0.U(log2Ceil(Statistics.Patience).W))
  private val waits = all.map(_.waits).reduce(_ || _)
  patience := Mux(waits, patience + 1.U, 0.U)
  io.skip := RegNext(waits && patience.andR, false.B)
  io.window.snapshotting := walking
  io.window.clearing := clearAsked || sweeping || !io.ready

  // -- counting --
  private val enqueued = decided.valid && (verdict === Verdict.Enqueue.U || verdict === Verdict.Mark.U)
  private def counted(ram: RecordRam, e: Valid[Event], slot: UInt): Unit =
    ram.event(e.valid, e.bits.queue, slot)(1.U, RegNext(e.bits.lenBytes))
  counted(outcomes, decided, Cat(decided.bits.colour, verdict))
  marked.event(decided.valid, decided.bits.queue, Cat(RegNext(d.mark.colour), decided.bits.colour))(1.U)
  for (ram <- victims) {
    val victim = WireInit(evicted)
    victim.valid := evicted.valid || victimMarked.valid
    counted(ram, victim, Cat(evicted.valid, evicted.bits.colour))
  }
  for (ram <- distances)
    ram.event(loses || hasVictim, decided.bits.queue, lostDistance)(RegNext(loses), RegNext(hasVictim))
  for (ram <- pushOuts) ram.event(pushesOut, decided.bits.queue, 0.U)(1.U, RegNext(stale))
  counted(ceWritten, written, written.bits.colour)
  counted(departures, departed, Cat(fate, departed.bits.colour))
  latency.event(departed.valid && isSent, departed.bits.queue, departedBin)(1.U)
  gauges.count(
    enqueued,
    decided.bits.queue,
    RegNext(decided.bits.lenBytes),
    Option.when(searched)((RegNext(evicted.valid), RegNext(evicted.bits.lenBytes))),
    departed.valid,
    departed.bits.queue,
    RegNext(departed.bits.lenBytes)
  )

  // -- the window --
  private val live = RegEnable(io.window.live, start)
  private val time = RegEnable(io.now, start)
  for ((name, ram) <- sources) writer.source(name, ram.ask, ram.atStart(_))
  writer.source(Source.Gauges, gauges.words ++ live.flatMap(halves) ++ halves(time) :+ queue)
  io.window.word := writer.read(io.window.index)
}
