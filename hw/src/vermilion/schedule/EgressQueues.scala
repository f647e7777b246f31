package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.departure._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.QueueManager
import vermilion.report.ReportEvent
import vermilion.stream._
import vermilion.victim._

/** Holds the queues of all egresses and one scheduler per egress.
  *
  * Packets enter by queue number. They leave each egress in the order in which its scheduler chooses them.
  *
  * The highest bits of a queue's number name its egress. The schedulers share the queues' memories: with several egresses each may take
  * a packet in one of `egresses` cycles, its phase ([[EgressPhases]]). Everything else runs for all egresses in every cycle.
  *
  * `queueEntry` feeds a `PacketReader`. A packet counts as departed (`departed`) when it is chosen. The scheduler chooses the next packet
  * before the reader asks for it. So between two packets the reader waits only for the scheduler's rate.
  * The scheduler chooses only while fewer than `AheadCells` cells wait for the reader: 4, the number of cycles that a choice takes; 16 in builds with
  * `codel`. So in addition to the packet that is read, at most 3 or 15 cells (192 or 960 bytes) and one longest frame are departed but unread.
  *
  * In these builds every packet that is chosen gets a verdict ([[vermilion.departure.DepartureVerdicts]]). One that is dropped takes the path of a discarded packet, and
  * costs its queue and its port nothing. `departed` and `queueEntry` are 3 cycles later. When another drop of a queue may be due at once, its
  * egress waits until the queue is settled, 10 cycles after the verdict:
  *  - If its port has a rate, nothing is chosen.
  *  - A queue with a rate is not chosen if no other is listed, with or without a packet.
  *  - Otherwise packets are chosen only while fewer than 12 cells wait for the reader.
  *
  * Packets of the queue that are chosen then pass, as do up to 3 that were chosen before the verdict. So a queue with a rate that is listed beside
  * others may drop only one packet for each that it sends.
  *
  * In builds with the victim search every arriving packet enters here, and `outcome` gives its result ([[vermilion.victim.VictimQueues]]). `ahead` asks
  * about a packet before it arrives. The scheduler then serves the heads of the queues, and `departed` is 6 cycles later.
  *
  * Latency: from the enqueue of a packet to an empty lane, 4 cycles to `departed` and 5 to `queueEntry`. The phase adds up to
  * `egresses` - 1. If the packet's queue is shaped, up to `queues` + 6 more.
  * `paused` stops an egress between two packets. Chosen packets have departed, but the reader gets none of them until the pause ends.
  * `flush` discards packets instead of sending them ([[FlushSettings]]). They depart (`flushed`), and `discarded` gives their cells
  * in place of `queueEntry`. Packets that were chosen before the flush are sent.
  * `busy` is low when only time (see `wake`), an enqueue or the end of a pause can change the state here. It may be high while a flush is set.
  * In the first `queues` cycles after reset no packet may be enqueued and nothing configured.
  *
  * @param verdict in builds with `codel`, what decides about each packet: only proofs have another than [[vermilion.departure.CodelUnit]]
  */
class EgressQueues(p: LaneParams, verdict: LaneParams => HeadVerdict = new CodelUnit(_)) extends Module {
  private val AheadCells = if (p.codel) 16 else 4

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val skip = Input(Bool()) // in the next cycle no packet is taken
    val enqueue = Flipped(Valid(new EnqueueRequest(p))) // in builds without the victim search
    val configure = Flipped(Valid(new QueueService(p)))
    val configurePort = Flipped(Vec(p.egresses, Valid(new ShaperConfig)))
    val paused = Input(Vec(p.egresses, Bool()))
    val flush = Input(new FlushSettings(p))
    val queueEntry = Vec(p.egresses, Decoupled(new QueueEntry(p)))
    val discarded = Decoupled(new Chain(p)) // the cells of a packet that was flushed
    val departed = Valid(new Departure(p))
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val holdsPackets = Output(Bool()) // packets are here, whatever they wait for
  })

  /** In builds with the victim search, in place of `enqueue`. */
  val pushOuts = Option.when(p.victims != 0)(IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(VictimParams.of(p))))
    val arrival = Flipped(Valid(new ArrivalRequest(p, VictimParams.of(p))))
    val outcome = Valid(new Outcome(VictimParams.of(p)))
    val freed = Valid(new Chain(p))
    val ready = Output(Bool()) // low after reset; until it is high no packet may come
  }))

  /** In builds with `pie`: what its controller needs of the queues. `departed` comes one cycle after a packet is taken. */
  val delays = Option.when(p.pie)(IO(new Bundle {
    val departed = Valid(new PieDeparture(p))
    val query = Input(UInt(p.queueBits.W))
    val isEmpty = Output(Bool()) // one cycle after `query`
  }))

  val dualPi2 = Option.when(p.dualpi2)(IO(new DualPi2Ports))
  val marks = Option.when(p.codel)(IO(new MarkPorts(p)))

  /** In builds with `reports`: packets that are discarded, or marked, instead of just sent. */
  val reported = Option.when(p.reports)(IO(Valid(new ReportEvent(p))))

  private val guards = new Guards(p.protect)
  private val manager = Module(new QueueManager(p))
  private val queues = manager.io
  private val taken = queues.taken
  queues.enqueue := io.enqueue
  private val came = Wire(Valid(new QueuedBytes(p)))
  came.valid := io.enqueue.valid
  came.bits.queue := io.enqueue.bits.queue
  came.bits.bytes := io.enqueue.bits.queueEntry.lenBytes
  came.bits.packets.foreach(_ := 1.U)
  private val comes = pushOuts match { // a packet is on its way to the queues, or to their heads
    case None => false.B
    case Some(ports) =>
      val bodies = Module(new VictimQueues(p)).suggestName("bodies")
      bodies.io.ahead := ports.ahead
      bodies.io.arrival := ports.arrival
      ports.outcome := bodies.io.outcome
      ports.freed := bodies.io.freed
      val outcome = bodies.io.outcome.bits
      came.valid := bodies.io.outcome.valid && (outcome.enqueued || outcome.evicted)
      came.bits.queue := bodies.io.settled.queue
      came.bits.bytes := Mux(outcome.enqueued, bodies.io.settled.lenBytes, 0.U) -
        Mux(outcome.evicted, outcome.victim.lenBytes, 0.U(LenBits.W))
      def one(comes: Bool): UInt = Mux(comes, 1.U((p.cellBits + 1).W), 0.U)
      came.bits.packets.foreach(_ := one(outcome.enqueued) - one(outcome.evicted))
      ports.ready := bodies.io.ready
      queues.enqueue := bodies.io.newHead
      queues.place.foreach(_ := bodies.io.place)
      bodies.io.taken.valid := taken.valid
      bodies.io.taken.bits := taken.bits.queue
      ports.arrival.valid || bodies.io.busy
  }
  private val arriving = comes || queues.enqueue.valid || RegNext(queues.enqueue.valid, false.B)
  private[schedule] val schedulers = Seq.tabulate(p.egresses) { e => // proofs access it
    Module(new Scheduler(p.ofOneEgress)).suggestName(if (p.egresses == 1) "scheduler" else s"scheduler_$e")
  }
  private val skip = RegNext(io.skip, false.B)
  private val phases = new EgressPhases(p, queues, schedulers)
  phases.shaper.io.now := io.now
  // One cycle later: in the cycle of a shaper's configuration no packet is taken, and that must be known early.
  phases.shaper.io.configure.valid := RegNext(io.configure.valid, false.B)
  phases.shaper.io.configure.bits := Delay(io.configure.bits)
  phases.shaper.io.flush := io.flush
  phases.port.io.now := io.now
  for ((to, from) <- phases.port.io.configure.zip(io.configurePort)) {
    to.valid := RegNext(from.valid, false.B)
    to.bits := Delay(from.bits)
  }
  for ((scheduler, e) <- schedulers.zipWithIndex) {
    scheduler.io.now := io.now
    scheduler.io.configure.valid := io.configure.valid && phases.isOf(e, io.configure.bits.queue)
    scheduler.io.configure.bits.queue := phases.local(io.configure.bits.queue)
    scheduler.io.configure.bits.strict := io.configure.bits.strict
    scheduler.io.configure.bits.priority := io.configure.bits.priority
    scheduler.io.configure.bits.quantum := io.configure.bits.quantum
    scheduler.io.configure.bits.shaper := io.configure.bits.shaper
    scheduler.io.configure.bits.dualPi2.zip(io.configure.bits.dualPi2).foreach { case (to, from) => to := from }
    scheduler.io.configure.bits.flows.zip(io.configure.bits.flows).foreach { case (to, from) => to := from }
    scheduler.io.configure.bits.codel.zip(io.configure.bits.codel).foreach { case (to, from) => to := from }
    scheduler.io.configure.bits.marks.foreach(_ := DontCare) // the choice does not depend on them
    scheduler.io.paused := io.paused(e)
    scheduler.io.flush.egresses.head := io.flush.egresses(e)
    scheduler.io.flush.queue.valid := io.flush.queue.valid && phases.isOf(e, io.flush.queue.bits)
    scheduler.io.flush.queue.bits := phases.local(io.flush.queue.bits)
  }

  // A discarded packet goes here and not to a reader. One may still be on its way here when the next is chosen.
  private val places = if (p.codel) 16 else 4
  private val discarded = Module(new Queue(new Chain(p), places))
  private val underWayHere =
    if (p.codel) DepartureVerdicts.Latency + 2 else 2 // packets that are chosen and not judged, with one of this cycle
  private val mayDiscard = discarded.io.count <= (places - underWayHere).U
  private val roomToDiscard = mayDiscard && !guards.failed && !skip

  // A packet that has been taken, with its verdict.
  private def discards(scheduler: Scheduler): Bool = scheduler.io.take && scheduler.io.discards
  private val isFlushed = RegNext(schedulers.map(discards).reduce(_ || _), false.B)
  private val verdicts = Option.when(p.codel)(Module(new DepartureVerdicts(p, verdict)).suggestName("verdicts"))
  private val backlog = Option.when(p.codel || p.pie)(Module(new QueueBacklog(p)).suggestName("backlog"))
  for (backlog <- backlog) {
    backlog.io.came := came
    backlog.io.taken := taken
    backlog.io.query := 0.U
  }
  for ((delays, backlog) <- delays.zip(backlog)) {
    backlog.io.query := delays.query
    delays.isEmpty := backlog.io.isEmpty
    delays.departed.valid := RegNext(taken.valid, false.B)
    delays.departed.bits.queue := Delay(taken.bits.queue)
    delays.departed.bits.now := Delay(PieUnit.time(io.now))
    delays.departed.bits.enqueued := Delay(PieUnit.time(taken.bits.queueEntry.arrival))
    delays.departed.bits.isLast := backlog.io.behind === 0.U
  }
  private val judged = Wire(Valid(new JudgedPacket(p)))
  judged.valid := taken.valid
  judged.bits.queue := taken.bits.queue
  judged.bits.queueEntry := taken.bits.queueEntry
  judged.bits.flushed := isFlushed
  judged.bits.dropped := false.B
  judged.bits.marked := false.B
  for (verdicts <- verdicts) {
    verdicts.io.now := io.now
    verdicts.io.taken := taken
    verdicts.io.flushed := isFlushed
    verdicts.io.configure.valid := io.configure.valid
    verdicts.io.configure.bits.queue := io.configure.bits.queue
    verdicts.io.configure.bits.codel := io.configure.bits.codel.get
    verdicts.io.configure.bits.marks := io.configure.bits.marks.get
    verdicts.io.configure.bits.dualPi2.zip(io.configure.bits.dualPi2).foreach { case (to, from) => to := from }
    verdicts.io.behind := backlog.get.io.behind
    verdicts.io.behindBoth := backlog.get.io.behindBoth
    verdicts.io.packetsBehind := backlog.get.io.packetsBehind.get
    verdicts.io.marks := marks.get
    verdicts.dualPi2.zip(dualPi2).foreach { case (of, ports) => of <> ports }
    judged := verdicts.io.judged
    val dropped = Wire(Valid(new DroppedPacket(p)))
    dropped.valid := judged.bits.dropped
    dropped.bits.queue := judged.bits.queue
    dropped.bits.lenBytes := judged.bits.queueEntry.lenBytes
    phases.drop(dropped)
  }
  for (reported <- reported) {
    val behind = backlog.map(b => Delay(b.io.behind, DepartureVerdicts.Latency - 1)).getOrElse(0.U)
    val chosen = if (p.codel) Delay(io.now, DepartureVerdicts.Latency) else io.now
    reported := ReportEvent.ofDeparture(p, judged, chosen, if (p.codel) behind else 0.U)
  }
  private val underVerdict = verdicts.map(_.io.underWay).getOrElse(taken.valid)

  private val isDiscarded = judged.bits.flushed || judged.bits.dropped
  discarded.io.enq.valid := judged.valid && isDiscarded
  discarded.io.enq.bits.head := judged.bits.queueEntry.headCell
  discarded.io.enq.bits.cells := judged.bits.queueEntry.cells
  assert(!discarded.io.enq.valid || discarded.io.enq.ready, "a packet was discarded with no place for it")
  io.discarded <> discarded.io.deq

  private val waiting = Wire(Vec(p.egresses, Bool())) // a packet was chosen, and the reader has not taken it
  for ((scheduler, e) <- schedulers.zipWithIndex) {
    val chosen = Module(new Queue(new QueueEntry(p), AheadCells))
    chosen.suggestName(if (p.egresses == 1) "chosen" else s"chosen_$e")
    // Cells of the packets that are chosen but that the reader has not taken.
    val ahead = RegInit(0.U((p.chainBits + 1).W)).suggestName(if (p.egresses == 1) "ahead" else s"ahead_$e")
    // The cells of a packet that was dropped in the cycle before, and whether its egress waits for its queue.
    val dropsHere = judged.bits.dropped && phases.isOf(e, judged.bits.queue)
    val dropped = if (p.codel) RegNext(Mux(dropsHere, judged.bits.queueEntry.cells, 0.U), 0.U) else 0.U
    val counted = if (p.codel) Arithmetic.wrap(ahead - dropped, ahead.getWidth) else ahead
    val settling = verdicts.map(verdicts => Settling(verdicts.io.dueAgain && dropsHere)).getOrElse(false.B)
    // Known late: whether a packet is taken, which one, and whether the reader takes one. Each is followed by only one adder.
    val aheadLess = Arithmetic.wrap(counted - io.queueEntry(e).bits.cells, ahead.getWidth)
    def withTaken(cells: UInt): UInt = {
      val bytes = Cat(cells, (CellBytes - 1).U(6.W)) +& scheduler.io.serve.packet.lenBytes
      Arithmetic.wrap(bytes >> 6, ahead.getWidth)
    }
    def whereTaken(cells: UInt): UInt =
      Mux(scheduler.io.take && !scheduler.io.discards, withTaken(cells), cells)
    ahead := Mux(io.queueEntry(e).fire, whereTaken(aheadLess), whereTaken(counted))
    scheduler.io.settling.foreach(_ := settling)
    val hasRoom = if (p.codel) {
      val few = ahead < EgressQueues.FewCells.U && !phases.port.io.egresses(e).shaped
      mayDiscard && Mux(settling, few, ahead < AheadCells.U)
    } else ahead < AheadCells.U
    scheduler.io.room := hasRoom && !guards.failed && !skip
    scheduler.io.roomToDiscard := roomToDiscard

    chosen.io.enq.valid := judged.valid && phases.isOf(e, judged.bits.queue) && !isDiscarded
    chosen.io.enq.bits := judged.bits.queueEntry
    io.queueEntry(e).valid := chosen.io.deq.valid && !io.paused(e)
    io.queueEntry(e).bits := chosen.io.deq.bits
    chosen.io.deq.ready := io.queueEntry(e).ready && !io.paused(e)
    waiting(e) := chosen.io.deq.valid
    assert(!chosen.io.enq.valid || chosen.io.enq.ready, "a packet was taken with no place for it")
  }

  io.departed.valid := judged.valid
  io.departed.bits.queue := judged.bits.queue
  io.departed.bits.colour := judged.bits.queueEntry.colour
  io.departed.bits.lenBytes := judged.bits.queueEntry.lenBytes
  io.departed.bits.arrival := judged.bits.queueEntry.arrival
  io.departed.bits.flushed := judged.bits.flushed
  io.departed.bits.dropped.foreach(_ := judged.bits.dropped)
  io.departed.bits.marked.foreach(_ := judged.bits.marked)

  // The earliest of the schedulers' wake times.
  private val wakes = schedulers.map(_.io.wake)
  private val first = wakes.reduce { (one, other) =>
    val out = Wire(Valid(UInt(TimeBits.W)))
    out.valid := one.valid || other.valid
    out.bits := Mux(one.valid && !(other.valid && Arithmetic.reached(one.bits, other.bits)), one.bits, other.bits)
    out
  }
  private val underWay = arriving || underVerdict || discarded.io.deq.valid || phases.configures
  private val active = schedulers.map(_.io.busy).reduce(_ || _)
  io.wake.valid := first.valid && !phases.configures && (if (p.egresses == 1) true.B else !active)
  io.wake.bits := first.bits
  private val settles = verdicts.map(_.io.busy).getOrElse(false.B)
  io.busy := active || underWay || settles || io.queueEntry.map(_.valid).reduce(_ || _)
  io.holdsPackets := schedulers.map(_.io.holdsPackets).reduce(_ || _) || underWay || waiting.asUInt.orR

  val guard = guards.ports(manager.guard +: schedulers.map(_.guard): _*)
}

private object EgressQueues {

  /** Cells of chosen packets that keep the reader busy while an egress waits for the state of a queue. */
  val FewCells = 12
}

/** Whether an egress waits until a queue is settled, from the verdict on. */
private object Settling {
  def apply(isLate: Bool): Bool = {
    val left = RegInit(0.U(log2Ceil(DepartureVerdicts.Settles).W))
    when(isLate) { left := (DepartureVerdicts.Settles - 1).U }.elsewhen(left =/= 0.U) { left := left - 1.U }
    isLate || left =/= 0.U
  }
}
