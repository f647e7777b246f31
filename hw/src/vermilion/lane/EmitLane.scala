package vermilion.lane

import circt.stage.ChiselStage

/** Writes a lane's SystemVerilog: `EmitLane PRESET DIRECTORY`, one file a module, and `filelist.f`. */
object EmitLane extends App {
  args match {
    case Array(preset, directory) if LaneParams.byName.contains(preset) =>
      ChiselStage.emitSystemVerilogFile(
        new Lane(LaneParams.byName(preset)),
        Array("--target-dir", directory, "--split-verilog"),
        Array("--lowering-options=disallowLocalVariables", "--disable-all-randomization", "--strip-debug-info")
      )
    case _ =>
      System.err.println(s"usage: EmitLane PRESET DIRECTORY, PRESET one of ${LaneParams.byName.keys.toSeq.sorted.mkString(", ")}")
      sys.exit(2)
  }
}
