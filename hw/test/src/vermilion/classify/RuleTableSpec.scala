package vermilion.classify

import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** What can be built. What it does is tested against plain comparisons in `cocotb_tests/blocks/rules`. */
class RuleTableSpec extends AnyFunSuite {
  private def elaborate(rules: Int, queueBits: Int): String =
    ChiselStage.emitCHIRRTL(new RuleTable(rules, queueBits))

  private def refused(rules: Int, queueBits: Int, sentence: String): Unit = {
    val thrown = intercept[Exception](elaborate(rules, queueBits))
    val all = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.toString).mkString(" ")
    assert(all.contains(sentence))
  }

  test("tables of 16 to 256 rules are built, with two sets of columns for each of 86 characters") {
    for (rules <- Seq(16, 64, 256)) {
      val columns = s"cmem \\w+ : UInt<$rules> *\\[32\\]".r
      assert(columns.findAllIn(elaborate(rules, 4)).size == 86)
    }
  }

  test("other sizes are refused with a sentence") {
    for (rules <- Seq(0, 8, 65, 512)) refused(rules, 4, s"rules is $rules; legal are powers of two from 16 to 256")
    for (bits <- Seq(0, 13)) refused(64, bits, s"queueBits is $bits; legal are 1 to 12")
  }
}
