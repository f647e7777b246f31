package vermilion.lane

import chisel3._
import chisel3.reflect.DataMirror
import chisel3.util.{Cat, Decoupled}
import circt.stage.ChiselStage
import vermilion.average.{AverageUnit, QueueStateLookup}
import vermilion.classify.{FlowGroups, RuleTable}
import vermilion.control.{AxiLite, ControlPort, TokenKind}
import vermilion.curve.QueueCurves
import vermilion.departure.{CodelUnit, CurveMarks, DualPi2Queues, DualPi2Unit, PieQueues, PieUnit}
import vermilion.decide.{QueueLimit, SizeRatio, VerdictUnit}
import vermilion.fixed.Formats._
import vermilion.flow.FlowMarkerPorts
import vermilion.mark.TokenMarker
import vermilion.nic.{NicParams, VermilionApp}
import vermilion.parse.HeaderParser
import vermilion.policy.PolicyPipeline
import vermilion.report.ReportStream
import vermilion.rewrite.HeaderRewrite
import vermilion.schedule.EgressQueues
import vermilion.stats.Statistics
import vermilion.stream.AxisBeat

/** Writes the designs that `./vermilion area` synthesises, one folder per design: `EmitArea DIRECTORY DESIGN...`.
  *
  * Designs without a preset in their name use nic10g, and those with 512 in their name nic100g. app-card-2x25g is the app block of a NIC. lane-ecp5
  * fits an ECP5.
  */
object EmitArea extends Emitter {
  private val p = LaneParams.nic10g
  private val kinds = TokenKind.all.toSeq.map(kind => kind.toString.toLowerCase -> kind)
  private val noToken = p.copy(tokenKinds = Set.empty)

  private val designs: Map[String, () => RawModule] = Map[String, () => RawModule](
    "token" -> (() => new TokenMarker(p)),
    "flow-4096" -> (() => FlowMarkerPorts(p)),
    "flow-8192" -> (() => FlowMarkerPorts(p.copy(flows = 8192))),
    "flow-65536" -> (() => FlowMarkerPorts(p.copy(flows = 65536))),
    "codel" -> (() => new CodelUnit(p)),
    "codel-1024" -> (() => new CodelUnit(p.copy(queues = 1024))),
    "pie" -> (() => new PieUnit(p)),
    "pie-1024" -> (() => new PieUnit(p.copy(queues = 1024))),
    "dualpi2" -> (() => new DualPi2Unit(p.queues / 2)),
    "dualpi2-512" -> (() => new DualPi2Unit(512)),
    "pie-queues" -> (() => new PieQueues(p.copy(pie = true))),
    "dualpi2-queues" -> (() => new DualPi2Queues(p.copy(codel = true, dualpi2 = true))),
    "reports" -> (() => new ReportStream(p.copy(reports = true))),
    "reports-512" -> (() => new ReportStream(LaneParams.nic100g.copy(reports = true))),
    "curve-marks" -> (() => new CurveMarks(p.copy(codel = true))),
    "curve-marks-1024" -> (() => new CurveMarks(p.copy(codel = true, queues = 1024))),
    "average" -> (() => new AverageUnit(p)),
    "look" -> (() => new QueueStateLookup(p)),
    "curve" -> (() => new QueueCurves(p)),
    "size" -> (() => new SizeRatio),
    "limit" -> (() => new QueueLimit(p)),
    "verdict" -> (() => new VerdictUnit(p)),
    "policy" -> (() => new PolicyPipeline(p)),
    "parser" -> (() => new HeaderParser),
    "queues" -> (() => new EgressQueues(p)),
    "queues-512" -> (() => new EgressQueues(LaneParams.nic100g)),
    "queues-codel" -> (() => new EgressQueues(p.copy(codel = true))),
    "queues-codel-512" -> (() => new EgressQueues(LaneParams.nic100g.copy(codel = true))),
    "queues-fq" -> (() => new EgressQueues(p.copy(codel = true, fq = true))),
    "queues-fq-512" -> (() => new EgressQueues(LaneParams.nic100g.copy(codel = true, fq = true))),
    "flow-groups" -> (() => new FlowGroups(p.copy(codel = true, fq = true))),
    "flow-groups-1024" -> (() => new FlowGroups(p.copy(queues = 1024, codel = true, fq = true))),
    "rules" -> (() => new RuleTable(64, p.queueBits)),
    "rules-256" -> (() => new RuleTable(256, p.queueBits)),
    "policy-fq" -> (() => new PolicyPipeline(p.copy(codel = true, fq = true))),
    "rewrite" -> (() => new HeaderRewrite(p)),
    "statistics" -> (() => new Statistics(p)),
    "statistics-1024" -> (() => new Statistics(p.copy(queues = 1024))),
    "control" -> (() => new ControlPort(p)),
    "control-1024" -> (() => new ControlPort(p.copy(queues = 1024))),
    "queues-with-victims" -> (() => new EgressQueues(p.copy(victims = p.queues))),
    "queues-protected" -> (() => new EgressQueues(p.copy(protect = true))),
    "lane" -> (() => new LaneWithoutTrace(p)),
    "lane-without-token" -> (() => new LaneWithoutTrace(noToken)),
    "lane-without-flow" -> (() => new LaneWithoutTrace(p.copy(flows = 0))),
    "lane-without-markers" -> (() => new LaneWithoutTrace(noToken.copy(flows = 0))),
    "lane-with-victims" -> (() => new LaneWithoutTrace(p.copy(victims = p.queues))),
    "lane-10g-lean" -> (() => new LaneWithoutTrace(NicParams.byName("app10g-2-lean").wire)),
    "lane-25g-lean" -> (() => new LaneWithoutTrace(NicParams.byName("app25g-2-lean").wire)),
    "lane-512" -> (() => new LaneWithoutTrace(LaneParams.nic100g)),
    "card-1x100g" -> (() => new LaneWithoutTrace(LaneParams.forBenches("nic100g-all"))),
    "card-2x10g" -> (() => new LaneWithoutTrace(LaneParams.forBenches("card-2x10g"))),
    "card-2x25g" -> (() => new LaneWithoutTrace(LaneParams.forBenches("card-2x25g"))),
    "card-2x25g-codel" -> (() => new LaneWithoutTrace(LaneParams.forBenches("card-2x25g").copy(codel = true))),
    "card-2x25g-aqm" -> (() => new LaneWithoutTrace(LaneParams.forBenches("card-2x25g-aqm"))),
    "card-1x100g-aqm" -> (() => new LaneWithoutTrace(LaneParams.forBenches("nic100g-aqm"))),
    "app-card-2x25g" -> (() => new VermilionApp(NicParams.byName("card-2x25g"))),
    "lane-ecp5" -> (() => new LaneOnFewPins(NicParams.byName("app10g-2-lean").wire.copy(cells = 512, ultraRam = false)))
  ) ++ kinds.map { case (name, kind) => s"token-$name" -> (() => new TokenMarker(p.copy(tokenKinds = Set(kind)))) } ++
    Seq(64, 256, 1024).map(n => s"queues-$n" -> (() => new LaneWithoutTrace(p.copy(queues = n)))) ++
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

/** A lane as in a NIC: the trace that a simulation replays is unconnected, so synthesis removes it. */
class LaneWithoutTrace(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits))))
    val out = Vec(p.egresses, Decoupled(new AxisBeat(p.dataBits)))
    val paused = Input(Vec(p.egresses, Bool()))
    val control = new AxiLite(ControlPort.AddressBits)
  })
  private val lane = Module(new Lane(p))
  lane.io.now := io.now
  lane.io.in <> io.in
  lane.io.paused := io.paused
  io.out <> lane.io.out
  val reports = lane.reports.map(port => IO(chiselTypeOf(port)))
  reports.zip(lane.reports).foreach { case (port, out) => port <> out }
  lane.io.control <> io.control
}

/** A lane between two long shift registers, with three pins besides clock and reset: for a device that has fewer pins than a lane has port bits. */
class LaneOnFewPins(p: LaneParams) extends Module {
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
