package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._

/** Rate and burst of one shaped thing. `costMant` 0 means not shaped. */
class ShaperConfig extends Bundle {
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
  val burst = UInt(40.W) // ns
}

/** When something may send again, by virtual time.
  *
  * A byte costs costMant 2^-costShift ns. Something may send when now is at or behind `next`; having sent L bytes,
  * {{{
  *   next = base + cost,   base = next, but not before now - burst and not behind now,
  *   cost = (L costMant 2^16) >> costShift, U34.16 ns, rounded down
  * }}}
  * 64 kb/s is 125000 ns a byte, (m, s) = (125000, 0); 200 Gb/s is 0.04 ns, (167772, 22). Above 2^17 a mantissa is within 2^-18 of any
  * rate; rounding takes at most 2^-16 ns a packet. A burst shorter than the sender is late (`latenessClocks`) costs rate, so the
  * quantiser writes none.
  *
  * Time is compared in serial-number order, so that it may wrap. A debt, `next` ahead of now, is never longer than the cost of the packet
  * that made it; one of more bits than that cost (`debtBits`) says that the clock was set back, and counts as paid. So a clock set back,
  * however far, blocks nobody for longer than twice the cost of the packet last sent, and lets at most that packet's cost be forgotten.
  * What has not been charged for more than 39 hours, half the range, starts from now and not from now - burst.
  */
class DueTime extends Bundle {
  val next = UInt(DueTime.ClockBits.W)
  val debtBits = UInt(log2Ceil(DueTime.CostBits + 1).W)

  def paid(now: UInt): Bool = DueTime.paid(next, beyond, now)

  /** The places of a debt that are above any cost of `debtBits` bits. */
  def beyond: UInt = VecInit(Seq.tabulate(DueTime.ClockBits)(place => debtBits <= place.U)).asUInt

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
  def latenessClocks(entries: Int): Int = entries + 64 // of all egresses

  /** `now` as the virtual clock shows it. */
  def clock(now: UInt): UInt = now ## 0.U(ShaperFrac.W)
  def clock40(ns: UInt): UInt = (ns ## 0.U(ShaperFrac.W)).pad(ClockBits)

  /** [[DueTime.paid]] for those who hold `beyond` in registers. */
  def paid(next: UInt, beyond: UInt, now: UInt): Bool = {
    val tooMuch = ((next - clock(now)) & beyond).asBools.grouped(3).map(VecInit(_).asUInt.orR)
    next === clock(now) || !Arithmetic.all(tooMuch.map(!_).toSeq)
  }

  def after(next: UInt, debtBits: UInt): DueTime = {
    val due = Wire(new DueTime)
    due.next := Arithmetic.wrap(next, ClockBits)
    due.debtBits := debtBits
    due
  }
}

/** How long a cost is before its shift: bits of the product of length and costMant, and `ShaperFrac`; 0 for a product of 0. */
class CostMagnitude extends Bundle {
  val bits = UInt(log2Ceil(DueTime.CostBits + 1).W)

  /** Bits of the cost behind the shift. */
  def costBits(shift: UInt): UInt = Mux(bits > shift, bits - shift, 0.U)
}

object CostMagnitude {
  def apply(product: UInt): CostMagnitude = {
    // By groups of six bits, each a LUT: what its highest one says if no group above holds any.
    val groups = (0 until product.getWidth by 6).map(low => low -> product((low + 6).min(product.getWidth) - 1, low))
    val out = Wire(new CostMagnitude)
    val highest = PriorityEncoderOH(groups.map(_._2.orR).reverse).reverse
    out.bits := Mux1H(
      highest,
      groups.map { case (low, bits) =>
        val places = bits.asBools.indices.map(place => (low + place + 1 + ShaperFrac).U(out.bits.getWidth.W))
        Mux1H(PriorityEncoderOH(bits.asBools.reverse), places.reverse)
      }
    )
    out
  }
}
