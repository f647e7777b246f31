package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.QueueManager
import vermilion.stream._
import vermilion.victim._

/** Queues and their schedulers, one for each egress: packets in by queue, packets out of each egress in the order of its wire.
  *
  * A queue belongs to the egress that the highest bits of its number name. The schedulers share the queues' memories: with several egresses each may take
  * a packet in one of `egresses` cycles, its phase ([[EgressPhases]]). All else goes on in all of them in every cycle.
  *
  * `queueEntry` feeds a `PacketReader`. A packet counts as departed (`departed`) when it is chosen. The next is chosen before the reader asks
  * for it, so that the reader never waits between two packets for anything but the scheduler's pace; but no further ahead than that
  * needs: while fewer than `AheadCells` cells wait for the reader, as many as a choice takes clocks. So behind the packet being
  * read there are departed but unread at most 3 cells, 192 bytes, and one longest frame.
  *
  * In builds with the victim search every arriving packet comes here, and `outcome` says what became of it ([[VictimQueues]]); a packet is asked
  * about ahead (`ahead`). The queues that are served are their heads then, and `departed` is 6 clocks later.
  *
  * Latency: enqueue of a packet to an empty lane to `departed` 4 clocks, to `queueEntry` 5; up to `egresses` - 1 more for its phase; if its queue is
  * shaped, up to `queues` + 6 more.
  * `paused` stops an egress between two packets: of those that were chosen, and so have departed, the reader gets none until the pause is over.
  * `flush` discards packets in place of sending them ([[FlushSettings]]): they depart (`flushed`), and their cells come out of `discarded`, which takes the
  * place of `queueEntry` for them. What was chosen before is sent.
  * `busy` is low when only time (see `wake`), an enqueue or the end of a pause can change anything here, and may be high while a flush stands.
  * For the first `queues` clocks after reset nothing may be queued or configured.
  */
class EgressQueues(p: LaneParams) extends Module {
  private val AheadCells = 4

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val skip = Input(Bool()) // a clock later no packet is taken
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
    val holdsPackets = Output(Bool()) // some are here, whatever they wait for
  })

  /** In builds with the victim search, in place of `enqueue`. */
  val pushOuts = Option.when(p.victims != 0)(IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(VictimParams.of(p))))
    val arrival = Flipped(Valid(new ArrivalRequest(p, VictimParams.of(p))))
    val outcome = Valid(new Outcome(VictimParams.of(p)))
    val freed = Valid(new Chain(p))
    val ready = Output(Bool()) // until then after reset nothing may come
  }))

  private val guards = new Guards(p.protect)
  private val manager = Module(new QueueManager(p))
  private val queues = manager.io
  private val taken = queues.taken
  queues.enqueue := io.enqueue
  private val comes = pushOuts match { // a packet is on its way to the queues, or to their heads
    case None => false.B
    case Some(ports) =>
      val bodies = Module(new VictimQueues(p)).suggestName("bodies")
      bodies.io.ahead := ports.ahead
      bodies.io.arrival := ports.arrival
      ports.outcome := bodies.io.outcome
      ports.freed := bodies.io.freed
      ports.ready := bodies.io.ready
      queues.enqueue := bodies.io.newHead
      queues.place.foreach(_ := bodies.io.place)
      bodies.io.taken.valid := taken.valid
      bodies.io.taken.bits := taken.bits.queue
      ports.arrival.valid || bodies.io.busy
  }
  private val arriving = comes || queues.enqueue.valid || RegNext(queues.enqueue.valid, false.B)
  private[schedule] val schedulers = Seq.tabulate(p.egresses) { e => // proofs look inside
    Module(new Scheduler(p.ofOneEgress)).suggestName(if (p.egresses == 1) "scheduler" else s"scheduler_$e")
  }
  private val skip = RegNext(io.skip, false.B)
  private val phases = new EgressPhases(p, queues, schedulers)
  phases.shaper.io.now := io.now
  // A clock later: in the clock in which they are configured nothing is taken, and that must be known early.
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
    scheduler.io.paused := io.paused(e)
    scheduler.io.flush.egresses.head := io.flush.egresses(e)
    scheduler.io.flush.queue.valid := io.flush.queue.valid && phases.isOf(e, io.flush.queue.bits)
    scheduler.io.flush.queue.bits := phases.local(io.flush.queue.bits)
  }

  // A packet that is discarded goes here and not to a reader. One may be under way when the next is chosen.
  private val discarded = Module(new Queue(new Chain(p), EgressQueues.Discarded))
  private val roomToDiscard = discarded.io.count <= (EgressQueues.Discarded - 2).U && !guards.failed && !skip
  private def discards(scheduler: Scheduler): Bool = scheduler.io.take && scheduler.io.discards
  private val isDiscarded = RegNext(schedulers.map(discards).reduce(_ || _), false.B)
  discarded.io.enq.valid := taken.valid && isDiscarded
  discarded.io.enq.bits.head := taken.bits.queueEntry.headCell
  discarded.io.enq.bits.cells := taken.bits.queueEntry.cells
  assert(!discarded.io.enq.valid || discarded.io.enq.ready, "a packet was discarded with no place for it")
  io.discarded <> discarded.io.deq

  private val waiting = Wire(Vec(p.egresses, Bool())) // a packet was chosen, and the reader has not taken it
  for ((scheduler, e) <- schedulers.zipWithIndex) {
    val chosen = Module(new Queue(new QueueEntry(p), AheadCells))
    chosen.suggestName(if (p.egresses == 1) "chosen" else s"chosen_$e")
    // Cells of the packets chosen and not yet with the reader.
    val ahead = RegInit(0.U((p.chainBits + 1).W)).suggestName(if (p.egresses == 1) "ahead" else s"ahead_$e")
    // Whether one is taken, which, and whether the reader takes one are known late: one adder behind each.
    val aheadLess = Arithmetic.wrap(ahead - io.queueEntry(e).bits.cells, ahead.getWidth)
    def withTaken(cells: UInt): UInt = {
      val bytes = Cat(cells, (CellBytes - 1).U(6.W)) +& scheduler.io.serve.packet.lenBytes
      Arithmetic.wrap(bytes >> 6, ahead.getWidth)
    }
    def whereTaken(cells: UInt): UInt =
      Mux(scheduler.io.take && !scheduler.io.discards, withTaken(cells), cells)
    ahead := Mux(io.queueEntry(e).fire, whereTaken(aheadLess), whereTaken(ahead))
    scheduler.io.room := ahead < AheadCells.U && !guards.failed && !skip
    scheduler.io.roomToDiscard := roomToDiscard

    chosen.io.enq.valid := taken.valid && phases.isOf(e, taken.bits.queue) && !isDiscarded
    chosen.io.enq.bits := taken.bits.queueEntry
    io.queueEntry(e).valid := chosen.io.deq.valid && !io.paused(e)
    io.queueEntry(e).bits := chosen.io.deq.bits
    chosen.io.deq.ready := io.queueEntry(e).ready && !io.paused(e)
    waiting(e) := chosen.io.deq.valid
    assert(!chosen.io.enq.valid || chosen.io.enq.ready, "a packet was taken with no place for it")
  }

  io.departed.valid := taken.valid
  io.departed.bits.queue := taken.bits.queue
  io.departed.bits.colour := taken.bits.queueEntry.colour
  io.departed.bits.lenBytes := taken.bits.queueEntry.lenBytes
  io.departed.bits.arrival := taken.bits.queueEntry.arrival
  io.departed.bits.flushed := isDiscarded

  // The earliest of those that wait for the time.
  private val wakes = schedulers.map(_.io.wake)
  private val first = wakes.reduce { (one, other) =>
    val out = Wire(Valid(UInt(TimeBits.W)))
    out.valid := one.valid || other.valid
    out.bits := Mux(one.valid && !(other.valid && Arithmetic.reached(one.bits, other.bits)), one.bits, other.bits)
    out
  }
  private val underWay = arriving || taken.valid || discarded.io.deq.valid || phases.configures
  private val active = schedulers.map(_.io.busy).reduce(_ || _)
  io.wake.valid := first.valid && !phases.configures && (if (p.egresses == 1) true.B else !active)
  io.wake.bits := first.bits
  io.busy := active || underWay || io.queueEntry.map(_.valid).reduce(_ || _)
  io.holdsPackets := schedulers.map(_.io.holdsPackets).reduce(_ || _) || underWay || waiting.asUInt.orR

  val guard = guards.ports(manager.guard +: schedulers.map(_.guard): _*)
}

object EgressQueues {

  /** Packets that are discarded and whose cells have not been given back, at most. */
  private val Discarded = 4
}
