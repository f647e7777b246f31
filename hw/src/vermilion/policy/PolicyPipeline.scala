package vermilion.policy

import chisel3._
import chisel3.util._
import vermilion.average._
import vermilion.classify._
import vermilion.control._
import vermilion.curve._
import vermilion.decide._
import vermilion.fixed.Delay
import vermilion.fixed.Arithmetic.saturate
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream._

/** Everything that a decision saw and gave, for the statistics and for the bit-exact replay. */
class Decision(p: LaneParams) extends Bundle {
  val refresh = Bool() // not a packet: averages refreshed at a departure
  val input = UInt(p.inputBits.W)
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
  val ecn = UInt(2.W)
  val bad = Bool()
  val noBuffer = Bool()
  val time = UInt(TimeBits.W)
  val backlog = Vec(Colour.Count, new Tally)
  val lastDeparture = Vec(Colour.Count, UInt(TimeBits.W))
  val ahead = Vec(Colour.Count, UInt(3.W))
  val draw = UInt(32.W)
  val average = Vec(Colour.Count, UInt(AvgBits.W))
  val probability = UInt(ProbBits.W)
  val verdict = UInt(Verdict.Bits.W)
}

/** A queue's configuration, to be taken as a whole. */
class PolicyCommit(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val config = new PolicyConfig
}

/** From a packet's meta to its verdict, one a clock, never stalled inside.
  *
  * {{{
  *  stage  0        1         2       3 ....... 13      14 ...... 25     26..28     29
  *         classify backlog   mask    average           curve            spacing    admit
  *         (count)  counted   idle                                       verdict
  * }}}
  * A commit of configuration waits until the pipeline is empty, so a packet never sees half of one; metas wait meanwhile
  * (at most [[PolicyPipeline.Latency]] + 2 clocks). With a queue that also updates on departures, each of its departures
  * takes a slot of its own.
  */
class PolicyPipeline(p: LaneParams) extends Module {
  import PolicyPipeline._
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val meta = Flipped(Decoupled(new PacketMeta(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val enqueue = Valid(new EnqueueRequest(p))
    val refused = Valid(new Chain(p))
    val decision = Valid(new Decision(p))
    val busy = Output(Bool())

    val commit = Flipped(Decoupled(new PolicyCommit(p)))
    val classWrite = Flipped(Valid(new ClassWrite(p)))
    val seed = Flipped(Valid(UInt(128.W)))
    val departureUpdates = Input(Bool()) // some queue refreshes its averages on departures
    val liveQueue = Input(UInt(p.queueBits.W))
    val live = Output(Vec(Colour.Count, UInt(AvgBits.W)))
  })

  private class Token extends Bundle {
    val refresh = Bool()
    val meta = new PacketMeta(p)
    val entry = new ClassEntry(p)
    val time = UInt(TimeBits.W)
    val draw = UInt(32.W)
    def counted: Bool = !refresh && !meta.bad && !meta.noBuffer
    def ect: Bool = (meta.headers.isIp4 || meta.headers.isIp6) && meta.headers.ecn =/= 0.U
  }

  private val classifier = Module(new Classifier(p))
  private val random = Module(new RandomSource)
  private val backlog = Module(new BacklogCounters(p))
  private val averages = Module(new AverageUnit(p))
  private val curve = Module(new CurveUnit)
  private val size = Module(new SizeWeight)
  private val verdicts = Module(new VerdictUnit(p))
  classifier.io.write <> io.classWrite
  random.io.seed <> io.seed

  private val averageConfig = SyncReadMem(p.queues, new AverageConfig)
  private val decideConfig = SyncReadMem(p.queues, new DecideConfig)
  private val curveConfig = Seq.fill(Colour.Count)(SyncReadMem(p.queues, new ColourConfig))

  // -- stage 0: a packet, or a departure that refreshes averages; the departure goes first --
  private val departures = Module(new Queue(new Departure(p), 8))
  departures.io.enq.valid := io.departed.valid && io.departureUpdates
  departures.io.enq.bits := io.departed.bits
  assert(!departures.io.enq.valid || departures.io.enq.ready, "a refresh at a departure was lost")
  private val ready = backlog.io.ready && averages.io.ready && verdicts.io.ready
  private val committing = io.commit.valid
  private val takeDeparture = departures.io.deq.valid && ready && !committing
  departures.io.deq.ready := ready && !committing
  io.meta.ready := ready && !committing && !departures.io.deq.valid
  classifier.io.headers := io.meta.bits.headers

  private val token = Wire(Valid(new Token))
  token.valid := io.meta.fire || takeDeparture
  token.bits.refresh := takeDeparture
  token.bits.meta := io.meta.bits
  token.bits.entry := classifier.io.entry
  token.bits.time := io.now
  token.bits.draw := random.io.draw
  when(takeDeparture) {
    token.bits.entry.queue := departures.io.deq.bits.queue
    token.bits.entry.colour := departures.io.deq.bits.colour
    token.bits.meta.bad := false.B
    token.bits.meta.noBuffer := false.B
  }
  random.io.next := io.meta.fire

  private val stages = Seq.iterate(token, Latency + 1) { t =>
    val next = Reg(Valid(new Token))
    next.valid := t.valid && !reset.asBool
    next.bits := t.bits
    next
  }
  private val anyInFlight = stages.tail.map(_.valid).reduce(_ || _)
  io.busy := token.valid || anyInFlight || departures.io.deq.valid || !ready

  // -- commit: between two packets, with nothing in flight --
  io.commit.ready := ready && !anyInFlight
  when(io.commit.fire) {
    averageConfig.write(io.commit.bits.queue, io.commit.bits.config.average)
    decideConfig.write(io.commit.bits.queue, io.commit.bits.config.decide)
    for (c <- 0 until Colour.Count) curveConfig(c).write(io.commit.bits.queue, io.commit.bits.config.colours(c))
  }

  // -- stage 1: backlog before this packet, which is counted now --
  private val s1 = stages(1)
  private val s1Config = averageConfig.read(token.bits.entry.queue)
  backlog.io.now := io.now
  backlog.io.query := token.bits.entry.queue
  backlog.io.departed := io.departed
  backlog.io.add.valid := s1.valid && s1.bits.counted
  backlog.io.add.bits.queue := s1.bits.entry.queue
  backlog.io.add.bits.colour := s1.bits.entry.colour
  backlog.io.add.bits.lenBytes := s1.bits.meta.lenBytes

  private val lastUpdate = new vermilion.fixed.ForwardingRam(p.queues, Vec(Colour.Count, UInt(TimeBits.W)))
  private val s1LastUpdate = lastUpdate.read(token.bits.entry.queue)
  private val s1Update = VecInit(Seq.tabulate(Colour.Count) { e =>
    s1.valid && Mux(s1.bits.refresh, s1Config.updateDepart, s1.bits.counted) &&
    s1Config.masks(e)(s1.bits.entry.colour)
  })
  private val s1LastUpdateNext = VecInit(Seq.tabulate(Colour.Count) { e =>
    Mux(s1Update(e), s1.bits.time, s1LastUpdate(e))
  })
  private val sweep = new vermilion.fixed.SweepInit(p.queues)
  lastUpdate.write(s1Update.asUInt.orR, s1.bits.entry.queue, s1LastUpdateNext)
  lastUpdate.write(!sweep.done, sweep.address, 0.U.asTypeOf(s1LastUpdateNext))

  // -- stage 2: masked lengths and idle spells --
  private val s2Backlog = Delay(backlog.io.backlog)
  private val s2LastDeparture = Delay(backlog.io.lastDeparture)
  private val s2LastUpdate = Delay(s1LastUpdate)
  private val s2Config = Delay(s1Config)
  private val s2Update = Delay(s1Update)
  private def latest(a: UInt, b: UInt): UInt = Mux(a > b, a, b)
  private val s3Request = Reg(Valid(new AverageRequest(p)))
  s3Request.valid := stages(2).valid && !reset.asBool
  s3Request.bits.queue := stages(2).bits.entry.queue
  s3Request.bits.refresh := stages(2).bits.refresh
  s3Request.bits.lambda := s2Config.lambda
  s3Request.bits.weight := s2Config.weight
  for (e <- 0 until Colour.Count) {
    val mask = s2Config.masks(e)
    val lengths = Seq.tabulate(Colour.Count) { c =>
      Mux(mask(c), Mux(s2Config.unitPackets, s2Backlog(c).packets, s2Backlog(c).bytes), 0.U)
    }
    val left = Seq.tabulate(Colour.Count)(c => Mux(mask(c), s2LastDeparture(c), 0.U))
    val since = (left :+ s2LastUpdate(e)).reduce(latest(_, _))
    s3Request.bits.update(e) := s2Update(e)
    s3Request.bits.length(e) := saturate(lengths.reduce(_ +& _), LenBits)
    s3Request.bits.idleNs(e) := Mux(stages(2).bits.time > since, stages(2).bits.time - since, 0.U)
  }

  // -- stages 3 to 13: averages --
  averages.io.request := s3Request
  averages.io.liveQueue := io.liveQueue
  io.live := averages.io.live

  // -- stage 14: the colour's own average meets its curve --
  private val s13 = stages(AverageDone)
  private val s14 = stages(AverageDone + 1).bits
  private val s14Averages = Delay(averages.io.average)
  private val s14Average = s14Averages(s14.entry.colour)
  private val s14Decide = decideConfig.read(s13.bits.entry.queue)
  private val s14Curves = VecInit(curveConfig.map(_.read(s13.bits.entry.queue)))
  private val s14Colour = s14Curves(s14.entry.colour)
  private val s14CanMark = s14Decide.ecn && s14.ect
  curve.io.average := s14Average
  private val dropOver = s14Colour.drop.on && s14Average >= Cat(s14Colour.drop.endTh, 0.U(AvgFrac.W)) &&
    s14Average >= Cat(s14Colour.drop.minTh, 0.U(AvgFrac.W))
  curve.io.curve := Mux(s14CanMark && s14Colour.ecnOwn && !dropOver, s14Colour.ecn, s14Colour.drop)
  private val s14Backlog = Delay(s2Backlog, AverageDone + 1 - 2)
  private val s14Bytes = s14Backlog.map(_.bytes).reduce(_ +& _) +& s14.meta.lenBytes
  private val s14Packets = s14Backlog.map(_.packets).reduce(_ +& _) +& 1.U
  private val overLimit = s14Bytes > s14Decide.limitBytes || s14Packets > s14Decide.limitPackets

  // -- stages 25 to 28: weight by size, space, decide --
  private val curveDone = AverageDone + 1 + CurveUnit.Latency
  private def since14[T <: Data](x: T, stage: Int): T = Delay(x, stage - AverageDone - 1)
  size.io.lenBytes := stages(curveDone - SizeWeight.Early).bits.meta.lenBytes
  size.io.invMeanLen := since14(s14Decide.invMeanLen, curveDone - SizeWeight.Early)
  // A probability of 1 from over the end of a curve is not weighted.
  size.io.enable := since14(s14Decide.sizeWeight, curveDone) && !curve.io.overEnd
  size.io.probability := curve.io.probability
  private val decideStage = curveDone + SizeWeight.Latency
  private val s = stages(decideStage)
  verdicts.io.queue := stages(decideStage - 1).bits.entry.queue
  verdicts.io.colour := stages(decideStage - 1).bits.entry.colour
  verdicts.io.inputs.valid := s.valid && !s.bits.refresh
  verdicts.io.inputs.bits.bad := s.bits.meta.bad
  verdicts.io.inputs.bits.noBuffer := s.bits.meta.noBuffer
  verdicts.io.inputs.bits.overLimit := since14(overLimit, decideStage)
  verdicts.io.inputs.bits.overEnd := since14(dropOver, decideStage)
  verdicts.io.inputs.bits.canMark := since14(s14CanMark, decideStage)
  verdicts.io.inputs.bits.spacing := since14(s14Decide.spacing, decideStage)
  verdicts.io.inputs.bits.probability := size.io.weighted
  verdicts.io.inputs.bits.draw := s.bits.draw

  // -- last stage: admit or give back --
  private val done = stages(Latency)
  private val verdict = Delay(verdicts.io.verdict)
  private val admitted = verdict === Verdict.Enqueue.U || verdict === Verdict.Mark.U
  private val packet = done.valid && !done.bits.refresh
  private val headers = done.bits.meta.headers
  io.enqueue.valid := packet && admitted
  io.enqueue.bits.queue := done.bits.entry.queue
  private val d = io.enqueue.bits.descriptor
  d.queue := done.bits.entry.queue
  d.headCell := done.bits.meta.headCell
  d.cells := done.bits.meta.cells
  d.lenBytes := done.bits.meta.lenBytes
  d.colour := done.bits.entry.colour
  d.arrival := done.bits.time
  d.isIp4 := headers.isIp4
  d.isIp6 := headers.isIp6
  d.l3Offset := headers.l3Offset
  d.setCe := verdict === Verdict.Mark.U
  d.setDscp := done.bits.entry.setDscp
  d.dscp := done.bits.entry.dscp
  io.refused.valid := packet && !admitted && done.bits.meta.cells =/= 0.U
  io.refused.bits.head := done.bits.meta.headCell
  io.refused.bits.cells := done.bits.meta.cells
  backlog.io.refused.valid := packet && !admitted && done.bits.counted
  backlog.io.refused.bits.queue := done.bits.entry.queue
  backlog.io.refused.bits.colour := done.bits.entry.colour
  backlog.io.refused.bits.lenBytes := done.bits.meta.lenBytes

  private val out = io.decision.bits
  io.decision.valid := done.valid
  out.refresh := done.bits.refresh
  out.input := done.bits.meta.input
  out.queue := done.bits.entry.queue
  out.colour := done.bits.entry.colour
  out.lenBytes := done.bits.meta.lenBytes
  out.ecn := Mux(done.bits.ect, headers.ecn, 0.U)
  out.bad := done.bits.meta.bad
  out.noBuffer := done.bits.meta.noBuffer
  out.time := done.bits.time
  out.backlog := Delay(s2Backlog, Latency - 2)
  out.lastDeparture := Delay(s2LastDeparture, Latency - 2)
  out.ahead := Delay(averages.io.ahead, Latency - AverageDone)
  out.draw := done.bits.draw
  out.average := Delay(s14Averages, Latency - AverageDone - 1)
  out.probability := Delay(size.io.weighted)
  out.verdict := verdict
}

object PolicyPipeline {

  /** The stage in which the averages stand ready. */
  val AverageDone: Int = 3 + AverageUnit.Latency

  /** Clocks from meta to verdict. */
  val Latency: Int = AverageDone + 1 + CurveUnit.Latency + SizeWeight.Latency + 1
}
