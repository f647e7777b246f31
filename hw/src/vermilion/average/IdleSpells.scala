package vermilion.average

import chisel3._

/** Which of a queue's colours has had a departure last, for any estimator's colours.
  *
  * Each two colours are compared once for all estimators.
  *
  * @param left ns since the last departure, of each colour
  */
class IdleSpells(left: Seq[UInt]) {
  private val colours = left.indices

  /** For each colour a and each b > a: a's time since its last departure is not longer than b's. */
  private val notLonger = colours.map(a => colours.map(b => if (a < b) left(a) <= left(b) else false.B))

  /** One bit a colour, for the colour of `mask` with the shortest time; none where `mask` is empty. Of equal ones, the first. */
  def shortest(mask: UInt): Seq[Bool] = colours.map { c =>
    val others = colours.filter(_ != c).map { o =>
      !mask(o) || (if (c < o) notLonger(c)(o) else !notLonger(o)(c))
    }
    mask(c) && others.reduce(_ && _)
  }
}
