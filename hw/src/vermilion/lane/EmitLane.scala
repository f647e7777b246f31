package vermilion.lane

import circt.stage.ChiselStage

/** Writes a lane's SystemVerilog, one file per module: `EmitLane PRESET DIRECTORY [synthesis]`.
  *
  * Benches have additional presets. With `synthesis`, assertions are omitted.
  */
object EmitLane extends PresetEmitter {
  def write(preset: String, directory: String, options: Array[String]): Unit =
    ChiselStage.emitSystemVerilogFile(
      new Lane(LaneParams.forBenches(preset)),
      Array("--target-dir", directory, "--split-verilog"),
      options
    )

  def usage: String =
    s"EmitLane PRESET DIRECTORY [synthesis]; PRESET one of ${LaneParams.byName.keys.toSeq.sorted.mkString(", ")}"

  def known(preset: String): Boolean = LaneParams.forBenches.contains(preset)
}
