package vermilion.lane

import chisel3._
import chisel3.reflect.DataMirror
import chisel3.util.{Cat, Decoupled, RegEnable}
import circt.stage.ChiselStage
import vermilion.average.{AverageUnit, QueueLook}
import vermilion.control.{AxiLite, ControlPort}
import vermilion.curve.{CurveInTurn, CurveUnit}
import vermilion.decide.{QueueLimit, SizeRatio, VerdictUnit}
import vermilion.fixed.Formats._
import vermilion.flow.{FlowMarker, FlowMarkerInTurn}
import vermilion.mark.{TokenKind, TokenMarker}
import vermilion.nic.{NicParams, VermilionApp}
import vermilion.parse.{BeatParser, FrameHeadsInTurn, HeaderParser}
import vermilion.policy.PolicyPipeline
import vermilion.rewrite.HeaderRewrite
import vermilion.schedule.EgressQueues
import vermilion.stats.{Statistics, StatisticsInTurn}
import vermilion.stream.{AxisBeat, Ingress}

/** Writes the designs that `./vermilion area` synthesises, one folder each: `EmitArea DIRECTORY DESIGN...`; the preset is nic10g, and
  * nic100g for lane-512; app10g-2-wire is a NIC's block. lane-ecp5 is as large as fits an ECP5.
  */
object EmitArea extends App {
  private val p = LaneParams.nic10g
  private val kinds = TokenKind.all.toSeq.map(kind => kind.toString.toLowerCase -> kind)
  private val noToken = p.copy(tokenKinds = Set.empty)
  private val slow = p.copy(slotClocks = 8)
  private val designs: Map[String, () => RawModule] = Map(
    "token" -> (() => new TokenMarker(p)),
    "token-in-turn" -> (() => TokenMarker(p.copy(slotClocks = 8))),
    "flow-4096" -> (() => new FlowMarker(p.queueBits, 4096)),
    "flow-4096-in-turn" -> (() => new FlowMarkerInTurn(p.queueBits, 4096)),
    "flow-65536" -> (() => new FlowMarker(p.queueBits, 65536)),
    "parser" -> (() => new HeaderParser),
    "parser-in-turn" -> (() => new HeadsOfBeats(p)),
    "queues" -> (() => new EgressQueues(p)),
    "rewrite" -> (() => new HeaderRewrite(p)),
    "statistics" -> (() => new Statistics(p)),
    "statistics-1024" -> (() => new Statistics(p.copy(queues = 1024))),
    "statistics-in-turn" -> (() => new StatisticsInTurn(p.copy(slotClocks = 8))),
    "control" -> (() => new ControlPort(p)),
    "control-1024" -> (() => new ControlPort(p.copy(queues = 1024))),
    "queues-protected" -> (() => new EgressQueues(p.copy(protect = true))),
    "average" -> (() => AverageUnit.of(p)),
    "average-in-turn" -> (() => AverageUnit.of(p.copy(slotClocks = 8))),
    "look" -> (() => QueueLook.of(p)),
    "look-in-turn" -> (() => QueueLook.of(p.copy(slotClocks = 8))),
    "curve" -> (() => new CurveUnit),
    "curve-in-turn" -> (() => new CurveInTurn(slow)),
    "size" -> (() => SizeRatio(p)),
    "size-in-turn" -> (() => SizeRatio(slow)),
    "limit" -> (() => QueueLimit(p)),
    "limit-in-turn" -> (() => QueueLimit(slow)),
    "verdict" -> (() => VerdictUnit(p)),
    "verdict-in-turn" -> (() => VerdictUnit(slow)),
    "policy" -> (() => new PolicyPipeline(p)),
    "lane" -> (() => new LaneWithoutTrace(p)),
    "lane-in-turn" -> (() => new LaneWithoutTrace(p.copy(slotClocks = 8))),
    "lane-without-token" -> (() => new LaneWithoutTrace(noToken)),
    "lane-without-flow" -> (() => new LaneWithoutTrace(p.copy(flows = 0))),
    "lane-without-markers" -> (() => new LaneWithoutTrace(noToken.copy(flows = 0))),
    "lane-with-victims" -> (() => new LaneWithoutTrace(p.copy(victims = p.queues))),
    "lane-512" -> (() => new LaneWithoutTrace(LaneParams.nic100g)),
    "app10g-2-wire" -> (() => new VermilionApp(NicParams.byName("app10g-2-wire"))),
    "lane-ecp5" -> (() => new LaneBehindPins(p.copy(cells = 1024, flows = 1024)))
  ) ++ Seq(64, 256, 1024).map(n => s"queues-$n" -> (() => new LaneWithoutTrace(p.copy(queues = n)))) ++
    Seq(256, 16384, 32768).map(n => s"cells-$n" -> (() => new LaneWithoutTrace(p.copy(cells = n)))) ++ kinds.map {
      case (name, kind) => s"token-$name" -> (() => new TokenMarker(p.copy(tokenKinds = Set(kind))))
    } ++ kinds.map { case (name, kind) =>
      s"token-in-turn-$name" -> (() => TokenMarker(p.copy(tokenKinds = Set(kind), slotClocks = 8)))
    }
  args match {
    case Array(directory, chosen @ _*) if chosen.nonEmpty && chosen.forall(designs.contains) =>
      for (name <- chosen)
        ChiselStage.emitSystemVerilogFile(
          designs(name)(),
          Array("--target-dir", s"$directory/$name", "--split-verilog"),
          EmitOptions.area
        )
    case _ =>
      System.err.println(
        s"usage: EmitArea DIRECTORY DESIGN...; DESIGN one of ${designs.keys.toSeq.sorted.mkString(", ")}"
      )
      sys.exit(2)
  }
}

/** What parses the beats of a lane's inputs, with the headers that wait; of the second input one head is kept as where its cells wait. */
class HeadsOfBeats(p: LaneParams) extends Module {
  private val heads = Module(new FrameHeadsInTurn(p.inputs, Ingress.MetaDepth))
  private val parsers = Seq.fill(p.inputs)(Module(new BeatParser))
  val io = IO(new Bundle {
    val in = Vec(p.inputs, chiselTypeOf(parsers.head.io.in))
    val keep = Input(Bool())
    val heads = chiselTypeOf(HeadsOfBeats.this.heads.io)
  })
  io.heads <> heads.io
  for ((parser, i) <- parsers.zipWithIndex) {
    parser.io.in := io.in(i)
    heads.heads(i) := (if (p.stallable(i)) RegEnable(parser.io.head, io.keep) else parser.io.head)
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
