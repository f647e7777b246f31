package vermilion.lane

import circt.stage.ChiselStage

/** Writes a lane's SystemVerilog, one file a module: `EmitLane PRESET DIRECTORY [synthesis]`; benches have some presets more. For synthesis
  * the assertions are left out.
  */
object EmitLane extends App {
  private def emit(preset: String, directory: String, options: Array[String]): Unit =
    ChiselStage.emitSystemVerilogFile(
      new Lane(LaneParams.forBenches(preset)),
      Array("--target-dir", directory, "--split-verilog"),
      options
    )

  args match {
    case Array(preset, directory) if LaneParams.forBenches.contains(preset) =>
      emit(preset, directory, EmitOptions.firtool)
    case Array(preset, directory, "synthesis") if LaneParams.forBenches.contains(preset) =>
      emit(preset, directory, EmitOptions.synthesis)
    case _ =>
      System.err.println(
        s"usage: EmitLane PRESET DIRECTORY [synthesis]; PRESET one of ${LaneParams.byName.keys.toSeq.sorted.mkString(", ")}"
      )
      sys.exit(2)
  }
}
