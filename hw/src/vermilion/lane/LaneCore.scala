package vermilion.lane

import chisel3._
import chisel3.util._
import vermilion.classify.{ClassWrite, RulePorts}
import vermilion.decide.PoolSettings
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.flow.FlowEvents
import vermilion.parse.TtlOptionTypes
import vermilion.policy._
import vermilion.protect.{UpsetCounters, UpsetCounts}
import vermilion.queue._
import vermilion.report._
import vermilion.schedule._
import vermilion.stats.FlowCollisions
import vermilion.stream._

/** The signals between a control port and a lane. */
class LaneConfiguration(p: LaneParams) extends Bundle {
  val commit = Flipped(Decoupled(new PolicyCommit(p)))
  val service = Flipped(Valid(new QueueService(p)))
  val portShaper = Flipped(Vec(p.egresses, Valid(new ShaperConfig)))
  val paused = Input(Vec(p.egresses, Bool()))
  val flush = Input(new FlushSettings(p))
  val routes = Input(Vec(p.inputs, UInt(p.egressBits.W))) // each input's egress
  val pool = Input(new PoolSettings(p))
  val poolUsed = Output(Vec(p.egresses, UInt((p.cellBits + 1).W)))
  val classWrite = Flipped(Valid(new ClassWrite(p)))
  val seed = Flipped(Valid(new Seeds))
  val departureUpdates = Input(Bool())
  val ttlOption = Input(new TtlOptionTypes)
  val hostRead = Flipped(Decoupled(UInt(p.queueBits.W))) // requests a queue's averages
  val live = Valid(Vec(Colour.Count, UInt(AvgBits.W))) // the answer
  val flowEvents = Valid(new FlowEvents)
  val refreshSkipped = Output(Bool()) // a departure refreshed no average: packets used all slots
  val reports = Option.when(p.reports)(new ReportPorts(p))
  val rules = Option.when(p.rules > 0)(new RulePorts(p.ruleBits))
  val flowCollision = Option.when(p.fq)(Output(Bool())) // a packet was enqueued after one of another flow
}

/** Instantiates and connects the blocks of a lane's datapath.
  *
  * {{{
  *   in(i) -> Ingress -+-> cells ------------> CellBuffer --> PacketReader -> HeaderRewrite -> Serializer -> out
  *      IngressArbiter +                         ^ free           ^
  *                     +-> heads -> HeaderParser -> descriptors -> PolicyPipeline -> EgressQueues
  * }}}
  * `now` is the time in ns; it may jump, and be set back (architecture.md, "Times"). `busy` is low when only an arrival or the time in
  * `wake` can change anything but the stream of reports. `holdsPackets` is also high while packets wait for that time. The host's status register shows it.
  *
  * After a reset the inputs open when `ready` is high and the tables of the policy pipeline and the victim search are clear. Until then an input that
  * can be stalled waits. At the others, frames are left out and reported on `lost`. `lost(i)` gives the length of each frame that is left out,
  * `Ingress.LostLatency` cycles after its last beat.
  *
  * In builds with `protect`, the tables of the queues are cleared too. When `upsets.failed` rises, the inputs close until a reset, and no packet is
  * taken from a queue. All beats that still leave are `bad`, except a beat that is already stalled (docs/soft-errors.md).
  */
class LaneCore(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val ready = Input(Bool()) // the receiver of the events below can accept them
    val skip = Input(Bool()) // some cycles later, for one cycle, no packet is decided or taken from a queue
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits, p.userBits))))
    val lost = Output(Vec(p.inputs, Valid(UInt(PktLenBits.W))))
    val out = Vec(p.egresses, Decoupled(new AxisBeat(p.dataBits, p.userBits)))
    val configuration = new LaneConfiguration(p)
    val decision = Valid(new Decision(p))
    val departed = Valid(new Departure(p))
    val ceWritten = Valid(new Departure(p))
    val freeCells = Output(UInt((p.cellBits + 1).W))
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val holdsPackets = Output(Bool())
  })

  /** In builds with `protect`. */
  val upsets = Option.when(p.protect)(IO(Output(new UpsetCounts)))

  /** In builds with `userBits`. */
  val fates = Option.when(p.userBits > 0)(IO(new FateReport(p)))

  /** In builds with `reports`: [[vermilion.report.ReportStream]]. */
  val reports = Option.when(p.reports)(IO(Decoupled(new AxisBeat(p.dataBits))))

  private val ingress = Seq.tabulate(p.inputs)(i => Module(new Ingress(p, i)))
  private val arbiter = Module(new IngressArbiter(p))
  private val policy = Module(new PolicyPipeline(p))
  private val queues = Module(new EgressQueues(p))
  private val buffer = Module(new CellBuffer(p))
  private val free = Module(new FreeList(p))
  private val ways = Seq.tabulate(p.egresses)(e => new EgressPath(p, e))
  private val reads = ways.map(_.reader.io)
  private val users = fates.map(_ => Module(new FrameUsers(p)))
  private val reporter = reports.map(_ => Module(new ReportStream(p)).suggestName("reporter"))

  // -- in --
  private val running = RegInit(false.B)
  private val guards = Seq(buffer.guard, free.guard, queues.guard).flatten
  private val queuesReady =
    (queues.pushOuts.map(_.ready) ++ guards.map(_.ready) ++ reporter.map(_.io.ready) ++
      arbiter.io.rules.map(_.ready)).foldLeft(true.B)(_ && _)
  when(io.ready && policy.io.descriptor.ready && queuesReady) { running := true.B }
  for ((each, i) <- ingress.zipWithIndex) {
    each.io.in <> io.in(i)
    each.io.running := running
    io.lost(i) := each.io.lost
    each.io.alloc <> arbiter.io.inputs(i).alloc
    each.io.cellsLeft := arbiter.io.inputs(i).cellsLeft
    arbiter.io.inputs(i).cell <> each.io.cell
    arbiter.io.inputs(i).end <> each.io.end
    each.io.descriptorTaken := arbiter.io.inputs(i).descriptorTaken
  }
  arbiter.io.types := io.configuration.ttlOption
  arbiter.io.rules.zip(io.configuration.rules).foreach { case (to, from) => to <> from }
  arbiter.io.alloc <> free.io.cell
  // One cycle later: it is known late which cell is written, and the selection goes to every bit. The packet is requested much later.
  buffer.io.write.valid := RegNext(arbiter.io.write.valid, false.B)
  buffer.io.write.bits := RegNext(arbiter.io.write.bits)

  // -- decide --
  policy.io.now := io.now
  policy.io.skip := io.skip
  // The hash of a flow takes a cycle of its own: a register before it.
  policy.io.descriptor <> (if (p.fq) Queue(arbiter.io.descriptor, 1, pipe = true) else arbiter.io.descriptor)
  policy.io.departed := queues.io.departed
  policy.io.commit <> io.configuration.commit
  policy.io.classWrite := io.configuration.classWrite
  policy.io.seed := io.configuration.seed
  policy.io.routes := io.configuration.routes
  policy.io.pool := io.configuration.pool
  io.configuration.poolUsed := policy.io.poolUsed
  policy.io.departureUpdates := io.configuration.departureUpdates
  policy.io.hostRead <> io.configuration.hostRead
  io.configuration.live := policy.io.live
  io.configuration.refreshSkipped := policy.io.refreshSkipped
  io.configuration.flowEvents := policy.io.flowEvents
  for (found <- io.configuration.flowCollision) {
    val collisions = Module(new FlowCollisions(p))
    collisions.io.decision := policy.io.decision
    found := collisions.io.found
  }

  // -- queue and schedule --
  queues.io.now := io.now
  queues.io.skip := io.skip
  queues.io.enqueue := policy.io.enqueue // with the victim search, the loop below replaces this
  queues.io.configure := io.configuration.service
  queues.io.configurePort := io.configuration.portShaper
  queues.io.paused := io.configuration.paused
  queues.io.flush := io.configuration.flush
  for ((decides, tells) <- policy.pie.zip(queues.delays)) {
    decides.queues.departed := tells.departed
    tells.query := decides.queues.query
    decides.queues.isEmpty := tells.isEmpty
  }
  for (ports <- queues.dualPi2) {
    ports.seed.valid := io.configuration.seed.valid
    ports.seed.bits := io.configuration.seed.bits.flow
  }
  for (ports <- queues.marks) {
    ports.seed.valid := io.configuration.seed.valid
    ports.seed.bits := io.configuration.seed.bits.flow
    ports.averaged := policy.io.decision.bits.averaged(policy.io.decision.valid)
  }
  private val refused = WireInit(policy.io.refused)
  for ((decides, settles) <- policy.pushOuts.zip(queues.pushOuts)) {
    settles.ahead := decides.ahead
    settles.arrival := decides.arrival
    decides.outcome := settles.outcome
    refused := settles.freed
  }
  private val held = reporter.map(_ => Module(new HeldChains(p, ReportHeads.HoldCycles)).suggestName("held"))
  free.io.freedByPolicy := held.map(_.io.out).getOrElse(refused)
  held.foreach(_.io.in := refused)
  // One cell is read per cycle, so at most one chain returns per cycle. A discarded packet's chain returns in a cycle without a cell from a reader.
  private val discardGranted = Wire(Bool())
  queues.io.discarded.ready := discardGranted && users.map(_.io.mayDiscard).getOrElse(true.B)
  private val discarded = Wire(Valid(new Chain(p)))
  discarded.valid := queues.io.discarded.fire
  discarded.bits := queues.io.discarded.bits
  private val chains = reads.map(_.freed) :+ discarded
  free.io.freedByReader.valid := chains.map(_.valid).reduce(_ || _)
  free.io.freedByReader.bits := Mux1H(chains.map(chain => chain.valid -> chain.bits))
  assert(PopCount(chains.map(_.valid)) <= 1.U, "cells of two packets are freed in one cycle")
  buffer.io.walk <> free.io.walk
  buffer.io.linkUsed := reads.map(_.linkUsed).reduce(_ || _)

  // -- out --
  private val readAddress = Wire(UInt(p.cellBits.W))
  private val spare = Wire(Bool()) // no reader needs the read port
  if (p.egresses == 1) {
    reads.head.reads := true.B
    readAddress := reads.head.readAddress
    spare := reads.head.spare.getOrElse(true.B)
    discardGranted := !reads.head.cell.fire
  } else {
    // A discard also takes a turn, in which no cell is read.
    val arbiter = Module(new RRArbiter(UInt(p.cellBits.W), p.egresses + 1))
    arbiter.io.out.ready := true.B
    arbiter.io.in.last.valid := queues.io.discarded.valid && !queues.io.discarded.ready
    arbiter.io.in.last.bits := DontCare
    discardGranted := RegNext(arbiter.io.in.last.fire, false.B)
    for ((read, request) <- reads.zip(arbiter.io.in)) {
      request.valid := read.wants
      request.bits := read.readAddress
      read.reads := request.fire
    }
    readAddress := arbiter.io.out.bits
    spare := !arbiter.io.out.valid
  }
  private val shared = reporter.map(_ => Module(new ReportReads(p)).suggestName("reportReads"))
  buffer.io.readAddress := shared.map(_.io.address).getOrElse(readAddress)
  for ((reporter, shared) <- reporter.zip(shared)) {
    shared.io.spare := spare
    shared.io.wanted := readAddress
    shared.io.request := reporter.io.request
    shared.io.data := buffer.io.readData
    shared.io.link := buffer.io.readLink
    reporter.io.arrival := ReportEvent.ofDecision(p, policy.io.decision)
    reporter.io.departure := queues.reported.get
    reporter.io.written.valid := buffer.io.write.valid
    reporter.io.written.bits := buffer.io.write.bits.cell
    reporter.io.readAddress := buffer.io.readAddress
    reporter.io.readData := buffer.io.readData
    reports.foreach(_ <> reporter.io.out)
    for (ports <- io.configuration.reports) {
      reporter.io.settings := ports.settings
      reporter.io.select := ports.select
      ports.counts := reporter.io.counts
      ports.ready := reporter.io.ready
    }
  }
  for ((way, e) <- ways.zipWithIndex) {
    way.reader.io.packet <> queues.io.queueEntry(e)
    way.reader.io.readData := shared.map(_.io.shownData).getOrElse(buffer.io.readData)
    way.reader.io.readLink := shared.map(_.io.shownLink).getOrElse(buffer.io.readLink)
    io.out(e) <> way.serializer.io.out
  }
  for (upset <- upsets) {
    val counters = Module(new UpsetCounters(guards.map(_.events.size).sum))
    counters.io.events := VecInit(guards.flatMap(_.events))
    guards.foreach(_.failed := counters.io.failed)
    upset := counters.io.counts
    when(counters.io.failed) { running := false.B }
    for ((out, way) <- io.out.zip(ways)) {
      val bad = Wire(Bool()) // a stalled beat does not change
      bad := Mux(RegNext(out.valid && !out.ready, false.B), RegNext(bad, false.B), counters.io.failed)
      out.bits.bad := bad || way.serializer.io.out.bits.bad
    }
  }

  for ((report, users) <- fates.zip(users)) {
    users.io.descriptor.valid := policy.io.descriptor.fire
    users.io.descriptor.bits := policy.io.descriptor.bits
    users.io.decision := policy.io.decision
    users.io.discarded.valid := discarded.valid
    users.io.discarded.bits := discarded.bits.head
    for ((way, e) <- ways.zipWithIndex) {
      users.io.leaving(e).valid := way.rewrite.io.in.fire && way.rewrite.io.in.bits.cell.first
      users.io.leaving(e).bits := way.rewrite.io.in.bits.queueEntry.headCell
      users.io.sentLast(e) := io.out(e).fire && io.out(e).bits.last
      io.out(e).bits.user := users.io.sent(e)
    }
    report <> users.io.report
  }

  io.decision := policy.io.decision
  io.departed := queues.io.departed
  private val ceWaiting = WireDefault(VecInit.fill(p.egresses)(false.B)) // marked at the egress, not counted yet
  if (p.egresses == 1) io.ceWritten := ways.head.ceWritten
  else {
    // Several may leave in one cycle. In the long run at most one leaves per cycle, because one cell is read per cycle.
    val arbiter = Module(new RRArbiter(new Departure(p), p.egresses))
    for (((way, request), e) <- ways.zip(arbiter.io.in).zipWithIndex) {
      val waiting = Module(new Queue(new Departure(p), LaneCore.ceWritten(p)))
      waiting.io.enq.valid := way.ceWritten.valid
      waiting.io.enq.bits := way.ceWritten.bits
      assert(!waiting.io.enq.valid || waiting.io.enq.ready, "a packet that was marked at departure is not counted")
      request <> waiting.io.deq
      ceWaiting(e) := waiting.io.deq.valid
    }
    arbiter.io.out.ready := true.B
    io.ceWritten.valid := arbiter.io.out.valid
    io.ceWritten.bits := arbiter.io.out.bits
  }
  io.freeCells := free.io.freeCells

  // Frames in the ingress: from the last beat to the descriptor or the loss (`frames`), and before the last beat (`open`).
  private val frames = RegInit(0.U(16.W))
  private val ended = RegNext(PopCount(VecInit(io.in.map(i => i.fire && i.bits.last))), 0.U) // counted one cycle later
  private val lost = RegNext(PopCount(io.lost.map(_.valid)), 0.U) // so are these
  private val begun = RegNext(policy.io.descriptor.fire, false.B) // and these, when the pipeline reports them as busy
  frames := frames + ended - begun - lost
  private val open = RegInit(VecInit.fill(p.inputs)(false.B))
  for (i <- 0 until p.inputs) when(io.in(i).fire) { open(i) := !io.in(i).bits.last }
  io.wake := (policy.pie.map(_.wake) ++ queues.dualPi2.map(_.wake)).foldLeft(queues.io.wake)(LaneCore.earlier)
  private val elsewhere =
    !queuesReady || frames =/= lost || ended =/= 0.U || open.asUInt.orR || policy.io.busy || ways
      .map(_.holdsCells)
      .reduce(_ || _) || ceWaiting.reduce(_ || _) ||
      io.configuration.commit.valid
  private val holds = held.map(_.io.busy).getOrElse(false.B)
  private val rules = arbiter.io.rules.map(_.pending).getOrElse(false.B)
  private val updates = (policy.pie.map(_.busy) ++ queues.dualPi2.map(_.busy)).foldLeft(false.B)(_ || _)
  io.busy := elsewhere || queues.io.busy || updates || holds || rules
  io.holdsPackets := elsewhere || queues.io.holdsPackets
}

object LaneCore {

  /** The earlier of two times. */
  private def earlier(one: Valid[UInt], other: Valid[UInt]): Valid[UInt] = {
    val out = Wire(Valid(UInt(TimeBits.W)))
    out.valid := one.valid || other.valid
    out.bits := Mux(one.valid && !(other.valid && Arithmetic.reached(one.bits, other.bits)), one.bits, other.bits)
    out
  }

  /** Maximum number of packets that an egress has marked and that are not counted yet. One packet is counted and one cell is read per cycle. So all
    * egresses together have at most as many as the cells that their paths held at the beginning: at most 4 each.
    */
  private def ceWritten(p: LaneParams): Int = 4 * p.egresses
}
