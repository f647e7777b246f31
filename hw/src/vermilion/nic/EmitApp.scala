package vermilion.nic

import circt.stage.ChiselStage
import java.nio.file.{Files, Paths}
import vermilion.lane.PresetEmitter

/** Writes the app block's SystemVerilog, one file per module, and `vermilion_app_params.vh`.
  *
  * With the `.vh` file the Verilog shell around the block checks that shell and block match. Usage:
  * `EmitApp PRESET DIRECTORY [synthesis]`. Benches have additional presets. With `synthesis`, assertions are omitted.
  */
object EmitApp extends PresetEmitter {

  /** Name and value of each `define`, in the order of the file. */
  def defines(p: NicParams): Seq[(String, String)] = Seq(
    "PORTS" -> p.ports,
    "DATA_BITS" -> p.dataBits,
    "TS_BITS" -> p.timestampBits,
    "TAG_BITS" -> NicParams.TagBits,
    "STAT_ID_BITS" -> NicParams.StatIdBits,
    "STAT_INC_BITS" -> NicParams.StatIncBits,
    "ADDR_BITS" -> NicParams.AddressBits,
    "ID" -> "32'h564D0001",
    "CLK_NUM" -> p.clockNum,
    "CLK_DENOM" -> p.clockDenom
  ).map { case (name, value) => s"VERMILION_APP_$name" -> value.toString }

  def write(preset: String, directory: String, options: Array[String]): Unit = {
    val p = NicParams.named(preset).get
    ChiselStage.emitSystemVerilogFile(
      new VermilionApp(p),
      Array("--target-dir", directory, "--split-verilog"),
      options
    )
    val lines = s"// Written by EmitApp for the preset $preset." +:
      defines(p).map { case (name, value) => s"`define $name $value" }
    Files.writeString(Paths.get(directory, "vermilion_app_params.vh"), lines.mkString("", "\n", "\n"))
  }

  def usage: String =
    s"EmitApp PRESET DIRECTORY [synthesis]; PRESET one of ${NicParams.byName.keys.toSeq.sorted.mkString(", ")}, " +
      s"for benches also ${(NicParams.forBenches -- NicParams.byName.keys).keys.toSeq.sorted.mkString(", ")}; " +
      s"each may end in ${NicParams.withoutTimestamps}, ${NicParams.at300MHz} or both"

  def known(preset: String): Boolean = NicParams.named(preset).isDefined
}
