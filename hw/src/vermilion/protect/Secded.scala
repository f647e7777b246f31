package vermilion.protect

import chisel3._

/** Encodes and decodes a single error correcting, double error detecting code (SEC-DED) with odd-weight columns.
  *
  * Source: M. Y. Hsiao, "A Class of Optimal Minimum Odd-weight-column SEC-DED Codes", IBM J. Res. Dev. 14 (1970), 395-401.
  *
  * A codeword is `check ## data`. Check bit j is the parity of the data bits whose column has bit j. A check bit's own column is 1 << j. The
  * syndrome is the XOR of the columns of all bits that are set. All columns differ and have an odd number of ones, so
  *  - one flip gives the flipped bit's column: odd, and in the table;
  *  - two flips give the XOR of two odd columns: even and not 0, so in no table;
  *  - 0 is a codeword: a RAM of zeros holds no error.
  * Three and more flips may look like one.
  *
  * `check` is the least r with 2^(r-1) >= data + r. Columns of weight 3 come before those of weight 5. Of columns of equal weight the next one is
  * the one that keeps the heaviest row lightest. So the parity trees are small and of similar size. 12 data bits take 6 check bits, 64 take 8.
  *
  * Every function is combinational. Each exists for wires and for Scala's numbers, and the tests compare both.
  */
case class Secded(data: Int) {
  require(data >= 1 && data <= 1024, s"data is $data; legal are 1 to 1024")

  val check: Int = Iterator.from(2).find(r => (BigInt(1) << (r - 1)) >= data + r).get
  val width: Int = data + check

  /** The columns of the data bits, from bit 0. */
  val columns: Seq[Int] = {
    val rows = Array.fill(check)(0)
    def bits(column: Int): Seq[Int] = (0 until check).filter(j => (column >> j & 1) == 1)
    (3 to check by 2).iterator
      .flatMap { weight =>
        val remaining =
          scala.collection.mutable.ArrayBuffer.from((1 until 1 << check).filter(Integer.bitCount(_) == weight))
        Iterator.continually(remaining).takeWhile(_.nonEmpty).map { _ =>
          val next = remaining.minBy(column => (bits(column).map(rows).max, bits(column).map(rows).sum, column))
          remaining -= next
          bits(next).foreach(rows(_) += 1)
          next
        }
      }
      .take(data)
      .toSeq
  }
  private val all: Seq[Int] = columns ++ (0 until check).map(1 << _)

  // ---- numbers
  private def syndrome(word: BigInt): Int = all.indices.filter(word.testBit).map(all).foldLeft(0)(_ ^ _)

  def encode(data: BigInt): BigInt = data | BigInt(syndrome(data)) << this.data

  /** The corrected codeword, or none if it cannot be corrected. */
  def correct(word: BigInt): Option[BigInt] = syndrome(word) match {
    case 0 => Some(word)
    case s => Some(all.indexOf(s)).filter(_ >= 0).map(word.flipBit)
  }

  // ---- wires
  private def parities(word: UInt, of: Seq[Int]): UInt =
    VecInit(
      (0 until check).map(j => VecInit(of.indices.filter(i => (of(i) >> j & 1) == 1).map(word(_))).asUInt.xorR)
    ).asUInt

  def encode(data: UInt): UInt = {
    require(data.getWidth == this.data, s"data has ${data.getWidth} bits; the code is for ${this.data}")
    parities(data, columns) ## data
  }

  /** The result of decoding a word from memory. */
  class Decoded extends Bundle {
    val word = UInt(width.W) // corrected
    val corrected = Bool() // one bit was wrong
    val uncorrectable = Bool() // more than one was wrong: `word` must not be used
    def data: UInt = word(Secded.this.data - 1, 0)
  }

  def decode(word: UInt): Decoded = {
    require(word.getWidth == width, s"the word has ${word.getWidth} bits; the code is for $width")
    val syndrome = parities(word, all)
    val flips = VecInit(all.map(column => syndrome === column.U)).asUInt
    val result = Wire(new Decoded)
    result.word := word ^ flips
    result.corrected := flips.orR
    result.uncorrectable := syndrome.orR && !flips.orR
    result
  }
}
