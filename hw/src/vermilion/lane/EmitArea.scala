package vermilion.lane

import chisel3._
import chisel3.reflect.DataMirror
import chisel3.util.{Cat, Decoupled, RegEnable}
import circt.stage.ChiselStage
import vermilion.average.{AverageUnit, QueueLook}
import vermilion.control.{AxiLite, ControlPort}
import vermilion.curve.QueueCurves
import vermilion.decide.{QueueLimit, SizeRatio, VerdictUnit}
import vermilion.fixed.Formats._
import vermilion.flow.FlowMarking
import vermilion.mark.{TokenKind, TokenMarker}
import vermilion.nic.{NicParams, VermilionApp}
import vermilion.parse.{BeatParser, FrameHeadsInTurn, HeaderParser}
import vermilion.policy.PolicyPipeline
import vermilion.rewrite.HeaderRewrite
import vermilion.schedule.EgressQueues
import vermilion.stats.Statistics
import vermilion.stream.{AxisBeat, Ingress}

/** Writes the designs that `./vermilion area` synthesises, one folder each: `EmitArea DIRECTORY DESIGN...`; the preset is nic10g, which
  * decides in turn, and nic100g where the name has 512; app10g-2-wire is a NIC's block. lane-ecp5 is one that fits an ECP5. A block's other form,
  * for a decision in every clock, has the plain name.
  */
object EmitArea extends Emitter {
  private val p = LaneParams.nic10g
  private val everyClock = p.copy(slotClocks = 1)
  private val kinds = TokenKind.all.toSeq.map(kind => kind.toString.toLowerCase -> kind)
  private val noToken = p.copy(tokenKinds = Set.empty)

  /** Blocks of two forms. */
  private def blocks(p: LaneParams): Map[String, () => RawModule] = Map[String, () => RawModule](
    "token" -> (() => TokenMarker(p)),
    "flow-4096" -> (() => FlowMarking(p)),
    "statistics" -> (() => Statistics(p)),
    "average" -> (() => AverageUnit.of(p)),
    "look" -> (() => QueueLook.of(p)),
    "curve" -> (() => QueueCurves(p)),
    "size" -> (() => SizeRatio(p)),
    "limit" -> (() => QueueLimit(p)),
    "verdict" -> (() => VerdictUnit(p)),
    "policy" -> (() => new PolicyPipeline(p))
  ) ++ kinds.map { case (name, kind) => s"token-$name" -> (() => TokenMarker(p.copy(tokenKinds = Set(kind)))) }

  private val designs: Map[String, () => RawModule] = blocks(everyClock) ++
    blocks(p).map { case (name, block) => s"$name-in-turn" -> block } ++ Map[String, () => RawModule](
      "flow-65536" -> (() => FlowMarking(p.copy(flows = 65536))),
      "parser" -> (() => new HeaderParser),
      "parser-in-turn" -> (() => new HeadsOfBeats(p)),
      "queues" -> (() => new EgressQueues(p)),
      "queues-512" -> (() => new EgressQueues(LaneParams.nic100g)),
      "rewrite" -> (() => new HeaderRewrite(p)),
      "statistics-1024" -> (() => Statistics(p.copy(queues = 1024))),
      "control" -> (() => new ControlPort(p)),
      "control-1024" -> (() => new ControlPort(p.copy(queues = 1024))),
      "queues-with-victims" -> (() => new EgressQueues(everyClock.copy(victims = p.queues))),
      "queues-with-victims-in-turn" -> (() => new EgressQueues(p.copy(victims = p.queues))),
      "queues-protected" -> (() => new EgressQueues(p.copy(protect = true))),
      "lane" -> (() => new LaneWithoutTrace(p)),
      "lane-every-clock" -> (() => new LaneWithoutTrace(everyClock)),
      "lane-without-token" -> (() => new LaneWithoutTrace(noToken)),
      "lane-without-flow" -> (() => new LaneWithoutTrace(p.copy(flows = 0))),
      "lane-without-markers" -> (() => new LaneWithoutTrace(noToken.copy(flows = 0))),
      "lane-with-victims" -> (() => new LaneWithoutTrace(p.copy(victims = p.queues))),
      "lane-every-clock-with-victims" -> (() => new LaneWithoutTrace(everyClock.copy(victims = p.queues))),
      "lane-10g-lean" -> (() => new LaneWithoutTrace(NicParams.byName("app10g-2-lean").wire)),
      "lane-25g-lean" -> (() => new LaneWithoutTrace(NicParams.byName("app25g-2-lean").wire)),
      "lane-512" -> (() => new LaneWithoutTrace(LaneParams.nic100g)),
      "lane-512-with-victims" -> (() => new LaneWithoutTrace(LaneParams.nic100g.copy(victims = p.queues))),
      "app10g-2-wire" -> (() => new VermilionApp(NicParams.byName("app10g-2-wire"))),
      "lane-ecp5" -> (() => new LaneBehindPins(NicParams.byName("app10g-2-lean").wire.copy(cells = 512)))
    ) ++ Seq(64, 256, 1024).map(n => s"queues-$n" -> (() => new LaneWithoutTrace(p.copy(queues = n)))) ++
    Seq(256, 16384, 32768).map(n => s"cells-$n" -> (() => new LaneWithoutTrace(p.copy(cells = n))))

  def usage: String = s"EmitArea DIRECTORY DESIGN...; DESIGN one of ${designs.keys.toSeq.sorted.mkString(", ")}"

  def emit(words: Seq[String]): Boolean = words match {
    case Seq(directory, chosen @ _*) if chosen.nonEmpty && chosen.forall(designs.contains) =>
      for (name <- chosen)
        ChiselStage.emitSystemVerilogFile(
          designs(name)(),
          Array("--target-dir", s"$directory/$name", "--split-verilog"),
          EmitOptions.area
        )
      true
    case _ => false
  }
}

/** What parses the beats of a lane's inputs, with the headers that wait; of the second input one head is kept, as of a cell that waits. */
class HeadsOfBeats(p: LaneParams) extends Module {
  private val heads = Module(new FrameHeadsInTurn(p.inputs, Ingress.MetaDepth))
  private val parsers = Seq.fill(p.inputs)(Module(new BeatParser))
  val io = IO(new Bundle {
    val in = Vec(p.inputs, chiselTypeOf(parsers.head.io.in))
    val keep, waited = Input(Bool())
    val heads = chiselTypeOf(HeadsOfBeats.this.heads.io)
  })
  io.heads <> heads.io
  for ((parser, i) <- parsers.zipWithIndex) {
    parser.io.in := io.in(i)
    heads.heads(i) := parser.io.head
    if (p.stallable(i)) when(io.waited) { heads.heads(i) := RegEnable(parser.io.head, io.keep) }
  }
}

/** A lane as it stands in a NIC: the trace that a simulation replays is left open, and costs nothing. */
class LaneWithoutTrace(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits))))
    val out = Decoupled(new AxisBeat(p.dataBits))
    val control = new AxiLite(ControlPort.AddressBits)
  })
  private val lane = Module(new Lane(p))
  lane.io.now := io.now
  lane.io.in <> io.in
  io.out <> lane.io.out
  lane.io.control <> io.control
}

/** The same between two long shift registers, with three pins in all: for placing it in a device that has fewer pins than a lane has ports. */
class LaneBehindPins(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Input(Bool())
    val load = Input(Bool())
    val out = Output(Bool())
  })
  private val lane = Module(new LaneWithoutTrace(p))
  private val (inputs, outputs) = DataMirror
    .fullModulePorts(lane)
    .collect {
      case (name, port: Element) if !Seq("clock", "reset").contains(name) => port
    }
    .partition(DataMirror.directionOf(_) == ActualDirection.Input)
  private val shifted = Reg(UInt(inputs.map(_.getWidth).sum.W))
  shifted := Cat(shifted(shifted.getWidth - 2, 0), io.in)
  inputs.foldLeft(0) { case (at, port) =>
    if (port.getWidth == 0) port := DontCare else port := shifted(at + port.getWidth - 1, at).asTypeOf(port)
    at + port.getWidth
  }
  private val seen = Reg(UInt(outputs.map(_.getWidth).sum.W))
  seen := Mux(io.load, Cat(outputs.map(_.asUInt)), seen >> 1)
  io.out := seen(0)
}
