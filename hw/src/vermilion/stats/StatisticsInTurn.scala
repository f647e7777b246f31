package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.{Delay, ForwardingRam}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Verdict

/** The same counters as those of [[Statistics]], one record after the other: for lanes whose decisions are at least 8 clocks apart.
  *
  * What a clock brings, up to one event of each kind, waits in an [[EventQueue]] until its turn comes: CE mark, payment, decision, departure, each in two clocks.
  * {{{
  *             first clock                                           second
  *   CE mark   ceWritten (colour): packets, bytes
  *   payment   victims (evicted, marked or none, colour); gauges     distances (distance of who paid): lost, victims
  *   decision  outcomes (colour, verdict): packets, bytes; gauges    marked (colour in, colour out): packets
  *   departure sent (colour): packets, bytes; gauges                 latency (bin): packets
  * }}}
  * A payment is that of a decision in a build with the victim search: of a contest, or of a loss without one. A contest costs exactly one packet, so contests
  * are the sum of those that paid; none is blind, and that counter stays 0. A victim leaves its queue's backlog before the arriving packet enters it, so
  * the greatest backlog never holds both.
  *
  * All counters are in one RAM of 64 records a queue, with the search 128, each of two counters of 64 bits and the epoch in which it was written
  * ([[CounterPlaces]]): read in the clock behind the event's turn, added to and written in the next. Two events of one kind are two clocks apart, so nothing is
  * forwarded; the RAM has one read port and one adder for each of a record's counters. A frame of 8 beats needs at most 6 of 8 clocks.
  * With the search it needs 8 of 8 where every packet is contested, leaves, and leaves marked: one that is lost, or whose contest evicts another, spares a departure,
  * and one without a payment two clocks. So even then events are counted as fast as they come, but what a snapshot has let wait stays, until
  * `crowded` holds departures back: decisions alone need 4 of 8 clocks.
  *
  * '''Snapshot and clear''' stand in the same queue, in front of the events of their clock. So each is of one moment in the order of events, for all counters and
  * gauges: it is as of all events shown up to two clocks before it is asked for, as in [[Statistics]], whenever its turn comes.
  * A snapshot is read while nothing is counted, so nothing needs saving: 264 clocks, with the search 648, after those that events before it still need. That is a
  * few clocks where the last snapshot is long ago; with the densest frames of 8 beats and a request in the very clock in which the last snapshot
  * ends 800, without the search. Averages and time are those of the request.
  * A clear flips the epoch: a record of another one counts as 0. A visit then rewrites stale records in clocks in which nothing waits; the next clear waits for it.
  *
  * Frames of less than 8 beats can depart faster than they are counted. When hundreds do so, `crowded` holds departures back until there is room;
  * no event is lost ([[EventQueue]]).
  * `ready` is low for 64 clocks a queue, with the search 128, after reset; events until then are lost, and counters and gauges of a snapshot are 0.
  */
class StatisticsInTurn(p: LaneParams) extends StatisticsPorts(p) {
  import Statistics.{bin, halves}
  import WindowProgram.Source
  private val searched = p.victims != 0
  private val places = new CounterPlaces(searched)
  private val ready = RegInit(false.B)
  io.ready := ready

  // -- what the host wants --
  private val snapshotting = RegInit(false.B)
  private val asks = io.window.snapshot.valid && !snapshotting
  private val queue = RegEnable(io.window.snapshot.bits, 0.U(p.queueBits.W), asks)
  private val live = RegEnable(io.window.live, asks)
  private val time = RegEnable(io.now, asks)
  private val visiting = RegInit(true.B) // after a reset, and after a clear
  private val clearAsked, clearWaits = RegInit(false.B)
  private val clears = clearAsked && !clearWaits && !visiting
  when(clears) {
    clearAsked := false.B
    clearWaits := true.B
  }
  when(io.window.clear) { clearAsked := true.B }
  io.window.snapshotting := snapshotting
  io.window.clearing := clearAsked || clearWaits || visiting

  // -- what happens, a clock later --
  private def counted(valid: Bool): Bool = RegNext(valid && ready, false.B)
  private val happened = Wire(new ClockEvents(p))
  private val d = io.decision.bits
  happened.snapshot := asks
  happened.clear := clears
  happened.decided := counted(io.decision.valid && !d.refresh)
  happened.decision.queue := RegNext(d.queue)
  happened.decision.came := RegNext(d.mark.colour)
  happened.decision.colour := RegNext(d.colour)
  happened.decision.verdict := RegNext(d.verdict)
  happened.decision.lenBytes := RegNext(d.lenBytes)
  happened.departed := counted(io.departed.valid)
  happened.departure.queue := RegNext(io.departed.bits.queue)
  happened.departure.colour := RegNext(io.departed.bits.colour)
  happened.departure.lenBytes := RegNext(io.departed.bits.lenBytes)
  happened.departure.bin := bin(Delay(wrap(io.now - io.departed.bits.arrival, TimeBits)))
  happened.written := counted(io.ceWritten.valid)
  happened.ceWrite.queue := RegNext(io.ceWritten.bits.queue)
  happened.ceWrite.colour := RegNext(io.ceWritten.bits.colour)
  happened.ceWrite.lenBytes := RegNext(io.ceWritten.bits.lenBytes)
  for (payment <- happened.payment) {
    // One packet at most pays for a decision: a queued one, or the arriving one, which is lost unless it is marked.
    val dropped = Seq(Verdict.Early, Verdict.Forced, Verdict.Tail).map(d.verdict === _.U).reduce(_ || _)
    val victim = d.outcome.victim
    val victimPays = d.contest && (d.outcome.evicted || d.outcome.victimMarked)
    happened.paid.get := counted(io.decision.valid && !d.refresh && (d.contest || dropped))
    payment.contest := RegNext(d.contest)
    payment.evicted := RegNext(d.contest && d.outcome.evicted)
    payment.hasVictim := RegNext(victimPays)
    payment.lost := RegNext(Mux(victimPays, d.outcome.evicted, dropped))
    payment.colour := RegNext(victim.colour)
    payment.lenBytes := RegNext(Mux(victimPays, victim.lenBytes, 0.U))
    payment.distance := RegNext(Mux(victimPays, victim.distance, d.distance))
    assert(!happened.decided || !payment.contest || !RegNext(d.outcome.blind), "a contest was blind")
    assert(!happened.decided || !payment.hasVictim || payment.colour =/= 3.U, "no such colour of a victim")
  }
  for ((valid, colour) <- Seq(happened.decided -> happened.decision.colour, happened.decided -> happened.decision.came))
    assert(!valid || colour =/= 3.U, "no such colour")
  private val events = Module(new EventQueue(p))
  events.io.in.valid := happened.any
  events.io.in.bits := happened
  io.crowded := events.io.crowded

  // -- whose turn it is: the host, CE mark, payment, decision, departure --
  private val head = events.io.out.bits
  private val second = RegInit(false.B) // of two clocks
  private val hostDone, writtenDone, decidedDone = RegInit(false.B)
  private val paidDone = Option.when(searched)(RegInit(false.B))
  private val host = (head.snapshot || head.clear) && !hostDone
  private val written = head.written && !writtenDone && !host
  private val paid = paidDone.fold(false.B)(head.paid.get && !_ && !host && !written)
  private val decided = head.decided && !decidedDone && !host && !written && !paid
  private val departed = !host && !written && !paid && !decided
  private val ended = Wire(Bool()) // a turn, in the clock before: its last record is about to be written
  private val visits = visiting && !events.io.out.valid && !ended
  private val active = events.io.out.valid && !RegNext(visits, false.B) // two clocks behind the last visit
  private val first = active && !second
  private val start = first && host && head.snapshot
  private val writer = new WindowWriter(WindowProgram(searched, byPayer = true).map(places(_)), start, places.slotBits)
  private val more = Mux(host, head.written || head.decided || head.departed, Mux(written, head.decided, paid)) ||
    !departed && head.departed
  private val endsNext = Mux(host && head.snapshot, writer.ends, first)
  private val ends = RegNext(endsNext, false.B) // the turn; known before it is known of whom
  ended := RegNext(ends, false.B)
  events.io.next := RegNext(endsNext && !more, false.B)
  assert(!ends || active && second, "a turn ends that has not begun")
  when(active) { second := !ends }
  when(ends) {
    hostDone := more && (hostDone || host)
    writtenDone := more && (writtenDone || written)
    paidDone.foreach(done => done := more && (done || paid))
    decidedDone := more && (decidedDone || decided)
  }
  when(asks) { snapshotting := true.B }.elsewhen(ends && host && head.snapshot) { snapshotting := false.B }

  // -- clear and visits --
  private val epoch = RegInit(false.B)
  private val visit = RegInit(0.U(log2Ceil(p.queues * places.slots).W))
  when(ends && host && head.clear) {
    epoch := !epoch
    clearWaits := false.B
    visiting := true.B
  }
  when(visits) {
    visit := visit + 1.U
    when(visit === (p.queues * places.slots - 1).U) {
      visit := 0.U
      visiting := false.B
      ready := true.B
    }
  }

  // -- whose record, and which packet --
  private val counts = active && !host && !(written && second) &&
    head.payment.fold(true.B)(payment => !paid || second || payment.contest)
  // Of the four kinds two bits choose, in a LUT.
  private val kind = head.payment.map(_ => (written || paid, paid || departed))
  private def choose[T <: Data](write: T, payment: Option[T], decision: T, departure: T): T =
    kind.zip(payment).fold(Mux(written, write, Mux(decided, decision, departure))) { case ((high, low), payment) =>
      Mux(high, Mux(low, payment, write), Mux(low, departure, decision))
    }
  private def packet[T <: Data](field: CountedPacket => T, payment: CountedPayment => T): T =
    choose(field(head.ceWrite), head.payment.map(payment), field(head.decision), field(head.departure))
  private val colour = packet(_.colour, _.colour)
  private val place = choose(
    places.at(places.CeWritten, colour),
    head.payment.map(payment =>
      Mux(second, places.at(places.Distances, payment.distance), places.paid(payment, colour))
    ),
    Mux(
      second,
      places.at(places.Singles, Cat(head.decision.came, colour)),
      places.at(0, Cat(colour, head.decision.verdict))
    ),
    Mux(
      second,
      places.at(places.Singles, places.bin(head.departure.bin)),
      places.at(places.Sent, colour)
    )
  )
  private val ofQueue =
    choose(head.ceWrite.queue, head.payment.map(_ => head.decision.queue), head.decision.queue, head.departure.queue)
  private val s1Address = Delay(
    Mux(!events.io.out.valid, visit, Mux(host, Cat(queue, writer.slotNext), Cat(ofQueue, place)))
  )
  private val s1LenBytes = Delay(packet(_.lenBytes, _.lenBytes))
  private val s1Ready = RegNext(ready, false.B)
  private val s1Visits = RegNext(visits, false.B)
  private val s1Counts = RegNext(counts, false.B)
  private val s1IsSingle = RegNext(second) // the second record of the event: of a counter that counts, by one
  private val s1Departed = RegNext(departed)
  private val (s1SkipsFirst, s1CountsSecond) = head.payment.fold((s1Departed, s1Departed)) { payment =>
    val isFolded = places.isFolded(head.departure.bin)
    (
      RegNext(Mux(paid, !payment.lost, departed && !isFolded)),
      RegNext(Mux(paid, payment.hasVictim, departed && !isFolded))
    )
  }

  // -- the record --
  private val CounterBits = 64
  private val records = new ForwardingRam(
    p.queues * places.slots,
    UInt((2 * CounterBits + 1).W),
    UpdateRam.slice(p.queues * places.slots)
  )
  private val s2Cleared = RegNext(s1Ready, false.B)
  private val s2Writes = RegNext(s1Counts || s1Visits, false.B)
  private val s2Address = Delay(s1Address)
  private val s2Bytes = Reg(UInt(PktLenBits.W))
  s2Bytes := Mux(s1Counts, Mux(s1IsSingle, s1CountsSecond.asUInt, s1LenBytes), 0.U)
  private val s2Packets = RegNext(s1Counts && !(s1SkipsFirst && s1IsSingle))
  private val raw = records.glance(s1Address)
  private val isFresh = raw(2 * CounterBits) === epoch && s2Cleared
  private def old(field: Int): UInt =
    Mux(isFresh, raw(CounterBits * (field + 1) - 1, CounterBits * field), 0.U(CounterBits.W))
  // The short operand first: synthesis feeds it to the carry chain as it is, and the other through the LUT that masks it.
  private def sum(amount: UInt, old: UInt): UInt =
    wrap(Cat(0.U((CounterBits - amount.getWidth).W), amount) + old, CounterBits)
  assert(!((s1Counts || s1Visits) && s2Writes && s1Address === s2Address), "a record is read in the clock of its write")
  records.write(s2Writes, s2Address, Cat(epoch, sum(s2Bytes, old(1)), sum(s2Packets, old(0))))

  // -- gauges --
  private val gauges = new QueueGaugesInTurn(
    p,
    epoch,
    s1Ready,
    s1Address(s1Address.getWidth - 1, places.slotBits),
    s1LenBytes,
    enters = RegNext(first && decided && Verdict.admits(head.decision.verdict), false.B),
    leaves = RegNext(first && (departed || head.payment.fold(false.B)(paid && _.evicted)), false.B),
    tidies = s1Visits
  )

  // -- the window --
  writer.source(Source.Records, take => Mux(isFresh, take(raw(2 * CounterBits - 1, 0)), 0.U))
  writer.source(Source.Gauges, gauges.words ++ live.flatMap(halves) ++ halves(time) :+ queue)
  io.window.word := writer.read(io.window.index)
}

/** Where a queue's 64 records of two counters have what [[WindowProgram]] names, with the victim search 128.
  * {{{
  *    0 to 23   outcomes, packets and bytes; 8 colour + verdict
  *   24 to 26   CE written, packets and bytes      28 to 30  sent, packets and bytes
  *   32 to 63   marked, 4 colour in + colour out, in the first counter; bins of the latency histogram in the second
  * }}}
  * With the search the last eight bins stand in the first counters of 48 to 55, and in their stead, and behind all:
  * {{{
  *   56 to 58   victims marked, packets and bytes  60 to 62  victims evicted, packets and bytes
  *   59         contests that the arriving packet paid, in the first counter
  *   64 to 127  distances: lost in the first counter, victims in the second
  * }}}
  * No record of an event's second clock is one of another event's first, which may be the next.
  */
private[stats] class CounterPlaces(searched: Boolean) {
  import WindowProgram.{Bins, Source, Step}
  val slots: Int = if (searched) 128 else 64
  val slotBits: Int = log2Ceil(slots)
  val CeWritten = 24
  val Sent = 28
  val Singles = 32
  val Distances = 64
  private val Victims = 56
  private val Folded = 8 // bins

  /** A record's address in its queue: `offset` has only bits that are 0 in `first`. */
  def at(first: Int, offset: UInt): UInt = first.U(slotBits.W) | offset

  /** Where a contest counts: what became of a queued packet, of `colour`, if that paid. */
  def paid(payment: CountedPayment, colour: UInt): UInt =
    at(Victims, Cat(payment.evicted, Mux(payment.hasVictim, colour, WindowProgram.ArrivalPaid.U(2.W))))

  /** Whether a bin of the latency histogram stands in the first counter. */
  def isFolded(bin: UInt): Bool = if (searched) bin >= (Bins - Folded).U else false.B

  /** Where it stands. */
  def bin(bin: UInt): UInt = if (searched) bin & ~Mux(isFolded(bin), Folded.U, 0.U(log2Ceil(Bins).W)) else bin

  def apply(step: Step): Step = {
    def at(first: Int, field: Int) = step.copy(source = Source.Records, slot = first + step.slot, field = field)
    step.source match {
      case Source.Outcomes                                          => at(0, step.field)
      case Source.CeWritten                                         => at(CeWritten, step.field)
      case Source.Sent                                              => at(Sent, step.field)
      case Source.Marked                                            => at(Singles, 0)
      case Source.Latency if searched && step.slot >= Bins - Folded => at(Singles - Folded, 0)
      case Source.Latency                                           => at(Singles, 1)
      case Source.Victims                                           => at(Victims, step.field)
      case Source.Distances                                         => at(Distances, step.field)
      case _                                                        => step
    }
  }
}
