package vermilion

/** Bytes as the hardware has them: byte 0 in bits 7..0. */
object Bits {
  def pack(bytes: Seq[Int]): BigInt = BigInt(1, (0 +: bytes.reverse).map(_.toByte).toArray)

  def unpack(value: BigInt, count: Int): Seq[Int] = {
    val big = value.toByteArray.reverse
    Seq.tabulate(count)(i => if (i < big.length) big(i) & 0xff else 0)
  }
}
