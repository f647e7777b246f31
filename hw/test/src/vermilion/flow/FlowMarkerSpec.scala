package vermilion.flow

import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** What can be built. What it does is tested against the model in `cocotb_tests/blocks/flow`. */
class FlowMarkerSpec extends AnyFunSuite {
  private def elaborate(queueBits: Int, flows: Int): String = ChiselStage.emitCHIRRTL(new FlowMarker(queueBits, flows))
  private def inTurn(queueBits: Int, flows: Int): String =
    ChiselStage.emitCHIRRTL(new FlowMarkerInTurn(queueBits, flows))

  test("tables of 256 to 65,536 entries are built, with one state for each entry and four ways of a quarter of them") {
    for ((queueBits, flows) <- Seq(1 -> 256, 4 -> 4096, 10 -> 65536)) {
      val text = elaborate(queueBits, flows)
      val states = s"smem s\\d+Read_array : UInt<${82 + 1}>\\s*\\[(\\d+)]".r // and whether L_Y is full
      assert(states.findAllMatchIn(text).map(_.group(1).toInt).toSeq == Seq(flows))
      val ways = s"smem ways_\\d+ : UInt<${1 + 3 + 26 + 313 + queueBits}>\\s*\\[(\\d+)]".r
      assert(ways.findAllMatchIn(text).map(_.group(1).toInt).toSeq == Seq.fill(4)(flows / 4))
    }
  }

  test("in turn an entry's name and each part of its state lie in one array") {
    for ((queueBits, flows) <- Seq(1 -> 256, 4 -> 4096, 10 -> 65536)) {
      val arrays = "smem (\\w+) : UInt<(\\d+)>\\s*\\[(\\d+)]".r.findAllMatchIn(inTurn(queueBits, flows))
      val sizes = arrays.map(a => a.group(1) -> (a.group(2).toInt -> a.group(3).toInt)).toMap
      assert(sizes("entries") == (3 + 26 + 313 + queueBits, flows))
      assert(sizes("valids") == (4, flows / 4))
      assert(Seq("averages", "sequences", "rests").map(sizes) == Seq(24, 32, 26).map(_ -> flows))
    }
  }

  test("other sizes are refused with a sentence") {
    for (flows <- Seq(0, 128, 300, 131072); build <- Seq(elaborate _, inTurn _)) {
      val thrown = intercept[Exception](build(4, flows))
      val all = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.toString).mkString(" ")
      assert(all.contains(s"flows is $flows; legal are powers of two from 256 to 65536"))
    }
  }
}
