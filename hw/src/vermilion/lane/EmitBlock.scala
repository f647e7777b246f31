package vermilion.lane

import chisel3._
import circt.stage.ChiselStage
import vermilion.average.{AverageUnit, BacklogCounters, IdleAge, QueueStateLookup}
import vermilion.classify.Classifier
import vermilion.curve.CurveUnit
import vermilion.departure.{CodelUnit, CurveMarks, DualPi2Unit, PieUnit}
import vermilion.decide.{QueueLimit, SizeRatio, VerdictUnit}
import vermilion.flow.FlowMarkerPorts
import vermilion.mark.TokenMarker
import vermilion.parse.HeaderParserAlone
import vermilion.policy.PolicyPipeline
import vermilion.rewrite.RewrittenCells
import vermilion.victim.{Distance, VictimParams, VictimPipeline}

/** Writes one block's SystemVerilog for the cocotb benches: `EmitBlock BLOCK PRESET DIRECTORY`. */
object EmitBlock extends Emitter {
  private val blocks: Map[String, LaneParams => RawModule] = Map(
    "TokenMarker" -> (p => new TokenMarker(p)),
    "CodelUnit" -> (p => new CodelUnit(p)),
    "PieUnit" -> (p => new PieUnit(p)),
    "CurveMarks" -> (new CurveMarks(_)),
    "DualPi2Unit" -> (p => new DualPi2Unit(p.queues / 2)),
    "PolicyBlocks" -> (p => new PolicyBlocks(p)),
    "ByteBlocks" -> (p => new ByteBlocks(p)),
    "PolicyPipeline" -> (p => new PolicyPipeline(p)),
    "FlowMarker" -> (p => FlowMarkerPorts(p.copy(flows = 256))), // few sets, so that flows collide
    "VictimPipeline" -> (p => new VictimPipeline(VictimParams(p.queues, p.cells, p.queues, places = p.headPlaces))),
    "LaneCore" -> (p => new LaneCore(p)),
    "RulesAlone" -> (p => new RulesAlone((4 * p.queues).max(16).min(256), p.queueBits))
  )

  /** Builds with parameters at the ends of their legal ranges. */
  private val atTheEnds = Map(
    "odd" -> LaneParams(
      dataBits = 128,
      inputs = 3,
      queues = 2,
      cells = 256,
      maxFrameBytes = 16320,
      stallable = Seq(false, true, true)
    ),
    "many-queues" -> LaneParams(dataBits = 128, queues = 1024, cells = 256)
  )
  private val presets = LaneParams.forBenches ++ atTheEnds

  def usage: String = s"EmitBlock BLOCK PRESET DIRECTORY; BLOCK one of ${blocks.keys.mkString(", ")}, " +
    s"PRESET one of ${presets.keys.toSeq.sorted.mkString(", ")}"

  def emit(words: Seq[String]): Boolean = words match {
    case Seq(block, preset, directory) if blocks.contains(block) && presets.contains(preset) =>
      ChiselStage.emitSystemVerilogFile(
        blocks(block)(presets(preset)),
        Array("--target-dir", directory, "--split-verilog"),
        EmitOptions.firtool
      )
      true
    case _ => false
  }
}

/** Instantiates several blocks without connections between them, so that one build serves the benches of all. */
abstract class SideBySide extends Module {
  protected def open(name: String, block: Data): Unit = {
    val port = IO(chiselTypeOf(block))
    port.suggestName(name)
    port <> block
  }
}

/** The blocks that read and write headers, and the distance, which follows directly from them. */
class ByteBlocks(p: LaneParams) extends SideBySide {
  open("parser", Module(new HeaderParserAlone).io)
  open("distance", Module(new Distance).io)
  open("rewrite", Module(new RewrittenCells(p)).io)
}

/** The blocks of the policy pipeline. */
class PolicyBlocks(p: LaneParams) extends SideBySide {
  open("classifier", Module(new Classifier(p)).io)
  open("backlog", Module(new BacklogCounters(p)).io)
  open("idleAge", Module(new IdleAge).io)
  open("lookup", Module(new QueueStateLookup(p)).io)
  open("average", Module(new AverageUnit(p)).io)
  open("curve", Module(new CurveUnit).io)
  open("size", Module(new SizeRatio).io)
  open("limit", Module(new QueueLimit(p)).io)
  open("verdict", Module(new VerdictUnit(p)).io)
}

/** The options that all SystemVerilog of the project is written with. */
object EmitOptions {
  private val plain = Array("--disable-all-randomization", "--strip-debug-info")
  private val noLocals = "--lowering-options=disallowLocalVariables"
  private val noPackedArrays = s"$noLocals,disallowPackedArrays" // open-source Yosys does not support them

  /** Gives memories with an asynchronous read `ram_style` = "distributed". Otherwise Vivado may merge such a memory and its address register into a
    * block RAM. That returns other data for an address that is being written.
    */
  private val distributed = "--add-vivado-ram-address-conflict-synthesis-bug-workaround"

  /** Prevents Vivado from selecting a wrong element when it finds that an array's index is constant (firtool's description of the option). */
  private val forVivado = s"$noLocals,mitigateVivadoArrayIndexConstPropBug"

  /** Without this option, firtool checks its own data after each of its passes. Its output is the same: `EmitOptionsTest` compares a lane.
    * With the option, `lab` takes 1.9 s of processor time instead of 6.5 s.
    */
  val unchecked: String = "--verify-each=false"

  /** For simulation: the modules contain their assertions. */
  val firtool: Array[String] = plain ++ Array(noLocals, "--default-layer-specialization=enable", unchecked)

  /** For synthesis: without assertions. firtool checks its data here, because the output goes into a card. */
  val synthesis: Array[String] = plain ++ Array(forVivado, distributed, "--default-layer-specialization=disable")

  /** For synthesis with open-source Yosys. */
  val area: Array[String] =
    plain ++ Array(noPackedArrays, distributed, "--default-layer-specialization=disable", unchecked)

  /** For proofs with Yosys: the modules contain the properties as assertions. */
  val proof: Array[String] =
    plain ++ Array(
      noPackedArrays,
      "--default-layer-specialization=enable",
      "--verification-flavor=immediate",
      unchecked
    )
}
