package vermilion.lane

import circt.stage.ChiselStage

/** Writes a lane's SystemVerilog, one file a module: `EmitLane PRESET DIRECTORY`; benches have some presets more. */
object EmitLane extends App {
  args match {
    case Array(preset, directory) if LaneParams.forBenches.contains(preset) =>
      ChiselStage.emitSystemVerilogFile(
        new Lane(LaneParams.forBenches(preset)),
        Array("--target-dir", directory, "--split-verilog"),
        EmitOptions.firtool
      )
    case _ =>
      System.err.println(
        s"usage: EmitLane PRESET DIRECTORY; PRESET one of ${LaneParams.byName.keys.toSeq.sorted.mkString(", ")}"
      )
      sys.exit(2)
  }
}
