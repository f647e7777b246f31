package vermilion.report

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, Memory, MemoryKind, SweepInit}
import vermilion.lane.LaneParams

/** Chooses which drops and marks are reported: by queue and reason, one of so many, and at a limited rate.
  *
  * {{{
  *   cycle 0   `arrival`, `departure`            2   one event: sampled, and within the rate?
  *         1   the masks of their queues         3   `out`, or `limited`
  * }}}
  * At most one event is processed per cycle: that of a departure at once. Events of arrivals wait for cycles without one. If [[ReportSelector.Waiting]] of them wait, another is
  * `missed`: it counts for neither sampling nor rate.
  *
  * The rate is the generic cell rate algorithm (ITU-T I.371), by the events' own times: an event at time t is within the rate if t >= due - burst. Then due becomes
  * max(due, t) + interval. If `due` is more than burst + interval after t, as after a clock was set back, it counts as t.
  *
  * Meanwhile packets go on, and the cell of an event's packet may be written again. The event is then `gone`: its cell has the bytes of another packet.
  *
  * The model, `ReportSelector` of `sim/model/report.h`, is bit-exact. Masks are 0 after a reset. Until `ready`, after `queues` cycles, no event may come, and nothing may be selected.
  * An event in the cycle in which its queue is selected may be taken by the old mask, the new one, or any.
  */
class ReportSelector(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val settings = Input(new ReportSettings)
    val select = Flipped(Valid(new ReportSelect(p)))
    val arrival = Flipped(Valid(new ReportEvent(p)))
    val departure = Flipped(Valid(new ReportEvent(p)))
    val out = Valid(new ReportEvent(p))
    val written = Flipped(Valid(UInt(p.cellBits.W))) // a cell that the buffer writes
    val limited = Output(Bool())
    val missed = Output(Bool())
    val ready = Output(Bool())
  })

  private val masks = new Memory(p.queues, UInt(Reason.Count.W), MemoryKind.of(p.queues)).suggestName("masks")
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done
  masks.write(io.select.valid, io.select.bits.queue, io.select.bits.reasons)
  masks.write(!sweep.done, sweep.address, 0.U)

  assert(sweep.done || !io.select.valid, "reports are selected before the masks are cleared")

  /** The event in the next cycle. */
  private def delayed(event: ReportEvent): ReportEvent = {
    val next = WireInit(event)
    next.gone := event.gone || EventQueue.isWritten(io.written, event)
    Delay(next)
  }

  // -- cycle 1: is the event selected? --
  private def selected(event: Valid[ReportEvent]): Valid[ReportEvent] = {
    val out = Wire(Valid(new ReportEvent(p)))
    out.bits := delayed(event.bits)
    out.valid := RegNext(event.valid, false.B) && masks.read(event.bits.queue)(out.bits.reason)
    out
  }
  private val s1Departure = selected(io.departure)
  private val s1Arrival = selected(io.arrival)
  private val waiting = Module(new EventQueue(p, new ReportEvent(p), ReportSelector.Waiting)(identity))
  waiting.io.written := io.written
  waiting.io.enq.valid := s1Arrival.valid
  waiting.io.enq.bits := s1Arrival.bits
  waiting.io.deq.ready := !s1Departure.valid
  io.missed := s1Arrival.valid && !waiting.io.enq.ready
  private val s1Valid = s1Departure.valid || waiting.io.deq.valid
  private val s1 = Mux(s1Departure.valid, s1Departure.bits, waiting.io.deq.bits)

  // -- cycle 2: is it sampled, and within the rate? Sums of its time come from registers. --
  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2 = delayed(s1)
  private val width = s1.time.getWidth
  private def after(ns: UInt): UInt = Delay(Arithmetic.wrap(s1.time + ns, width))
  private val s2Next = after(io.settings.interval)
  private val s2Early = after(io.settings.burst)
  private val s2Latest = Delay(
    Arithmetic.wrap(s1.time + Arithmetic.wrap(io.settings.burst +& io.settings.interval, width), width)
  )
  private val skips = RegInit(0.U(io.settings.every.getWidth.W)) // selected events until the next is sampled
  private val due = RegInit(0.U(width.W))
  private val isSampled = s2Valid && (skips === 0.U || skips >= io.settings.every) // or `every` is less than it was
  private val isUnlimited = io.settings.interval === 0.U
  private val isLate = Arithmetic.reached(s2.time, due) || !Arithmetic.reached(s2Latest, due)
  private val isWithin = isUnlimited || isLate || Arithmetic.reached(s2Early, due)
  when(s2Valid) {
    skips := Mux(!isSampled, skips - 1.U, Mux(io.settings.every === 0.U, 0.U, io.settings.every - 1.U))
  }
  when(isSampled && isWithin && !isUnlimited) {
    due := Mux(isLate, s2Next, Arithmetic.wrap(due + io.settings.interval, width))
  }

  // -- cycle 3 --
  io.out.valid := RegNext(isSampled && isWithin, false.B)
  io.out.bits := delayed(s2)
  io.limited := RegNext(isSampled && !isWithin, false.B)
}

object ReportSelector {

  /** Events of arrivals that can wait. */
  val Waiting = 8
}
