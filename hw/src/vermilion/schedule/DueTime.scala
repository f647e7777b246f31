package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._

/** Rate and burst of one shaped thing. `costMant` 0 means not shaped. */
class ShaperConfig extends Bundle {
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
  val burstNs = UInt(40.W)
}

/** When something may send again, by virtual time.
  *
  * A byte costs costMant 2^-costShift ns. Something may send when now is at or behind `next`; having sent L bytes,
  * {{{
  *   next = base + cost,   base = next, but not before now - burstNs and not behind now,
  *   cost = (L costMant 2^16) >> costShift, U34.16 ns, rounded down
  * }}}
  * 64 kb/s is 125000 ns a byte, (m, s) = (125000, 0); 200 Gb/s is 0.04 ns, (167772, 22). Above 2^17 a mantissa is within 2^-18 of any
  * rate; rounding takes at most 2^-16 ns a packet. A burstNs shorter than the sender is late (`latenessClocks`) costs rate, so the
  * quantiser writes none.
  *
  * Time is compared in serial-number order, so that it may wrap. A debt, `next` ahead of now, is never longer than the cost of the packet
  * that made it; one of more bits than that cost (`debtBits`) says that the clock was set back, and counts as paid. So a clock set back,
  * however far, blocks nobody for longer than twice the cost of the packet last sent, and lets at most that packet's cost be forgotten.
  * What has not been charged for more than 39 hours, half the range, starts from now and not from now - burstNs.
  */
class DueTime extends Bundle {
  val next = UInt(DueTime.ClockBits.W)
  val debtBits = UInt(log2Ceil(DueTime.CostBits + 1).W)

  /** The bits of a debt that is none, to be kept a clock ahead for [[paid]]. */
  def tooMuch: UInt = VecInit(Seq.tabulate(DueTime.ClockBits)(bit => debtBits <= bit.U)).asUInt

  def paid(now: UInt, tooMuch: UInt): Bool =
    next === DueTime.clock(now) || ((next - DueTime.clock(now)) & tooMuch).orR

  /** In whole ns, rounded up. */
  def wholeNs: UInt = next(DueTime.ClockBits - 1, ShaperFrac) + next(ShaperFrac - 1, 0).orR
}

object DueTime {

  /** Bits of the virtual clock, U48.16 ns: a wrap apart, as wide as `now`. */
  val ClockBits = TimeBits + ShaperFrac

  /** Bits of one packet's cost, U34.16 ns: 17 s. */
  val CostBits = PktLenBits + CostMantBits + ShaperFrac

  /** Most clocks between the time a queue or the port is due and its charge, if nobody else is served in between: a scan of all queues,
    * and a choice with room to spare. A burst of at least so long costs no rate.
    */
  def latenessClocks(entries: Int): Int = entries + 64

  /** `now` as the virtual clock shows it. */
  def clock(now: UInt): UInt = now ## 0.U(ShaperFrac.W)
  def clock40(ns: UInt): UInt = (ns ## 0.U(ShaperFrac.W)).pad(ClockBits)

  /** `next`, but not before now - burst and not behind now. All as the virtual clock. */
  def base(next: UInt, now: UInt, burst: UInt): UInt = {
    val age = now - next
    val ahead = age(ClockBits - 1)
    Mux(ahead, now, Mux(age > burst, now - burst, next))
  }

  def after(base: UInt, cost: UInt): DueTime = {
    val due = Wire(new DueTime)
    due.next := Arithmetic.wrap(base + cost, ClockBits)
    due.debtBits := Mux(cost.orR, Log2(cost) + 1.U, 0.U)
    due
  }
}
