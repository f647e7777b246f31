package vermilion.flow

import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** What can be built. What it does is tested against the model in `cocotb_tests/blocks/flow`. */
class FlowMarkerSpec extends AnyFunSuite {
  private def elaborate(queueBits: Int, flows: Int): String = ChiselStage.emitCHIRRTL(new FlowMarker(queueBits, flows))

  test("tables of 256 to 65,536 entries are built, with one state for each entry and four ways of a quarter of them") {
    for ((queueBits, flows) <- Seq(1 -> 256, 4 -> 4096, 10 -> 65536)) {
      val text = elaborate(queueBits, flows)
      def depths(width: Int): Seq[Int] = // of the memories that are so wide
        s"defname = (?:Lut|Block|Ultra)Ram_(\\d+)x$width\\b".r.findAllMatchIn(text).map(_.group(1).toInt).toSeq
      assert(depths(82 + 1) == Seq(flows)) // and whether L_Y is full
      assert(depths(1 + 3 + 26 + 3 + 39) == Seq.fill(4)(flows / 4)) // valid, count, tick, tag
      assert(depths(313 + queueBits - 39) == Seq(flows)) // the rest of a name
    }
  }

  test("other sizes are refused with a sentence") {
    for (flows <- Seq(0, 128, 300, 131072)) {
      val thrown = intercept[Exception](elaborate(4, flows))
      val all = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.toString).mkString(" ")
      assert(all.contains(s"flows is $flows; legal are powers of two from 256 to 65536"))
    }
  }
}
