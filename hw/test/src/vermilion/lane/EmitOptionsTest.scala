package vermilion.lane

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

class EmitOptionsTest extends AnyFunSuite {
  private def written(options: Array[String]): String =
    ChiselStage.emitSystemVerilog(new LaneCore(LaneParams(queues = 8, cells = 256)), Array(), options)

  test("what firtool writes is the same whether it checks itself or not") {
    val text = written(EmitOptions.firtool)
    assert(text.length > 100000 && EmitOptions.firtool.contains(EmitOptions.unchecked))
    assert(text == written(EmitOptions.firtool.filter(_ != EmitOptions.unchecked)))
  }
}
