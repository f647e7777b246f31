package vermilion.fixed

import chisel3._
import chisel3.util._

/** The only ways to make a number narrower. The model's functions of the same names are in `sim/model/formats.h`. */
object Arithmetic {

  /** `x` or the greatest value of `bits` bits. */
  def saturate(x: UInt, bits: Int): UInt =
    if (x.getWidth <= bits) x.pad(bits)
    else Mux(x(x.getWidth - 1, bits).orR, Fill(bits, 1.U(1.W)), x(bits - 1, 0))

  /** `x` or `limit`, whichever is less, in `bits` bits; `limit` must fit. */
  def saturateAt(x: UInt, limit: BigInt, bits: Int): UInt = {
    require(limit.bitLength <= bits, s"limit $limit does not fit $bits bits")
    val over = if (limit.bitCount == 1) (x >> limit.lowestSetBit).orR else x > limit.U
    Mux(over, limit.U(bits.W), x.pad(bits)(bits - 1, 0))
  }

  /** The low `bits` bits; for free-running counters, where a wrap is meant. */
  def wrap(x: UInt, bits: Int): UInt = x.pad(bits)(bits - 1, 0)

  /** Are two long words equal? Three bits of each to a LUT, and all of them along a carry chain, where synthesis would make a tree of twice the LUTs. */
  def same(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    val parts = (0 until a.getWidth by 3).map { low =>
      val high = (low + 2).min(a.getWidth - 1)
      a(high, low) === b(high, low)
    }
    all(parts)
  }

  /** Are all true? Along a carry chain, where synthesis would make a tree of LUTs, or a row of them. */
  def all(parts: Seq[Bool]): Bool = (VecInit(parts).asUInt +& 1.U)(parts.size)

  /** `a` is less than `b`, both of one width: a carry a bit, and no LUT behind it. Not both may be padded: firtool 1.155.0 takes the top bit of the difference
    * of two padded words for 0.
    */
  def less(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    (a -& b)(a.getWidth)
  }

  /** `a` and `b` together are `c` or more: one carry chain, as a LUT a bit makes two words of the three first. */
  def reachTogether(a: UInt, b: UInt, c: UInt): Bool = together(a, b, c, 1) // the 1 makes -c of ~c

  /** `a` and `b` together are more than `c`, in the same way. */
  def passTogether(a: UInt, b: UInt, c: UInt): Bool = together(a, b, c, 0)

  /** Is a + b + ~c + one positive, or 0? */
  private def together(a: UInt, b: UInt, c: UInt, one: Int): Bool = {
    val bits = a.getWidth.max(b.getWidth).max(c.getWidth) + 2
    val (x, y, z) = (a.pad(bits), b.pad(bits), (~c.pad(bits)).asUInt)
    val carries = wrap(Cat((x & y) | (x & z) | (y & z), one.U(1.W)), bits)
    !((x ^ y ^ z) + carries)(bits - 1)
  }

  /** Serial-number order (RFC 1982): `a` is at or behind `b`, both of the same width and less than half its range apart. */
  def reached(a: UInt, b: UInt): Bool = {
    require(a.getWidth == b.getWidth, s"widths are ${a.getWidth} and ${b.getWidth}; they must be the same")
    !(a - b)(a.getWidth - 1)
  }
}
