package vermilion.protect

import chisel3._
import chisel3.util.MixedVec
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import vermilion.Simulation

/** The wires of [[Secded]] for some widths, side by side. */
class Codes(widths: Seq[Int]) extends Module {
  private val codes = widths.map(Secded(_))
  val io = IO(new Bundle {
    val data = Input(MixedVec(widths.map(w => UInt(w.W))))
    val words = Input(MixedVec(codes.map(c => UInt(c.width.W))))
    val encoded = Output(MixedVec(codes.map(c => UInt(c.width.W))))
    val corrected = Output(MixedVec(codes.map(c => UInt(c.width.W))))
    val single = Output(Vec(widths.size, Bool()))
    val double = Output(Vec(widths.size, Bool()))
  })
  for ((code, i) <- codes.zipWithIndex) {
    io.encoded(i) := code.encode(io.data(i))
    val decoded = code.decode(io.words(i))
    io.corrected(i) := decoded.word
    io.single(i) := decoded.corrected
    io.double(i) := decoded.uncorrectable
  }
}

class SecdedTest extends AnyFunSuite with Simulation {
  private val seed = 1
  private def pairs(width: Int) = for (a <- 0 until width; b <- 0 until a) yield (a, b)

  test("columns are odd, distinct and of the least weights; rows differ by at most two ones; check bits are Hsiao's") {
    for (width <- 1 to 128) {
      val code = Secded(width)
      assert(code.columns.size == width && code.columns.distinct.size == width)
      val weights = code.columns.map(Integer.bitCount(_))
      assert(weights.forall(w => w % 2 == 1 && w >= 3) && code.columns.forall(_ < (1 << code.check)))
      assert(weights == weights.sorted)
      val rows = (0 until code.check).map(j => code.columns.count(c => (c >> j & 1) == 1))
      assert(rows.max - rows.min <= 2, s"rows of $width bits: $rows")
    }
    for ((width, check) <- Seq(1 -> 3, 4 -> 4, 8 -> 5, 16 -> 6, 32 -> 7, 64 -> 8)) assert(Secded(width).check == check)
  }

  test("every flip of every bit is corrected, every pair of flips is detected, and no codeword raises an alarm") {
    val random = new Random(seed)
    for (width <- (1 to 40) ++ Seq(64, 112, 114)) {
      val code = Secded(width)
      for (_ <- 0 until 4) {
        val word = code.encode(BigInt(width, random))
        assert(code.correct(word).contains(word))
        for (i <- 0 until code.width) assert(code.correct(word.flipBit(i)).contains(word), s"$width bits, flip $i")
        for ((a, b) <- pairs(code.width)) assert(code.correct(word.flipBit(a).flipBit(b)).isEmpty, s"$width: $a $b")
      }
    }
  }

  test("the wires say what the numbers say, for every flip and every pair of flips") {
    val widths = Seq(1, 4, 12, 21, 28, 47, 112)
    val codes = widths.map(Secded(_))
    info(s"seed $seed")
    simulate(new Codes(widths)) { dut =>
      val random = new Random(seed)
      val flips = codes.map { code =>
        val two = pairs(code.width).map { case (a, b) => Seq(a, b) }
        random.shuffle(Seq(Seq.empty[Int]) ++ (0 until code.width).map(Seq(_)) ++ two)
      }
      for (n <- 0 until flips.map(_.size).max) {
        val vectors = codes.zip(flips).map { case (code, all) => (BigInt(code.data, random), all(n % all.size)) }
        for (((data, flipped), i) <- vectors.zipWithIndex) {
          dut.io.data(i).poke(data.U(widths(i).W))
          dut.io.words(i).poke(flipped.foldLeft(codes(i).encode(data))(_ flipBit _).U(codes(i).width.W))
        }
        for (((data, flipped), i) <- vectors.zipWithIndex) {
          val word = codes(i).encode(data)
          dut.io.encoded(i).expect(word.U)
          if (flipped.size < 2) dut.io.corrected(i).expect(word.U)
          dut.io.single(i).expect((flipped.size == 1).B)
          dut.io.double(i).expect((flipped.size == 2).B)
        }
      }
    }
  }
}
