package vermilion.report

import chisel3._
import chisel3.util.Valid
import vermilion.departure.JudgedPacket
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.policy.Decision
import vermilion.stream.Verdict

/** What became of a packet that a report tells. Up to `Policed` the numbers are those of [[vermilion.stream.Verdict]]. */
object Reason {
  val Marked = Verdict.Mark
  val Early = Verdict.Early
  val Forced = Verdict.Forced
  val Tail = Verdict.Tail
  val NoBuffer = Verdict.NoBuffer
  val Bad = Verdict.Bad
  val Policed = Verdict.Policed
  val Pool = 8 // dropped: the pool had no room
  val Evicted = 9 // a queued packet, dropped in place of the arriving one
  val VictimMarked = 10 // a queued packet, marked in place of the arriving one
  val DepartureDropped = 11
  val DepartureMarked = 12
  val Flushed = 13
  val Bits = 4

  /** Bits of a mask of reasons. */
  val Count: Int = 1 << Bits
}

/** A packet that was dropped or marked, as its verdict saw it. Fields without a meaning for the reason are 0. */
class ReportEvent(p: LaneParams) extends Bundle {
  val reason = UInt(Reason.Bits.W)
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val input = UInt(p.inputBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val time = UInt(TimeBits.W) // ns: of the verdict on arrival, or of the choice for departure
  val sojourn = UInt(ReportEvent.SojournBits.W) // ns, saturating
  val bytes = UInt(LenBits.W) // what was queued before the packet as it arrived, or after it as it was chosen
  val packets = UInt(LenBits.W) // the same; 0 at departure
  val average = UInt(AvgBits.W) // of the packet's colour
  val probability = UInt(ProbFrac.W) // saturating below 1.0
  val stored = Bool() // `cell` holds its first 64 bytes
  val cell = UInt(p.cellBits.W)
  val gone = Bool() // the cell has been written again since
}

object ReportEvent {
  val SojournBits = 32

  /** The event of a decision on arrival; not valid if the packet is enqueued and no other is its victim. */
  def ofDecision(p: LaneParams, decision: Valid[Decision]): Valid[ReportEvent] = {
    val d = decision.bits
    val outcome = d.outcome
    val (evicts, marks) =
      if (p.victims == 0) (false.B, false.B)
      else (d.pushOut && outcome.evicted, d.pushOut && outcome.victimMarked && !outcome.evicted)
    val ofVictim = evicts || marks
    val out = Wire(Valid(new ReportEvent(p)))
    out.valid := decision.valid && !d.refresh && (d.verdict =/= Verdict.Enqueue.U || ofVictim)
    val e = out.bits
    val own = Mux(d.verdict === Verdict.Tail.U && d.poolFull, Reason.Pool.U, d.verdict)
    e.reason := Mux(evicts, Reason.Evicted.U, Mux(marks, Reason.VictimMarked.U, own))
    e.queue := d.queue
    e.colour := Mux(ofVictim, outcome.victim.colour, d.colour)
    e.input := d.input
    e.lenBytes := Mux(ofVictim, outcome.victim.lenBytes, d.lenBytes)
    e.time := d.time
    e.sojourn := 0.U
    val counted = ofVictim || !Seq(Verdict.NoBuffer, Verdict.Bad, Verdict.Policed).map(d.verdict === _.U).reduce(_ || _)
    val averages = VecInit(d.average.toSeq :+ d.average.last) // a power of two
    e.bytes := Mux(counted, d.queued.bytes, 0.U)
    e.packets := Mux(counted, d.queued.packets, 0.U)
    e.average := Mux(counted && !ofVictim, averages(d.colour), 0.U)
    e.probability := Mux(counted && !ofVictim, Arithmetic.saturate(d.probability, ProbFrac), 0.U)
    e.stored := ofVictim || d.stored.getOrElse(false.B)
    e.cell := Mux(ofVictim, outcome.victim.cell, d.headCell)
    e.gone := false.B
    out
  }

  /** The event of a packet that leaves its queue; not valid if it is sent as it is. `behind` are the bytes that were queued after it when it was chosen. */
  def ofDeparture(p: LaneParams, judged: Valid[JudgedPacket], chosen: UInt, behind: UInt): Valid[ReportEvent] = {
    val j = judged.bits
    val out = WireInit(0.U.asTypeOf(Valid(new ReportEvent(p))))
    out.valid := judged.valid && (j.flushed || j.dropped || j.marked)
    val e = out.bits
    e.reason := Mux(
      j.flushed,
      Reason.Flushed.U,
      Mux(j.dropped, Reason.DepartureDropped.U, Reason.DepartureMarked.U)
    )
    e.queue := j.queue
    e.colour := j.queueEntry.colour
    e.lenBytes := j.queueEntry.lenBytes
    e.time := chosen
    e.sojourn := Arithmetic.saturate(Arithmetic.wrap(chosen - j.queueEntry.arrival, TimeBits), SojournBits)
    e.bytes := behind
    e.stored := true.B
    e.cell := j.queueEntry.headCell
    out
  }
}

/** Which events are reported, and how often. */
class ReportSettings extends Bundle {
  val every = UInt(16.W) // one of so many selected events; 0 as 1
  val interval = UInt(32.W) // ns from report to report in the long run; 0: no limit
  val burst = UInt(32.W) // ns by which reports may be early
  val ethernet = UInt((14 * 8).W) // the Ethernet header of a report, its first byte in the highest bits
}

/** Writes the reasons for which packets of a queue are reported: bit r for reason r. */
class ReportSelect(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val reasons = UInt(Reason.Count.W)
}

/** Numbers of events in a cycle, for the counters. */
class ReportCounts extends Bundle {
  val offered = Bool() // selected, sampled and within the rate
  val lost = UInt(2.W) // offered without a free place, or selected and not even sampled
  val limited = Bool() // selected and sampled, but above the rate
  val headless = Bool() // a report leaves without the packet's first bytes, although the packet was stored
}

/** The ports between a control port and the reports of a lane. */
class ReportPorts(p: LaneParams) extends Bundle {
  val settings = Input(new ReportSettings)
  val select = Flipped(Valid(new ReportSelect(p)))
  val counts = Output(new ReportCounts)
  val ready = Output(Bool()) // until then nothing may be selected
}
