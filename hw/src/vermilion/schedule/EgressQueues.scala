package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.{GuardPorts, Guards}
import vermilion.queue.{QueueManager, QueuePorts}
import vermilion.stream._
import vermilion.victim._

/** Queues and their scheduler: packets in by queue, packets out in the order of the wire. Wires, and a short queue of descriptors.
  *
  * `descriptor` feeds a `PacketReader`. A packet counts as departed (`departed`) when it is chosen. The next is chosen before the reader asks
  * for it, so that the reader never waits between two packets for anything but the scheduler's pace; but no further ahead than that
  * needs: while fewer than `AheadCells` cells wait for the reader, as many as a choice takes clocks. So behind the packet being
  * read there are departed but unread at most 3 cells, 192 bytes, and one longest frame.
  *
  * In builds with the victim search every arriving packet comes here, and `outcome` says what became of it ([[VictimQueues]]); a packet is asked
  * about ahead (`ahead`), and `departed` is 2 clocks later then, 1 if it joins behind another.
  *
  * Latency: enqueue of a packet to an empty lane to `departed` 4 clocks, to `descriptor` 5; if its queue is shaped, up to `queues` + 6 more.
  * `busy` is low when only time (see `wake`) or an enqueue can change anything here.
  * For the first `queues` clocks after reset nothing may be queued or configured.
  */
class EgressQueues(p: LaneParams) extends Module {
  private val AheadCells = 4

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val enqueue = Flipped(Valid(new EnqueueRequest(p))) // in builds without the victim search
    val configure = Flipped(Valid(new QueueService(p)))
    val configurePort = Flipped(Valid(new ShaperConfig))
    val descriptor = Decoupled(new Descriptor(p))
    val departed = Valid(new Departure(p))
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val holdsPackets = Output(Bool()) // some are here, whatever they wait for
  })

  /** In builds with the victim search, in place of `enqueue`. */
  val contests = Option.when(p.victims != 0)(IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(VictimParams.of(p))))
    val arrival = Flipped(Valid(new ArrivalRequest(p, VictimParams.of(p))))
    val outcome = Valid(new Outcome(VictimParams.of(p)))
    val freed = Valid(new Chain(p))
    val ready = Output(Bool()) // until then after reset nothing may come
  }))

  private val guards = new Guards(p.protect)
  private var queuesGuard = Option.empty[GuardPorts]
  private val arriving = Wire(Bool()) // a packet is on its way into its queue
  private val queues: QueuePorts = contests match {
    case None =>
      val manager = Module(new QueueManager(p))
      manager.io.enqueue := io.enqueue
      queuesGuard = manager.guard
      arriving := io.enqueue.valid || RegNext(io.enqueue.valid, false.B)
      manager.io
    case Some(ports) =>
      val manager = Module(new VictimQueues(p))
      manager.io.ahead := ports.ahead
      manager.io.arrival := ports.arrival
      ports.outcome := manager.io.outcome
      ports.freed := manager.io.freed
      ports.ready := manager.io.ready
      arriving := ports.arrival.valid || manager.io.busy
      manager.io
  }
  private[schedule] val scheduler = Module(new Scheduler(p)) // proofs look inside
  private val chosen = Module(new Queue(new Descriptor(p), AheadCells))

  scheduler.serve(queues)
  scheduler.io.now := io.now
  scheduler.io.configure := io.configure
  scheduler.io.configurePort := io.configurePort

  // Cells of the packets chosen and not yet with the reader.
  private val ahead = RegInit(0.U((p.chainBits + 1).W))
  // Whether one is taken, which, and whether the reader takes one are known late: one adder behind each.
  private val aheadLess = Arithmetic.wrap(ahead - io.descriptor.bits.cells, ahead.getWidth)
  private def withTaken(cells: UInt): UInt = {
    val bytes = Cat(cells, (CellBytes - 1).U(6.W)) +& scheduler.io.serve.packet.lenBytes
    Arithmetic.wrap(bytes >> 6, ahead.getWidth)
  }
  private def whereTaken(cells: UInt): UInt = Mux(scheduler.io.take, withTaken(cells), cells)
  ahead := Mux(io.descriptor.fire, whereTaken(aheadLess), whereTaken(ahead))
  scheduler.io.room := ahead < AheadCells.U && !guards.failed

  chosen.io.enq.valid := queues.taken.valid
  chosen.io.enq.bits := queues.taken.bits.descriptor
  io.descriptor <> chosen.io.deq
  assert(!chosen.io.enq.valid || chosen.io.enq.ready, "a packet was taken with no place for it")

  io.departed.valid := queues.taken.valid
  io.departed.bits.queue := queues.taken.bits.queue
  io.departed.bits.colour := queues.taken.bits.descriptor.colour
  io.departed.bits.lenBytes := queues.taken.bits.descriptor.lenBytes
  io.departed.bits.arrival := queues.taken.bits.descriptor.arrival

  io.wake := scheduler.io.wake
  private val underWay = arriving || queues.taken.valid || chosen.io.deq.valid
  io.busy := scheduler.io.busy || underWay
  io.holdsPackets := scheduler.io.holdsPackets || underWay

  val guard = guards.ports(queuesGuard, scheduler.guard)
}
