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
  * What a clock brings, up to one event of each kind, waits in an [[EventQueue]] until its turn comes: CE mark, decision, departure, each in two clocks.
  * {{{
  *             first clock                                           second
  *   CE mark   ceWritten (colour): packets, bytes
  *   decision  outcomes (colour, verdict): packets, bytes; gauges    marked (colour in, colour out): packets
  *   departure sent (colour): packets, bytes; gauges                 latency (bin): packets
  * }}}
  * All counters are in one RAM of 64 records a queue, each of two counters of 64 bits and the epoch in which it was written
  * ([[CounterPlaces]]): read in the clock behind the event's turn, added to and written in the next. Two events of one kind are two clocks apart, so nothing is
  * forwarded; the RAM has one read port and one adder for each of a record's counters. A frame of 8 beats needs at most 6 of 8 clocks.
  *
  * '''Snapshot and clear''' stand in the same queue, in front of the events of their clock. So each is of one moment in the order of events, for all counters and
  * gauges: it is as of all events shown up to two clocks before it is asked for, as in [[Statistics]], whenever its turn comes.
  * A snapshot is read while nothing is counted, so nothing needs saving: 264 clocks, after those that events before it still need. That is a
  * few clocks where the last snapshot is long ago; with the densest frames of 8 beats and a request in the very clock in which the last snapshot
  * ends 800. Averages and time are those of the request.
  * A clear flips the epoch: a record of another one counts as 0. A visit then rewrites stale records in clocks in which nothing waits; the next clear waits for it.
  *
  * Frames of less than 8 beats can depart faster than they are counted. When hundreds do so, `crowded` holds departures back until there is room;
  * no event is lost ([[EventQueue]]).
  * `ready` is low for 64 clocks a queue after reset; events until then are lost, and counters and gauges of a snapshot are 0.
  */
class StatisticsInTurn(p: LaneParams) extends StatisticsPorts(p) {
  import Statistics.{bin, halves}
  import WindowProgram.Source
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
  for ((valid, colour) <- Seq(happened.decided -> happened.decision.colour, happened.decided -> happened.decision.came))
    assert(!valid || colour =/= 3.U, "no such colour")
  private val events = Module(new EventQueue(p))
  events.io.in.valid := happened.any
  events.io.in.bits := happened
  io.crowded := events.io.crowded

  // -- whose turn it is: the host, CE mark, decision, departure --
  private val head = events.io.out.bits
  private val second = RegInit(false.B) // of two clocks
  private val hostDone, writtenDone, decidedDone = RegInit(false.B)
  private val host = (head.snapshot || head.clear) && !hostDone
  private val written = head.written && !writtenDone && !host
  private val decided = head.decided && !decidedDone && !host && !written
  private val departed = !host && !written && !decided
  private val ended = Wire(Bool()) // a turn, in the clock before: its last record is about to be written
  private val visits = visiting && !events.io.out.valid && !ended
  private val active = events.io.out.valid && !RegNext(visits, false.B) // two clocks behind the last visit
  private val first = active && !second
  private val start = first && host && head.snapshot
  private val writer = new WindowWriter(searched = false, start, CounterPlaces(_))
  private val more = Mux(host, head.written || head.decided || head.departed, Mux(written, head.decided, false.B)) ||
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
    decidedDone := more && (decidedDone || decided)
  }
  when(asks) { snapshotting := true.B }.elsewhen(ends && host && head.snapshot) { snapshotting := false.B }

  // -- clear and visits --
  private val epoch = RegInit(false.B)
  private val visit = RegInit(0.U(log2Ceil(p.queues * CounterPlaces.Slots).W))
  when(ends && host && head.clear) {
    epoch := !epoch
    clearWaits := false.B
    visiting := true.B
  }
  when(visits) {
    visit := visit + 1.U
    when(visit === (p.queues * CounterPlaces.Slots - 1).U) {
      visit := 0.U
      visiting := false.B
      ready := true.B
    }
  }

  // -- whose record, and which packet --
  private val counts = active && !host && !(written && second)
  private def choose[T <: Data](write: T, decision: T, departure: T): T =
    Mux(written, write, Mux(decided, decision, departure))
  private def packet[T <: Data](field: CountedPacket => T): T =
    choose(field(head.ceWrite), field(head.decision), field(head.departure))
  private val colour = packet(_.colour)
  private val place = choose(
    CounterPlaces.at(CounterPlaces.CeWritten, colour),
    Mux(
      second,
      CounterPlaces.at(CounterPlaces.Singles, Cat(head.decision.came, colour)),
      Cat(0.U(1.W), colour, head.decision.verdict)
    ),
    Mux(
      second,
      CounterPlaces.at(CounterPlaces.Singles, head.departure.bin),
      CounterPlaces.at(CounterPlaces.Sent, colour)
    )
  )
  private val s1Address = Delay(
    Mux(!events.io.out.valid, visit, Mux(host, Cat(queue, writer.slotNext), Cat(packet(_.queue), place)))
  )
  private val s1LenBytes = Delay(packet(_.lenBytes))
  private val s1Ready = RegNext(ready, false.B)
  private val s1Visits = RegNext(visits, false.B)
  private val s1Counts = RegNext(counts, false.B)
  private val s1IsSingle = RegNext(second) // the second record of the event, of which one counter counts
  private val s1Departed = RegNext(departed)

  // -- the record --
  private val CounterBits = 64
  private val records = new ForwardingRam(
    p.queues * CounterPlaces.Slots,
    UInt((2 * CounterBits + 1).W),
    UpdateRam.slice(p.queues * CounterPlaces.Slots)
  )
  private val s2Cleared = RegNext(s1Ready, false.B)
  private val s2Writes = RegNext(s1Counts || s1Visits, false.B)
  private val s2Address = Delay(s1Address)
  private val s2Bytes = Reg(UInt(PktLenBits.W))
  s2Bytes := Mux(s1Counts, Mux(s1IsSingle, s1Departed.asUInt, s1LenBytes), 0.U)
  private val s2Packets = RegNext(s1Counts && !(s1Departed && s1IsSingle))
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
    s1Address(s1Address.getWidth - 1, log2Ceil(CounterPlaces.Slots)),
    s1LenBytes,
    enters = RegNext(first && decided && Verdict.admits(head.decision.verdict), false.B),
    leaves = RegNext(first && departed, false.B),
    tidies = s1Visits
  )

  // -- the window --
  writer.source(Source.Records, take => Mux(isFresh, take(raw(2 * CounterBits - 1, 0)), 0.U))
  writer.source(Source.Gauges, gauges.words ++ live.flatMap(halves) ++ halves(time) :+ queue)
  io.window.word := writer.read(io.window.index)
}

/** Where a queue's 64 records of two counters have what [[WindowProgram]] names.
  * {{{
  *   0 to 23   outcomes, packets and bytes; 8 colour + verdict
  *   24 to 26  CE written, packets and bytes      28 to 30  sent, packets and bytes
  *   32 to 63  marked, 4 colour in + colour out, in the first counter; bins of the latency histogram in the second
  * }}}
  */
private[stats] object CounterPlaces {
  import WindowProgram.{Source, Step}
  val Slots = 64
  val CeWritten = 24
  val Sent = 28
  val Singles = 32

  /** A record's address in its queue: `offset` has only bits that are 0 in `first`. */
  def at(first: Int, offset: UInt): UInt = first.U(log2Ceil(Slots).W) | offset

  def apply(step: Step): Step = {
    def at(first: Int, field: Int) = step.copy(source = Source.Records, slot = first + step.slot, field = field)
    step.source match {
      case Source.Outcomes  => at(0, step.field)
      case Source.CeWritten => at(CeWritten, step.field)
      case Source.Sent      => at(Sent, step.field)
      case Source.Marked    => at(Singles, 0)
      case Source.Latency   => at(Singles, 1)
      case _                => step
    }
  }
}
