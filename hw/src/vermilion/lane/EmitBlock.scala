package vermilion.lane

import chisel3._
import circt.stage.ChiselStage
import vermilion.average.{AverageUnit, BacklogCounters, IdleAge, QueueStateLookup}
import vermilion.classify.Classifier
import vermilion.curve.CurveUnit
import vermilion.decide.{QueueLimit, SizeRatio, VerdictUnit}
import vermilion.flow.FlowMarking
import vermilion.mark.TokenMarker
import vermilion.parse.HeaderParserAlone
import vermilion.policy.PolicyPipeline
import vermilion.rewrite.RewrittenCells
import vermilion.victim.{Distance, VictimParams, VictimPipeline}

/** Writes one block's SystemVerilog for the cocotb benches: `EmitBlock BLOCK PRESET DIRECTORY`. */
object EmitBlock extends Emitter {
  private val blocks: Map[String, LaneParams => RawModule] = Map(
    "TokenMarker" -> (p => new TokenMarker(p)),
    "PolicyBlocks" -> (p => new PolicyBlocks(p)),
    "ByteBlocks" -> (p => new ByteBlocks(p)),
    "PolicyPipeline" -> (p => new PolicyPipeline(p)),
    "FlowMarker" -> (p => FlowMarking(p.copy(flows = 256))), // few sets, so that flows collide
    "VictimPipeline" -> (p => new VictimPipeline(VictimParams(p.queues, p.cells, p.queues, places = p.headPlaces))),
    "LaneCore" -> (p => new LaneCore(p))
  )

  /** Builds at the ends of what is legal. */
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

/** Blocks side by side, none wired to another, so that one build serves the benches of all. */
abstract class SideBySide extends Module {
  protected def open(name: String, block: Data): Unit = {
    val port = IO(chiselTypeOf(block))
    port.suggestName(name)
    port <> block
  }
}

/** What reads and writes headers, and what is made of them at once. */
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

/** How every SystemVerilog of the project is written. */
object EmitOptions {
  private val plain = Array("--disable-all-randomization", "--strip-debug-info")
  private val noLocals = "--lowering-options=disallowLocalVariables"
  private val noPackedArrays = s"$noLocals,disallowPackedArrays" // open Yosys knows none

  /** Memories that are read without a clock get `ram_style` = "distributed". Vivado may else build one with its address's register as a block RAM, which
    * gives something else for an address that is being written.
    */
  private val distributed = "--add-vivado-ram-address-conflict-synthesis-bug-workaround"

  /** Keeps Vivado from a wrong element where it finds an array's index constant (firtool's description of the option). */
  private val forVivado = s"$noLocals,mitigateVivadoArrayIndexConstPropBug"

  /** Without this firtool checks its own data after each of its passes. What it writes is the same: `EmitOptionsTest` compares a lane.
    * For `lab` it takes 1.9 s of processor time in place of 6.5.
    */
  val unchecked: String = "--verify-each=false"

  /** For simulation: the assertions stand in the modules themselves. */
  val firtool: Array[String] = plain ++ Array(noLocals, "--default-layer-specialization=enable", unchecked)

  /** For synthesis: without the assertions. What goes into a card firtool checks. */
  val synthesis: Array[String] = plain ++ Array(forVivado, distributed, "--default-layer-specialization=disable")

  /** For synthesis with open Yosys. */
  val area: Array[String] =
    plain ++ Array(noPackedArrays, distributed, "--default-layer-specialization=disable", unchecked)

  /** For proofs with Yosys: the properties stand in the modules as assertions. */
  val proof: Array[String] =
    plain ++ Array(
      noPackedArrays,
      "--default-layer-specialization=enable",
      "--verification-flavor=immediate",
      unchecked
    )
}
