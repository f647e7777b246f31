package vermilion.fixed

import chisel3._
import chisel3.util._

/** Looks up constants by index, with a tree of multiplexers that contains equal parts only once. */
object ConstantTable {
  def apply(values: Seq[BigInt], width: Int)(index: UInt): UInt = {
    require(isPow2(values.size), s"${values.size} constants; legal are powers of two")
    val made = scala.collection.mutable.Map.empty[Seq[BigInt], UInt]
    def part(of: Seq[BigInt]): UInt = made.getOrElseUpdate(
      of,
      if (of.distinct.size == 1) of.head.U(width.W)
      else {
        val (low, high) = of.splitAt(of.size / 2)
        Mux(index(log2Ceil(of.size) - 1), part(high), part(low))
      }
    )
    part(values)
  }
}
