package vermilion.average

import chisel3._

/** Which of a queue's colours has had a departure last, for any estimator's colours.
  *
  * Each two colours are compared once for all estimators.
  *
  * @param notLonger for each colour a and each b > a: a's time since its last departure is not longer than b's
  */
class IdleSpells(notLonger: Seq[Seq[Bool]]) {
  private val colours = notLonger.indices

  /** One bit a colour, for the colour of `mask` with the shortest time; none where `mask` is empty. Of equal ones, the first. */
  def shortest(mask: UInt): Seq[Bool] = colours.map { c =>
    val others = colours.filter(_ != c).map { o =>
      !mask(o) || (if (c < o) notLonger(c)(o) else !notLonger(o)(c))
    }
    mask(c) && others.reduce(_ && _)
  }
}

object IdleSpells {

  /** All compares beside each other.
    *
    * @param left ns since the last departure, of each colour
    */
  def atOnce(left: Seq[UInt]): IdleSpells = new IdleSpells(
    left.indices.map(a => left.indices.map(b => if (a < b) left(a) <= left(b) else false.B))
  )
}
