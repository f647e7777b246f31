package vermilion.schedule

import chisel3._
import chisel3.util._

/** The next set bit above `last`, around the end: (index, whether it went around). Combinational.
  *
  * Wide bitmaps are searched in two levels of at most 32 bits, so that depth grows with the logarithm and no clock is spent on
  * an empty queue. Without a set bit the index is meaningless.
  */
object RoundRobinPick {
  private val Group = 32

  def apply(bitmap: UInt, last: UInt): (UInt, Bool) = {
    val width = bitmap.getWidth
    val above = VecInit((0 until width).map(i => i.U > last)).asUInt & bitmap
    val wrapped = !above.orR
    (lowest(Mux(wrapped, bitmap, above)), wrapped)
  }

  /** Index of the lowest set bit. */
  def lowest(bitmap: UInt): UInt = {
    val width = bitmap.getWidth
    val groups = (0 until width by Group).map(low => bitmap((low + Group).min(width) - 1, low))
    if (groups.size == 1) PriorityEncoder(bitmap).pad(log2Ceil(width).max(1))
    else {
      val index = PriorityEncoder(groups.map(_.orR))
      index ## VecInit(groups.map(g => PriorityEncoder(g.pad(Group))))(index)
    }
  }
}
