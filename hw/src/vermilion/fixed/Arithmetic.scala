package vermilion.fixed

import chisel3._
import chisel3.util._

/** Narrows and compares numbers. No other code makes a number narrower. The model's functions of the same names are in `sim/model/formats.h`. */
object Arithmetic {

  /** `x` or the greatest value of `bits` bits, whichever is less. */
  def saturate(x: UInt, bits: Int): UInt =
    if (x.getWidth <= bits) x.pad(bits)
    else Mux(x(x.getWidth - 1, bits).orR, Fill(bits, 1.U(1.W)), x(bits - 1, 0))

  /** `x` or `limit`, whichever is less, in `bits` bits; `limit` must fit. */
  def saturateAt(x: UInt, limit: BigInt, bits: Int): UInt = {
    require(limit.bitLength <= bits, s"limit $limit does not fit $bits bits")
    val over = if (limit.bitCount == 1) (x >> limit.lowestSetBit).orR else x > limit.U
    Mux(over, limit.U(bits.W), x.pad(bits)(bits - 1, 0))
  }

  /** The low `bits` bits; for free-running counters, which wrap by design. */
  def wrap(x: UInt, bits: Int): UInt = x.pad(bits)(bits - 1, 0)

  /** True if two long words are equal. Each LUT compares three bits of each word, and a carry chain combines the LUTs. On its own, synthesis would
    * build a tree with twice the LUTs.
    */
  def same(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    val parts = (0 until a.getWidth by 3).map { low =>
      val high = (low + 2).min(a.getWidth - 1)
      a(high, low) === b(high, low)
    }
    all(parts)
  }

  /** True if all parts are true. A carry chain combines them. On its own, synthesis would build a tree or a row of LUTs. */
  def all(parts: Seq[Bool]): Bool = (VecInit(parts).asUInt +& 1.U)(parts.size)

  /** True if `a` is less than `b`, both of the same width. It takes one carry per bit, and no LUT after the carry chain. At most one of the two may be
    * padded: firtool 1.155.0 replaces the top bit of the difference of two padded words by 0.
    */
  def less(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    (a -& b)(a.getWidth)
  }

  /** True if `a` + `b` is `c` or more. It takes one carry chain: before it, one LUT per bit reduces the three words to two. */
  def reachTogether(a: UInt, b: UInt, c: UInt): Bool = together(a, b, c, 1) // -c = ~c + 1

  /** True if `a` + `b` is more than `c`, in the same way. */
  def passTogether(a: UInt, b: UInt, c: UInt): Bool = together(a, b, c, 0)

  /** True if a + b + ~c + one is positive or 0. */
  private def together(a: UInt, b: UInt, c: UInt, one: Int): Bool = {
    val bits = a.getWidth.max(b.getWidth).max(c.getWidth) + 2
    val (x, y, z) = (a.pad(bits), b.pad(bits), (~c.pad(bits)).asUInt)
    val carries = wrap(Cat((x & y) | (x & z) | (y & z), one.U(1.W)), bits)
    !((x ^ y ^ z) + carries)(bits - 1)
  }

  /** Serial-number order (RFC 1982): true if `a` is equal to or later than `b`. Both have the same width and are less than half its range apart. */
  def reached(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    !(a - b)(a.getWidth - 1)
  }
}
