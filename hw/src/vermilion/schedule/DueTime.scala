package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._

/** Rate and burst of one shaper. A `costMant` of 0 means not shaped. */
class ShaperConfig extends Bundle {
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
  val burst = UInt(40.W) // ns
}

/** Records when a shaper allows the next packet, by virtual time.
  *
  * A byte costs costMant 2^-costShift ns. A packet may be sent when now is at or after `next`. After a packet of L bytes,
  * {{{
  *   next = base + cost,   base = next, but not before now - burst and not after now,
  *   cost = (L costMant 2^16) >> costShift, U34.16 ns, rounded down
  * }}}
  * 64 kb/s is 125000 ns a byte, (m, s) = (125000, 0). 200 Gb/s is 0.04 ns, (167772, 22). A mantissa above 2^17 is within 2^-18 of any
  * rate. Rounding takes at most 2^-16 ns per packet. A burst shorter than the scheduler's lateness (`latenessCycles`) reduces the rate,
  * so the quantiser writes none.
  *
  * Times are compared in serial-number order, so they may wrap. The debt is `next` - now, if `next` is after now.
  * A debt is at most the cost of the packet that made it. `debtBits` is the number of bits of that cost.
  * A debt with more bits shows that the clock was set back, and it counts as paid.
  * So a clock that is set back, by any amount, blocks a shaper for at most twice the cost of the last packet.
  * It lets the shaper forget at most that packet's cost.
  * After 39 hours (half the range) without a charge, the base is now, not now - burst.
  */
class DueTime extends Bundle {
  val next = UInt(DueTime.ClockBits.W)
  val debtBits = UInt(log2Ceil(DueTime.CostBits + 1).W)

  def paid(now: UInt): Bool = DueTime.paid(next, beyond, now)

  /** The bit positions of a debt that are above any cost of `debtBits` bits. */
  def beyond: UInt = VecInit(Seq.tabulate(DueTime.ClockBits)(place => debtBits <= place.U)).asUInt

  /** `next` in whole ns, rounded up. */
  def wholeNs: UInt = next(DueTime.ClockBits - 1, ShaperFrac) + next(ShaperFrac - 1, 0).orR
}

object DueTime {

  /** Bits of the virtual clock, U48.16 ns. Its integer part is as wide as `now`. */
  val ClockBits = TimeBits + ShaperFrac

  /** Bits of one packet's cost, U34.16 ns: 17 s. */
  val CostBits = PktLenBits + CostMantBits + ShaperFrac

  /** Most cycles from the time a queue or the port is due to its charge, if no other queue is served in between.
    * They are a scan of all queues, and a choice with margin. A burst of at least this length reduces no rate.
    */
  def latenessCycles(entries: Int): Int = entries + 64 // entries of all egresses

  /** `now` in the format of the virtual clock. */
  def clock(now: UInt): UInt = now ## 0.U(ShaperFrac.W)
  def clock40(ns: UInt): UInt = (ns ## 0.U(ShaperFrac.W)).pad(ClockBits)

  /** [[DueTime.paid]] for callers that hold `beyond` in registers. */
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

/** The length of a cost before its shift: bits of the product of length and costMant, plus `ShaperFrac`. It is 0 for a product of 0. */
class CostMagnitude extends Bundle {
  val bits = UInt(log2Ceil(DueTime.CostBits + 1).W)

  /** Bits of the cost after the shift. */
  def costBits(shift: UInt): UInt = Mux(bits > shift, bits - shift, 0.U)
}

object CostMagnitude {
  def apply(product: UInt): CostMagnitude = {
    // The product is split into groups of six bits, one LUT each. The highest group that is not 0 gives the result.
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
