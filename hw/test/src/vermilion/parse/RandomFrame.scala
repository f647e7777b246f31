package vermilion.parse

import scala.util.Random

/** Frames that are likely to be interesting: mostly well formed, sometimes cut short or lying about lengths. */
class RandomFrame(random: Random) {
  private def pick[T](choices: T*): T = choices(random.nextInt(choices.size))
  private def bytes(n: Int): Array[Int] = Array.fill(n)(random.nextInt(256))
  private def pair(v: Int): Array[Int] = Array(v >> 8, v & 255)
  private def number(): Int = pick(0, 43, 44, 51, 60, 6, 6, 17, 17, 1, 59)

  private def tags(): Array[Int] = pick(
    Array[Int](),
    Array[Int](),
    pair(0x8100) ++ bytes(2),
    pair(0x88a8) ++ bytes(2) ++ pair(0x8100) ++ bytes(2),
    pair(0x8100) ++ bytes(2) ++ pair(0x8100) ++ bytes(2),
    pair(0x88a8) ++ bytes(2),
    pair(0x8100) ++ bytes(2) ++ pair(0x88a8) ++ bytes(2)
  )

  private def ip4(): Array[Int] = {
    val ihl = if (random.nextInt(4) == 0) random.nextInt(16) else pick(5, 5, 6, 8, 15)
    val h = bytes(20 + (ihl.max(5) - 5) * 4)
    h(0) = (if (random.nextInt(12) == 0) random.nextInt(16) else 4) * 16 + ihl
    if (random.nextInt(4) != 0) { h(6) = h(6) & 0xe0; h(7) = 0 }
    h(9) = pick(6, 6, 17, 17, 1, random.nextInt(256))
    h
  }

  private def ip6(): Array[Int] = {
    val h = bytes(40)
    h(0) = (if (random.nextInt(12) == 0) random.nextInt(16) else 6) * 16 + h(0) % 16
    val count = random.nextInt(7)
    var next = number()
    h(6) = next
    var all = h
    for (_ <- 0 until count) {
      val lengthField = if (random.nextInt(8) == 0) random.nextInt(256) else random.nextInt(3)
      val size = next match {
        case 44 => 8
        case 51 => ((lengthField + 2) * 4).max(8)
        case _  => (lengthField + 1) * 8
      }
      val e = bytes(size.min(140))
      val own = next
      next = number()
      e(0) = next
      e(1) = lengthField
      if (own == 44 && random.nextInt(3) != 0) { e(2) = 0; e(3) = e(3) & 7 }
      all = all ++ e
    }
    all
  }

  def next(maxBytes: Int = 200): Array[Int] = {
    val (etherType, l3) = random.nextInt(9) match {
      case 0         => (pick(random.nextInt(65536), 0x88f7), bytes(random.nextInt(100)))
      case 1 | 2 | 3 => (0x0800, ip4())
      case _         => (0x86dd, ip6())
    }
    val l4 = bytes(20 + random.nextInt(40))
    if (random.nextInt(4) != 0) l4(12) = l4(12) % 16 + 16 * pick(5, 5, 5, 6, 8, 10, random.nextInt(16))
    // IP lengths: true, a little off, or noise.
    val claim = l3.length + l4.length + pick(0, 0, random.nextInt(80) - 40)
    if (etherType == 0x0800 && l3.length >= 20 && random.nextInt(4) != 0) pair(claim.max(0)).copyToArray(l3, 2)
    if (etherType == 0x86dd && l3.length >= 40 && random.nextInt(4) != 0) pair((claim - 40).max(0)).copyToArray(l3, 4)
    val whole = bytes(12) ++ tags() ++ pair(etherType) ++ l3 ++ l4
    val length = random.nextInt(3) match {
      case 0 => 1 + random.nextInt(whole.length)
      case _ => whole.length
    }
    whole.take(length.min(maxBytes))
  }
}
