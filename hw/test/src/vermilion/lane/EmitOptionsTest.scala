package vermilion.lane

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite
import vermilion.Nightly

class EmitOptionsTest extends AnyFunSuite {
  private def written(options: Array[String]): String =
    ChiselStage.emitSystemVerilog(
      new LaneCore(LaneParams(queues = 8, cells = 256, victims = 8, egresses = 2)),
      Array(),
      options
    )

  test("what firtool writes is the same whether it checks itself or not") {
    for (
      options <-
        if (Nightly.is) Seq(EmitOptions.firtool, EmitOptions.area, EmitOptions.proof) else Seq(EmitOptions.firtool)
    ) {
      val text = written(options)
      assert(text.length > 100000 && options.contains(EmitOptions.unchecked))
      assert(text == written(options.filter(_ != EmitOptions.unchecked)))
    }
  }

  test("a memory that is read without a clock lies in LUTs, in what is synthesised") {
    def unclocked(options: Array[String]) =
      written(options).split("endmodule").filter(_.contains("assign R0_data = R0_en ? Memory[R0_addr]"))
    def named(modules: Array[String]) = modules.count(_.contains("(* ram_style = \"distributed\" *)"))
    for (options <- Seq(EmitOptions.synthesis, EmitOptions.area)) {
      val modules = unclocked(options)
      assert(modules.length > 5 && named(modules) == modules.length)
    }
    assert(named(unclocked(EmitOptions.firtool)) == 0, "without the option none is named, so the test sees it")
  }
}
