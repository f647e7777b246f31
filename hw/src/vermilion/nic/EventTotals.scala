package vermilion.nic

import chisel3._
import chisel3.util._

/** Sums of events, in one RAM that holds a total each.
  *
  * Events are added up in a few flip-flops each. One slot a clock is visited in turn: what its flip-flops hold goes to
  * its total, so a total is behind by `slots` + 2 clocks at most. Totals wrap.
  * {{{
  *   clock 0  `turn`: total and flip-flops are read      1  added      2  `change` of the sum is written
  * }}}
  *
  * @param amounts what is added in this clock, for each slot
  * @param bits    of a total
  * @param initial of every total, after a reset
  */
class EventTotals(amounts: Seq[UInt], bits: Int, initial: BigInt = 0) {
  require(amounts.nonEmpty, "amounts is empty; legal are one and more")

  /** Slots, a power of two, at least 4 so that a visit is done before the next of its slot. */
  val slots: Int = 1 << log2Ceil(amounts.size.max(4))
  private val slotBits = log2Ceil(slots)
  private val ram = Mem(slots, UInt(bits.W))
  private val turn = RegInit(0.U(slotBits.W))
  private val clear = RegInit(true.B) // the first round: the RAM holds nothing yet
  turn := turn + 1.U
  when(turn.andR) { clear := false.B }

  private val waiting = amounts.zipWithIndex.map { case (amount, i) =>
    val sum = RegInit(0.U((amount.getWidth + slotBits).W))
    sum := Mux(turn === i.U, 0.U, sum) + amount
    i.U -> sum.pad(bits)
  }
  private val s1Turn = RegNext(turn)
  private val s1Total = RegNext(Mux(clear, initial.U(bits.W), ram.read(turn)))
  private val s1Added = RegNext(MuxLookup(turn, 0.U(bits.W))(waiting))
  private val s1Valid = RegNext(true.B, false.B)

  /** The slot and the sum that are about to be written. */
  val slot: UInt = RegNext(s1Turn)
  val sum: UInt = RegNext((s1Total + s1Added)(bits - 1, 0))
  val valid: Bool = RegNext(s1Valid, false.B)

  /** Writes the sum less `taken`. To be called once. */
  def close(taken: UInt = 0.U): Unit = when(valid) { ram.write(slot, sum - taken) }

  /** A total, in the same clock. */
  def read(at: UInt): UInt = Mux(clear, initial.U(bits.W), ram.read(at))
}
