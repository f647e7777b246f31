package vermilion.nic

import chisel3._
import chisel3.util._

/** Accumulates events into totals in one RAM.
  *
  * Each slot counts its events in a few flip-flops. In each cycle one slot, in order, adds its flip-flops to its total.
  * So a total is at most `slots` + 2 cycles late. Totals wrap.
  * {{{
  *   cycle 0  `turn`: total and flip-flops are read      1  added      2  `close` writes the sum
  * }}}
  *
  * @param amounts the amount to add in this cycle, for each slot
  * @param bits    of a total
  * @param initial of every total, after a reset
  */
class EventTotals(amounts: Seq[UInt], bits: Int, initial: BigInt = 0) {
  require(amounts.nonEmpty, "amounts is empty; legal are one and more")

  /** Slots, a power of two, at least 4 so that an update ends before the next update of its slot. */
  val slots: Int = 1 << log2Ceil(amounts.size.max(4))
  private val slotBits = log2Ceil(slots)
  private val ram = Mem(slots, UInt(bits.W))
  private val index = RegInit(0.U(slotBits.W))
  private val clear = RegInit(true.B) // the first pass over the slots: the RAM is not initialised yet
  index := index + 1.U
  when(index.andR) { clear := false.B }

  private val waiting = amounts.zipWithIndex.map { case (amount, i) =>
    val sum = RegInit(0.U((amount.getWidth + slotBits).W))
    sum := Mux(index === i.U, 0.U, sum) + amount
    i.U -> sum.pad(bits)
  }
  private val s1Slot = RegNext(index)
  private val s1Total = RegNext(Mux(clear, initial.U(bits.W), ram.read(index)))
  private val s1Added = RegNext(MuxLookup(index, 0.U(bits.W))(waiting))
  private val s1Valid = RegNext(true.B, false.B)

  /** The slot and the sum that are about to be written. */
  val slot: UInt = RegNext(s1Slot)
  val sum: UInt = RegNext((s1Total + s1Added)(bits - 1, 0))
  val valid: Bool = RegNext(s1Valid, false.B)

  /** Writes the sum less `taken`. Call it exactly once. */
  def close(taken: UInt = 0.U): Unit = when(valid) { ram.write(slot, sum - taken) }

  /** A total, in the same cycle. */
  def read(at: UInt): UInt = Mux(clear, initial.U(bits.W), ram.read(at))
}
