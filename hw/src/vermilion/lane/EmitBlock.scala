package vermilion.lane

import chisel3.RawModule
import circt.stage.ChiselStage
import vermilion.flow.FlowMarker
import vermilion.mark.TokenMarker
import vermilion.policy.PolicyPipeline

/** Writes one block's SystemVerilog for the cocotb benches: `EmitBlock BLOCK PRESET DIRECTORY`. */
object EmitBlock extends App {
  private val blocks: Map[String, LaneParams => RawModule] = Map(
    "TokenMarker" -> (p => new TokenMarker(p)),
    "PolicyPipeline" -> (p => new PolicyPipeline(p)),
    "FlowMarker" -> (p => new FlowMarker(p.queueBits, 256)), // few sets, so that flows collide
    "LaneCore" -> (p => new LaneCore(p))
  )
  args match {
    case Array(block, preset, directory) if blocks.contains(block) && LaneParams.forBenches.contains(preset) =>
      ChiselStage.emitSystemVerilogFile(
        blocks(block)(LaneParams.forBenches(preset)),
        Array("--target-dir", directory, "--split-verilog"),
        EmitOptions.firtool
      )
    case _ =>
      System.err.println(
        s"usage: EmitBlock BLOCK PRESET DIRECTORY; BLOCK one of ${blocks.keys.mkString(", ")}, " +
          s"PRESET one of ${LaneParams.forBenches.keys.toSeq.sorted.mkString(", ")}"
      )
      sys.exit(2)
  }
}

/** How every SystemVerilog of the project is written. */
object EmitOptions {
  val firtool: Array[String] =
    Array("--lowering-options=disallowLocalVariables", "--disable-all-randomization", "--strip-debug-info")
}
