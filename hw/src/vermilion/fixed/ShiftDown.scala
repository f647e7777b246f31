package vermilion.fixed

import chisel3._
import chisel3.util.{Cat, Fill}

/** Shifts to the right by a variable distance and keeps few bits of the result.
  *
  * It consists of 4-to-1 multiplexers, the greatest distance first, so that each stage has only bits that can still be kept. (The shift operator
  * becomes 2-to-1 multiplexers of full width.)
  *
  * In parallel with the shift, a mask shows whether the shifted number exceeds the kept bits. The mask depends only on the distance and is computed
  * one cycle before: `x >> shift >= 2^bits` if x has a bit set at `bits + shift` or above.
  */
object ShiftDown {

  /** The lowest `bits` bits of `x >> shift`. */
  def apply(x: UInt, shift: UInt, bits: Int): UInt = filled(x, false.B, shift, bits)

  /** The lowest `bits` bits of `x >> shift`, with sign extension. */
  def signed(x: SInt, shift: UInt, bits: Int): UInt = filled(x.asUInt, x(x.getWidth - 1), shift, bits)

  private def filled(x: UInt, fill: Bool, shift: UInt, bits: Int): UInt = {
    require(x.isWidthKnown && shift.isWidthKnown, "a shifted number, or its shift, is of no known width")
    (0 until shift.getWidth by 2).reverse.foldLeft(x) { (from, low) =>
      choice(from, fill, shift((low + 1).min(shift.getWidth - 1), low), low, bits)
    }
  }

  /** `x` shifted by `n << low`, including the bits above `bits` that the smaller distances can still shift down. */
  private def choice(x: UInt, fill: Bool, n: UInt, low: Int, bits: Int): UInt = {
    val (step, width) = (1 << low, bits + (1 << low) - 1)
    val choices = 1 << n.getWidth
    val missing = width + (choices - 1) * step - x.getWidth
    val all = if (missing > 0) Cat(Fill(missing, fill), x) else x
    VecInit((0 until choices).map(n => all(n * step + width - 1, n * step)))(n)
  }

  /** The mask for numbers of `width` bits of which `bits` are kept; for [[saturated]]. */
  def mask(shift: UInt, width: Int, bits: Int): UInt =
    VecInit((0 until width - bits).map(i => shift <= i.U)).asUInt

  /** `x >> shift`, or the greatest value of `bits` bits if that is less. `mask` is the mask of `shift`. */
  def saturated(x: UInt, shift: UInt, mask: UInt, bits: Int): UInt =
    apply(x, shift, bits) | Fill(bits, (x(x.getWidth - 1, bits) & mask).orR)
}
