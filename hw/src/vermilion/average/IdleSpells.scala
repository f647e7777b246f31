package vermilion.average

import chisel3._

/** Finds the colour with the latest departure among an estimator's colours, for all estimators of a queue.
  *
  * All estimators share one comparison of each pair of colours.
  *
  * @param idle time in ns since the last departure of each colour
  */
class IdleSpells(idle: Seq[UInt]) {
  private val colours = idle.indices

  /** For each colour a and each b > a: the time since a's last departure is not longer than the time since b's. */
  private val notLonger = colours.map(a => colours.map(b => if (a < b) idle(a) <= idle(b) else false.B))

  /** One bit per colour, set for the colour of `mask` with the shortest time. No bit is set if `mask` is empty. Of equal times the first is used. */
  def shortest(mask: UInt): Seq[Bool] = colours.map { c =>
    val others = colours.filter(_ != c).map { o =>
      !mask(o) || (if (c < o) notLonger(c)(o) else !notLonger(o)(c))
    }
    mask(c) && others.reduce(_ && _)
  }
}
