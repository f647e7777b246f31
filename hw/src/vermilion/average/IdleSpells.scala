package vermilion.average

import chisel3._

/** How long a queue's estimators have been idle: the shortest of the times since the last departures of its colours and since its own last update.
  *
  * Each two colours are compared once for all estimators, and all compares stand beside each other.
  *
  * @param left ns since the last departure, of each colour
  */
class IdleSpells(left: Seq[UInt]) {
  private val colours = left.indices
  private val notLonger = colours.map(a => colours.map(b => if (a < b) left(a) <= left(b) else false.B))

  /** In ns; colours outside of `mask` do not count. Where two are equal, either gives the same. */
  def shortest(mask: UInt, updated: UInt): UInt = {
    val least = colours.map { c =>
      val others = colours.filter(_ != c).map { o =>
        !mask(o) || (if (c < o) notLonger(c)(o) else !notLonger(o)(c))
      }
      mask(c) && others.reduce(_ && _) && left(c) < updated
    }
    val which = least.zipWithIndex.foldRight(left.size.U) { case ((is, c), rest) => Mux(is, c.U, rest) }
    VecInit(left :+ updated)(which)
  }
}
