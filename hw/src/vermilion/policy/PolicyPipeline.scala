package vermilion.policy

import chisel3._
import chisel3.util._
import vermilion.average._
import vermilion.classify._
import vermilion.control._
import vermilion.curve._
import vermilion.decide._
import vermilion.departure.{PiePorts, PieQueues, PieVerdict}
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, Memory, MemoryKind}
import vermilion.flow.{FlowEvents, FlowMarkerPorts, FlowState}
import vermilion.lane.LaneParams
import vermilion.mark.TokenMarker
import vermilion.stream._
import vermilion.victim._

/** Computes a verdict from each packet's descriptor: one per cycle, never stalled inside.
  *
  * {{{
  *   stage -10       -9 ..................... 0        1 ........ 5    6 ....... 13   14        15
  *         slot      marker                   coloured base, average   curve          spacing   admit
  *         classify     -7 .. queue state lookup                                      limit
  *                                    -2 .. 2 size                                    verdict
  * }}}
  *
  * The queue's marker gives a packet its colour. In parallel the queue state lookup reads what averages need, which does not depend on the colour.
  * Its backlog counts packets that were looked up at least [[PolicyTiming.latency]] - [[PolicyTiming.lookupAt]] + 1 cycles before. The queue's limit is compared at the verdict and is exact.
  *
  * A commit has a slot of its own. Each stage changes its configuration when that slot passes. So each packet sees all of the old configuration or all of the
  * new one. The pipeline is not drained and no packet waits. `commit` is ready when the slot has reached the last of these stages.
  * `live` answers `hostRead` [[PolicyTiming.mark]] + [[PolicyTiming.averageDone]] cycles after the transfer.
  */
class PolicyPipeline(p: LaneParams) extends Module {
  import PolicyTiming._
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val skip = Input(Bool()) // one cycle later the slot stays empty
    val descriptor = Flipped(Decoupled(new PacketDescriptor(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val enqueue = Valid(new EnqueueRequest(p))
    val refused = Valid(new Chain(p))
    val decision = Valid(new Decision(p))
    val busy = Output(Bool())

    val commit = Flipped(Decoupled(new PolicyCommit(p)))
    val classWrite = Flipped(Valid(new ClassWrite(p)))
    val routes = Input(Vec(p.inputs, UInt(p.egressBits.W))) // each input's egress
    val pool = Input(new PoolSettings(p))
    val poolUsed = Output(Vec(p.egresses, UInt((p.cellBits + 1).W))) // cells of admitted packets
    val seed = Flipped(Valid(new Seeds))
    val departureUpdates = Input(Bool()) // some queue refreshes its averages on departures
    val refreshSkipped = Output(Bool()) // a departure's refresh was dropped: its FIFO was full
    val flowEvents = Valid(new FlowEvents)
    val hostRead = Flipped(Decoupled(UInt(p.queueBits.W))) // requests a queue's averages
    val live = Valid(Vec(Colour.Count, UInt(AvgBits.W))) // aged to the time of the read
  })

  /** Only in builds with the victim search, where it replaces `enqueue` and `refused`. */
  val pushOuts = Option.when(p.victims != 0)(IO(new PushOutPorts(p)))
  val pie = Option.when(p.pie)(IO(new PiePorts(p))) // only in builds with `pie`
  private val settle = PolicyPipeline.settling(p)
  private val slots = Module(new SlotSource(p))
  private val lookup = Module(new QueueStateLookup(p))
  private val averages = Module(new AverageUnit(p))
  private val curve = Module(new QueueCurves(p))
  private val size = Module(new SizeRatio)
  private val limit = Module(new QueueLimit(p))
  private val pool = Module(new PoolLimit(p))
  private val verdicts = Module(new VerdictUnit(p))
  private val marker = Module(new TokenMarker(p))
  private val flows = Module(FlowMarkerPorts(p))
  private val distance = Module(new Distance)
  private val delays = Option.when(p.pie)(Module(new PieQueues(p)).suggestName("delays"))
  private def ofQueues[T <: Data](record: T) = new Memory(p.queues, record, MemoryKind.of(p.queues))
  private val markConfig = ofQueues(new MarkConfig)
  private val distanceConfig = ofQueues(new DistanceConfig)
  private val lookupConfig = ofQueues(new LookupConfig)
  private val stepConfig = ofQueues(new StepConfig)
  private val sizeConfig = ofQueues(new SizeConfig)
  private val decideConfig = ofQueues(new DecideConfig)

  // -- stage m0 (mN is stage -10 + N): fill the slot --
  private val ready =
    marker.io.ready && flows.io.ready && lookup.io.ready && averages.io.ready && limit.io.ready && pool.io.ready &&
      verdicts.io.ready && delays.map(_.io.ready).getOrElse(true.B) && slots.io.ready.getOrElse(true.B)
  // Registered, because it enables all that a slot changes. After a new seed it is low from the next cycle on, like the flow table's.
  private val enabled = RegNext(ready && !io.seed.valid && !io.skip, false.B)
  private val committing = RegInit(false.B) // the commit's slot is in the pipeline
  slots.io.enable := enabled
  slots.io.now := io.now
  slots.io.commit.valid := io.commit.valid && !committing
  slots.io.commit.bits := io.commit.bits.queue
  slots.io.l4sMask := io.commit.bits.config.l4sMask
  slots.io.group.zip(io.commit.bits.group).foreach { case (to, from) => to := from }
  slots.io.hostRead <> io.hostRead
  slots.io.descriptor <> io.descriptor
  slots.io.departed := io.departed
  slots.io.departureUpdates := io.departureUpdates
  slots.io.classWrite := io.classWrite
  slots.io.routes := io.routes
  slots.io.seed := io.seed
  io.refreshSkipped := slots.io.skipped

  /** The slot in each stage. Registers of empty stages keep their values. */
  private def pipeline(first: Valid[Token], length: Int): Seq[Valid[Token]] = {
    val valid = Seq.iterate(first.valid, length + 1)(v => RegNext(v && !reset.asBool))
    val held = valid.init.scanLeft(first.bits)((bits, v) => Delay.enabled(bits, v))
    valid.zip(held).map { case (v, bits) =>
      val t = Wire(Valid(new Token(p)))
      t.valid := v
      t.bits := bits
      t
    }
  }
  // The packet's time is that of the cycle before the lookup. So no departure that the lookup sees is later.
  private val early = pipeline(slots.io.token, mark + lookupAt - 1)
  private val timed = WireInit(early.last)
  timed.bits.time := io.now
  private val marking = early.init ++ pipeline(timed, 1 - lookupAt)
  private val slot = marking.head
  private def at(stage: Int): Valid[Token] = if (stage < 0) marking(mark + stage) else stages(stage)

  /** `x`, which belongs to the slot in stage `from`, delayed for the slot in stage `to`. */
  private def holdUntil[T <: Data](x: T, from: Int, to: Int): T = Delay(x, to - from)

  // -- stages m0 to 0: the packet's colour, by token bucket or by flow --
  marker.io.request.valid := slot.valid && slot.bits.isMarked
  marker.io.request.bits.queue := slot.bits.markedBy
  marker.io.request.bits.colour := slot.bits.entry.colour
  marker.io.request.bits.lenBytes := slot.bits.descriptor.lenBytes
  marker.io.request.bits.l3Offset := slot.bits.descriptor.headers.l3Offset
  marker.io.request.bits.ipBytes := slot.bits.descriptor.headers.ipBytes
  marker.io.request.bits.time := slot.bits.mark.time
  marker.io.request.bits.draw := slot.bits.mark.draw
  private val m1Config = markConfig.read(slot.bits.markedBy)
  private val m1ByFlow = marking(1).valid && marking(1).bits.isMarked && m1Config.kind === MarkerKind.Flow.U
  marker.io.config := m1Config
  flows.io.seed.valid := io.seed.valid
  flows.io.seed.bits := io.seed.bits.flow
  flows.io.request.valid := m1ByFlow
  flows.io.request.bits.queue := marking(1).bits.markedBy
  flows.io.request.bits.time := marking(1).bits.mark.time
  flows.io.request.bits.headers := marking(1).bits.descriptor.headers
  flows.io.request.bits.config := m1Config.flow
  io.flowEvents.valid := flows.io.answer.valid
  io.flowEvents.bits := flows.io.answer.bits.events
  private val byBucket = holdUntil(marker.io.marked, bucketDone, 0)
  private val byFlow = holdUntil(m1ByFlow, 1 - mark, 0)
  private val flow = holdUntil(flows.io.answer.bits, flowDone, 0)
  private val flowPoliced = (holdUntil(m1Config.drop, 1 - mark, 0) >> flow.colour)(0)

  // -- stages m1 to m5: the packet's distance --
  distance.io.headers := marking(1).bits.descriptor.headers
  distance.io.config := distanceConfig.read(slot.bits.entry.queue)

  // -- stage 0: the packet has its colour and distance --
  private val token = Wire(Valid(new Token(p)))
  token := marking(mark)
  token.bits.distance := holdUntil(distance.io.distance, 1 - mark + Distance.Latency, 0)
  when(marking(mark).bits.isMarked) {
    token.bits.entry.colour := Mux(byFlow, flow.colour, byBucket.colour)
    token.bits.mark.policed := Mux(byFlow, flowPoliced, byBucket.policed)
    token.bits.mark.level := byBucket.level
    token.bits.mark.hasFlow := byFlow && flow.hasState
    token.bits.mark.flow := Mux(byFlow, flow.state, 0.U.asTypeOf(new FlowState))
  }
  private val stages = pipeline(token, latency)
  private def carries(stage: Int, slot: Slot.Type): Bool = at(stage).valid && at(stage).bits.slot === slot
  private val unsettled = Wire(Bool())
  io.busy := (marking ++ stages).map(_.valid).reduce(_ || _) || slots.io.waiting || !enabled || unsettled

  // -- a commit passes the stages at which configuration is read --
  private val commits = slot.valid && slot.bits.slot === Slot.Commit
  when(commits) { committing := true.B }
  markConfig.write(commits, io.commit.bits.queue, io.commit.bits.config.mark)
  distanceConfig.write(commits, io.commit.bits.queue, io.commit.bits.config.distance)
  lookupConfig.write(carries(lookupAt, Slot.Commit), io.commit.bits.queue, LookupConfig(io.commit.bits.config.average))
  stepConfig.write(carries(stepRead, Slot.Commit), io.commit.bits.queue, StepConfig(io.commit.bits.config.average))
  sizeConfig.write(carries(ratioRead, Slot.Commit), io.commit.bits.queue, io.commit.bits.config.size)
  decideConfig.write(carries(decideRead, Slot.Commit), io.commit.bits.queue, io.commit.bits.config.decide)
  io.commit.ready := carries(if (p.pie) decideRead.max(PolicyTiming.pie) else decideRead, Slot.Commit)
  curve.io.commit.valid := carries(curveRequest, Slot.Commit)
  curve.io.commit.bits.queue := io.commit.bits.queue
  curve.io.commit.bits.colours := io.commit.bits.config.colours
  when(io.commit.ready) { committing := false.B }

  private val decided = carries(latency, Slot.Packet)
  // The victim of a push-out, if another packet than the arriving one; the packet that lost a push-out.
  private val evicted, lost = Wire(Valid(new Counted(p)))

  // -- up to stage 1: queue state lookup for the averages --
  lookup.io.now := io.now
  lookup.io.departed := io.departed
  lookup.io.queue := at(lookupAt).bits.entry.queue
  lookup.io.time := at(lookupAt).bits.time
  lookup.io.isPacket := at(lookupAt).bits.isPacket
  lookup.io.config := lookupConfig.read(at(lookupAt).bits.entry.queue)

  // -- stage 1: which averages the packet changes --
  private val stepNow = stepConfig.read(at(stepRead).bits.entry.queue)
  private val s1 = stages(1).bits
  private val s1Config = holdUntil(stepNow, stepRead + 1, 1)
  private val s1Updates = s1.counted || (s1.slot === Slot.Refresh && s1Config.update)
  private val s1Update = VecInit(Seq.tabulate(Colour.Count) { e =>
    stages(1).valid && s1Updates && s1Config.masks(e)(s1.entry.colour)
  })
  lookup.io.update := s1Update
  lookup.io.ahead := averages.io.aheadNow

  // -- up to stage 6: averages --
  private val asked = at(stepRead + 1)
  averages.io.queue := at(averageQueue).bits.entry.queue
  averages.io.request.valid := asked.valid
  averages.io.request.bits.refresh := asked.bits.slot === Slot.Refresh
  averages.io.request.bits.hostRead := asked.bits.slot === Slot.HostRead
  averages.io.request.bits.update := s1Update
  averages.io.request.bits.seen := lookup.io.seen
  averages.io.request.bits.weight := stepNow.weight
  averages.io.colour := stages(averageColour).bits.entry.colour
  io.live.valid := carries(averageDone, Slot.HostRead)
  io.live.bits := averages.io.average

  // -- stages -2 to 2: the packet's size ratio; then the request for its colour's curves --
  size.io.lenBytes := at(ratioRead + 1).bits.descriptor.lenBytes
  size.io.config := sizeConfig.read(at(ratioRead).bits.entry.queue)
  curve.io.ratio := size.io.ratio
  curve.io.request.valid := carries(curveRequest, Slot.Packet)
  curve.io.request.bits.queue := at(curveRequest).bits.entry.queue
  curve.io.request.bits.colour := at(curveRequest).bits.entry.colour

  // -- stage 6: input of the curves: the average of the packet's colour --
  private val s6 = stages(averageDone).bits
  private val s6Decide = decideConfig.read(stages(decideRead).bits.entry.queue)
  private val s6CanMark = s6Decide.ecn && s6.isEct
  curve.io.average := averages.io.own
  curve.io.canMark := s6CanMark

  // -- stages 7 to 15: PIE, whose queues have the probability 0 of no curve; drop spacing, limits, verdict --
  for ((delays, ports) <- delays.zip(pie)) {
    ports <> delays.io.ports
    delays.io.now := io.now
    delays.io.configure.valid := carries(PolicyTiming.pie, Slot.Commit)
    delays.io.configure.bits := io.commit.bits.forPie
    delays.io.arrival.valid := carries(PolicyTiming.pie, Slot.Packet) && stages(PolicyTiming.pie).bits.counted
    delays.io.arrival.bits := stages(PolicyTiming.pie).bits.forPie
    val backlog = lookup.io.backlog.map(_.bytes).reduce(_ + _)
    delays.io.arrival.bits.backlog := holdUntil(backlog, backlogSeen, PolicyTiming.pie)
    delays.io.lost := limit.io.over || pool.io.over
  }
  private def holdS6Until[T <: Data](x: T, stage: Int): T = holdUntil(x, averageDone, stage)
  private val before = stages(decide - 1).bits
  limit.io.departed := io.departed
  limit.io.ahead.valid := stages(limitAhead).valid
  limit.io.ahead.bits := stages(limitAhead).bits.entry.queue
  limit.io.request.queue := before.entry.queue
  limit.io.request.lenBytes := before.descriptor.lenBytes
  limit.io.request.limit := holdS6Until(s6Decide.limit, decide - 1)
  limit.io.request.limitPackets := holdS6Until(s6Decide.limitPackets, decide - 1)
  pool.io.settings := io.pool
  io.poolUsed := pool.io.used
  pool.io.departed := io.departed
  pool.io.queue := stages(decide - PoolLimit.Ahead).bits.entry.queue
  pool.io.lenBytes := stages(decide - PoolLimit.Ahead + 1).bits.descriptor.lenBytes
  pool.io.alpha := holdS6Until(s6Decide.alpha, decide - PoolLimit.Ahead + 2)

  private val deciding = carries(decide, Slot.Packet)
  verdicts.io.queue := stages(decide - VerdictUnit.Ahead).bits.entry.queue
  verdicts.io.colour := stages(decide - VerdictUnit.Ahead).bits.entry.colour
  verdicts.io.inputs.valid := deciding
  verdicts.io.inputs.bits.bad := stages(decide).bits.descriptor.bad
  verdicts.io.inputs.bits.noBuffer := stages(decide).bits.descriptor.noBuffer
  verdicts.io.inputs.bits.policed := stages(decide).bits.mark.policed
  verdicts.io.inputs.bits.overLimit := limit.io.over || pool.io.over
  verdicts.io.inputs.bits.overEnd := holdUntil(curve.io.forced, forced, decide)
  verdicts.io.inputs.bits.canMark := holdS6Until(s6CanMark, decide)
  // A shift register built from LUTs has a slow output. So these values are computed one stage before and registered.
  verdicts.io.inputs.bits.notDraw := Delay((~before.draw).asUInt)
  private val spacing = holdS6Until(s6Decide.spacing, decide - 1)
  verdicts.io.inputs.bits.geometric := Delay(spacing === Spacing.Geometric.U)
  verdicts.io.inputs.bits.waits := Delay(spacing === Spacing.Wait.U)
  verdicts.io.inputs.bits.probability := curve.io.probability
  verdicts.io.inputs.bits.pie := delays.map(_.io.verdict).getOrElse(0.U.asTypeOf(new PieVerdict))
  private val provisional = verdicts.io.verdict
  private val byCurve =
    provisional === Verdict.Early.U || provisional === Verdict.Forced.U || provisional === Verdict.Mark.U
  private val tailForm = holdS6Until(s6Decide.victimWindow, decide) =/= 0.U
  private val pushOut =
    if (p.victims == 0) false.B
    else holdS6Until(s6Decide.victim, decide) && Mux(tailForm, provisional === Verdict.Tail.U, byCurve)
  limit.io.admit := verdicts.io.admits || (deciding && pushOut)
  pool.io.admit := limit.io.admit
  assert(
    verdicts.io.admits === (deciding && Verdict.admits(provisional)),
    "a packet counts that is not admitted, or the reverse"
  )
  // -- last stage: admit, or return the cells, or request a push-out --
  private val done = stages(latency).bits
  private val provisionalVerdict = Delay(provisional)
  private val pushesOut = Delay(pushOut)
  private val admitted = decided && Verdict.admits(provisionalVerdict) && !pushesOut
  private val headers = done.descriptor.headers
  io.enqueue.valid := admitted && (p.victims == 0).B
  io.enqueue.bits.queue := done.entry.queue
  private val d = io.enqueue.bits.queueEntry
  d := done.queueEntry
  d.setCe := admitted && provisionalVerdict === Verdict.Mark.U
  private val remark = holdS6Until(s6Decide.remark(s6.entry.colour), latency)
  d.setDscp := remark.on || done.descriptor.rule.map(_.action.dscp.valid).getOrElse(false.B)
  d.dscp := done.descriptor.rule.map(rule => Mux(remark.on, remark.dscp, rule.action.dscp.bits)).getOrElse(remark.dscp)
  d.removeOption := headers.hasTtlOption && holdS6Until(s6Decide.ttlOption, latency)
  io.refused.valid := decided && !admitted && done.descriptor.cells =/= 0.U && (p.victims == 0).B
  io.refused.bits.head := done.descriptor.headCell
  io.refused.bits.cells := done.descriptor.cells

  // -- settled: the result is final after the push-out; in builds without the victim search at once --
  private val leavingLater =
    Seq.iterate(decided || carries(latency, Slot.Refresh), settle + 1)(RegNext(_, false.B))
  private val outcome = Wire(new Outcome(VictimParams.of(p)))
  private val settledPushOut = Delay(pushesOut && decided, settle)
  private val own = Wire(new Counted(p))
  own.queue := done.entry.queue
  own.colour := done.entry.colour
  own.lenBytes := done.descriptor.lenBytes
  private val settled = Delay(own, settle)
  private val victim = WireInit(settled)
  victim.colour := outcome.victim.colour
  victim.lenBytes := outcome.victim.lenBytes
  pushOuts match {
    case None =>
      outcome := 0.U.asTypeOf(outcome)
      lookup.io.admitted.valid := admitted
      evicted.valid := false.B
      lost.valid := false.B
    case Some(ports) =>
      val arrival = ports.arrival.bits
      ports.arrival.valid := decided
      arrival.queueEntry := d
      arrival.distance := done.distance
      arrival.ect := done.isEct
      arrival.action := Mux(pushesOut, Action.PushOut.U, Mux(admitted, Action.Admit.U, Action.Refuse.U))
      arrival.byColour := holdS6Until(s6Decide.victimByColour, latency)
      arrival.mayMark := holdS6Until(s6Decide.ecn, latency) && provisionalVerdict =/= Verdict.Forced.U
      arrival.last := holdS6Until(s6Decide.lastMayLose, latency)
      arrival.asLong := Delay(limit.io.overBytes || pool.io.over)
      outcome := ports.outcome.bits
      lookup.io.admitted.valid := ports.outcome.valid && outcome.enqueued
      evicted.valid := ports.outcome.valid && outcome.evicted
      lost.valid := ports.outcome.valid && settledPushOut && (outcome.evicted || !outcome.enqueued)
      ports.ahead := PushOutPorts.sought(p, at(seek), carries(seek, Slot.Packet), holdS6Until(s6Decide, seek))
      assert(!ports.outcome.valid || leavingLater.last, "the outcome and the decision are not in the same cycle")
  }
  lookup.io.admitted.bits := settled
  evicted.bits := victim
  lost.bits := Mux(outcome.evicted, victim, settled)
  lookup.io.evicted := evicted
  limit.io.lost := lost
  pool.io.lost := lost
  private val out = Wire(new Decision(p))
  io.decision.valid := leavingLater.last
  unsettled := leavingLater.tail.foldLeft(false.B)(_ || _)
  out.refresh := done.slot === Slot.Refresh
  out.input := done.descriptor.input
  out.queue := done.entry.queue
  out.colour := done.entry.colour
  out.lenBytes := done.descriptor.lenBytes
  out.ecn := Mux(done.isEct, headers.ecn, 0.U)
  out.bad := done.descriptor.bad
  out.noBuffer := done.descriptor.noBuffer
  out.time := done.time
  out.backlog := holdUntil(lookup.io.backlog, backlogSeen, latency)
  out.lastDeparture := holdUntil(lookup.io.lastDeparture, lookupAt + 2, latency)
  out.ahead := holdUntil(averages.io.ahead, averageDone, latency)
  out.draw := done.draw
  out.average := holdUntil(averages.io.average, averageDone, latency)
  out.updated.foreach(_ := holdUntil(s1Update, 1, latency))
  out.probability := Delay(curve.io.probability | delays.map(_.io.probability).getOrElse(0.U))
  out.queued := limit.io.queued
  out.poolFull := Delay(pool.io.over)
  out.distance := done.distance
  out.verdict := provisionalVerdict
  out.mark := done.mark
  out.provisionalVerdict := provisionalVerdict
  out.pushOut := pushesOut
  out.headCell := done.descriptor.headCell
  done.tell(out, slots.io.flow.map(holdUntil(_, -mark, latency)))
  out.outcome := 0.U.asTypeOf(out.outcome)
  io.decision.bits := Delay(out, settle)
  io.decision.bits.outcome := outcome
  when(settledPushOut && outcome.enqueued) {
    io.decision.bits.verdict := Mux(outcome.marked, Verdict.Mark.U, Verdict.Enqueue.U)
  }
}

object PolicyPipeline {

  /** Cycles from the last stage to the decision at the port: the time of the victim search. */
  def settling(p: LaneParams): Int = if (p.victims == 0) 0 else VictimQueues.Latency
}
