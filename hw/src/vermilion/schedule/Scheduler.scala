package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.{PacketRef, QueueHead}
import vermilion.stream.ShortQueue

/** How a queue is served. Written whole, one queue a clock. */
class QueueService(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val strict = Bool()
  val priority = UInt(4.W) // among strict queues, higher first; above 7 counts as 7
  val quantum = UInt(18.W) // bytes a round, for the others; below 64 counts as 64
  val shaper = new ShaperConfig
}

/** What of it the choice needs. */
class ServiceRecord extends Bundle {
  val strict = Bool()
  val priority = UInt(3.W)
  val quantum = UInt(18.W)
  val shaped = Bool()
}

object Scheduler {

  /** Bits of a deficit: less than quantum + longest packet. */
  val DeficitBits = 19
  val DefaultQuantum = 2048
}

/** Chooses the next packet of an egress: strict priority first, deficit round robin over the rest, each queue and the port shaped.
  *
  * A queue that may send stands in the list of its level (`ServiceLists`): 8 strict ones and the round. It joins at the end when it
  * becomes backlogged or its shaper lets it go, and leaves when it holds no packet or its shaper blocks it.
  *
  * Strict: the first of the highest list sends until it leaves. So of equals who came first goes first (and not who has the smallest number).
  * Round: deficit round robin (Shreedhar and Varghese). A queue joins with a quantum; the first sends while its deficit covers its packet; then
  * it goes to the end with another quantum. A queue that falls empty loses its deficit, one that its shaper blocks keeps it.
  * So deficit < quantum + longest packet. A quantum less than the longest packet works, at the price of visits that send nothing.
  *
  * The shapers stand beside it, as the schedulers of several egresses share them ([[QueueShaper]], [[PortShaper]]).
  *
  * Pace: a packet every clock, to any mixture of queues, but for
  *  - the end of a visit: one clock that chooses nothing, if other queues stand in the round, else two;
  *  - a packet behind which another is known to stand, but not which: one clock. So of a queue that comes first with three packets or more and
  *    sends at once, or whose list was not served in the clock before ([[SecondPacket]]);
  *  - a shaped queue's packet: 3 clocks in which nothing is chosen, as the shaper must say who is next; 4 if that blocks the queue;
  *  - a queue whose last packet goes while another comes: it joins again, 4 clocks later.
  *
  * Joining takes a clock behind the event (J), and so the earliest choice is 3 clocks behind the packet's enqueue. At most one queue joins a
  * clock. They go in this order: queues that became backlogged, which cannot wait; those that were `refilled`; the one that its
  * shaper blocks, to be parked; those that it releases; the one whose visit is over. Each of the others waits where it stands. In the long
  * run no more queues join than packets are sent, visits that send nothing apart.
  * A shaped queue that becomes backlogged is parked first, and let go when the shaper has looked at it.
  *
  * Nothing moves in the lists while the port is closed, as of its egress's phase, or paused, or the way out has no room, unless the first queue is flushed ([[FlushSettings]]). In
  * another egress's phase no packet is taken, but visits end.
  * A queue configured while it is listed joins anew when it comes first.
  *
  * RAMs: `service`, queues x 23 b, 1W (configure) 2R by two copies. No register a queue.
  * `wake` is the first ns at which something can be sent or released, when packets wait and nothing can be at this one.
  * `holdsPackets` says that a queue holds one, whatever it waits for, or that something is going on. `busy` says that something is going on or
  * may be, or a flush stands: when it is low, only time or an enqueue can change anything. What only `wake` and `busy` need costs a build that leaves them open nothing.
  * It does not count the bytes a wire adds to a frame, and does not look into packets.
  */
class Scheduler(p: LaneParams) extends Module {
  import Scheduler._

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new QueueService(p)))
    val becameBacklogged = Flipped(Valid(new QueueHead(p)))
    val joined = Flipped(Valid(new QueueHead(p)))
    val refilled = Flipped(Valid(new QueueHead(p)))
    val serve = Output(new QueueHead(p))
    val take = Output(Bool())
    val emptied = Output(Bool())
    val ask = Valid(UInt(p.nameBits.W))
    val askQueue = Output(UInt(p.queueBits.W))
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.nameBits.W))
    val lookup = Output(Vec(2, UInt(p.queueBits.W)))
    val newest = Input(Vec(2, UInt(p.nameBits.W)))
    val newestLength = Input(UInt(PktLenBits.W))
    val newestBefore = Input(UInt(p.nameBits.W))
    val room = Input(Bool()) // the way out can hold one more packet
    val phase =
      Input(Bool()) // a packet may be taken in this clock: it is not another egress's, and no shaper is configured
    val paused = Input(Bool()) // nothing may be sent
    val flush = Input(new FlushSettings(p))
    val roomToDiscard = Input(Bool()) // one more packet can be discarded
    val discards = Output(Bool()) // the packet of `serve` is discarded, if it is taken
    val shaper = Flipped(new QueueShaperPort(p))
    val port = Flipped(new PortShaperPort)
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val holdsPackets = Output(Bool())
  })

  private[schedule] val lists = Module(new ServiceLists(p)) // proofs look inside

  // ---- configuration
  private val service = new ForwardingRam(p.queues, new ServiceRecord)
  private val sweep = new SweepInit(p.queues)
  private val unconfigured = Wire(new ServiceRecord)
  unconfigured.strict := false.B
  unconfigured.priority := 0.U
  unconfigured.quantum := DefaultQuantum.U
  unconfigured.shaped := false.B
  private val configured = Wire(new ServiceRecord)
  configured.strict := io.configure.bits.strict
  configured.priority := Arithmetic.saturate(io.configure.bits.priority, 3)
  configured.quantum := Mux(io.configure.bits.quantum < CellBytes.U, CellBytes.U, io.configure.bits.quantum)
  configured.shaped := io.configure.bits.shaper.costMant =/= 0.U
  service.write(!sweep.done, sweep.address, unconfigured)
  service.write(io.configure.valid, io.configure.bits.queue, configured)

  // ---- choice
  private val refilled = Wire(Decoupled(new QueueHead(p)))
  private val refills = ShortQueue(refilled, 2)
  private val first = lists.io.chosen.bits
  private val round = lists.io.level === Level.Round.U
  private val (covered, more) = (lists.io.covered, lists.io.more)
  private val holdsFirst = RegInit(false.B) // the queue that is charged still stands first
  lists.io.flush := io.flush
  private val discards = lists.io.flushed
  private val mayGo = Mux(discards, io.roomToDiscard, io.room && io.port.open && !io.paused)
  private val mayMove = // its packet is taken or its visit ends
    lists.io.standing && !io.shaper.charging && !refills.valid && lists.io.settled && mayGo
  private val mayServe = mayMove && io.phase
  private val stays = covered && !lists.io.moved
  private val grant = mayServe && stays
  private val emptied = grant && !more
  private val kept = grant && more
  private val mayJoin = Wire(Bool()) // nobody else joins
  private val joinsAnew = mayMove && !stays && mayJoin
  private val parks = Wire(Bool())
  io.serve := first.head
  io.take := grant
  io.discards := discards
  io.emptied := emptied
  lists.io.keep := kept
  lists.io.pop := (mayMove && Mux(stays, io.phase && !more, mayJoin)) || parks // emptied, joinsAnew or parks
  lists.io.taken := grant
  lists.io.deficitLeft := Arithmetic.wrap(first.deficit - first.head.packet.lenBytes, DeficitBits)
  when(grant) { holdsFirst := kept }
  lists.io.hold := io.shaper.chargingNext
  lists.io.joined := io.joined
  lists.io.configured.valid := io.configure.valid
  lists.io.configured.bits := io.configure.bits.queue
  io.ask := lists.io.ask
  io.askQueue := lists.io.askQueue
  lists.io.successor := io.successor
  lists.io.newestServed := io.newestServed
  lists.io.behindService := service.read(lists.io.behind)
  io.lookup(0) := lists.io.behind
  lists.io.behindNewest.name := io.newest(0)
  lists.io.behindNewest.lenBytes := io.newestLength
  lists.io.behindNewestBefore := io.newestBefore

  // ---- shapers
  io.shaper.charge := grant && lists.io.shaped && !discards
  io.port.charge := grant && !discards
  private val blocks = io.shaper.blocks
  io.shaper.holdsFirst := holdsFirst
  io.shaper.parks := parks

  // Released queues wait here; the shaper stops in time.
  private val releases = Module(new Queue(new ListedQueue(p), 4))
  io.shaper.mayRelease := releases.io.count <= 1.U
  lists.io.parkedQueue := io.shaper.scanned
  private val q2Entry = Delay(lists.io.parked)
  releases.io.enq.valid := io.shaper.released.valid
  releases.io.enq.bits := q2Entry
  assert(!releases.io.enq.valid || releases.io.enq.ready, "a released queue found no place")
  assert(!releases.io.enq.valid || q2Entry.head.queue === io.shaper.released.bits, "the wrong queue is released")

  refilled.valid := io.refilled.valid
  refilled.bits := io.refilled.bits
  assert(!refilled.valid || refilled.ready, "a refilled queue found no place")

  // ---- who joins
  private class Joining extends Bundle {
    val entry = new ListedQueue(p)
    val add = Bool() // a quantum
    val mayPark = Bool() // if the queue is shaped
    val mustPark = Bool()
  }
  private val event = Wire(Valid(new Joining))
  refills.ready := !io.becameBacklogged.valid
  private val afterRefills = !io.becameBacklogged.valid && !refills.valid
  parks := blocks && afterRefills
  releases.io.deq.ready := afterRefills && !blocks
  mayJoin := afterRefills && !blocks && !releases.io.deq.valid
  assert(!(parks || joinsAnew) || afterRefills, "two queues join at once")
  event.valid := io.becameBacklogged.valid || refills.valid || blocks || releases.io.deq.valid || joinsAnew
  private def joining(head: QueueHead, deficit: UInt, add: Bool, mayPark: Bool, mustPark: Bool): Joining = {
    val j = Wire(new Joining)
    j.entry.head := head
    j.entry.deficit := deficit
    j.add := add
    j.mayPark := mayPark
    j.mustPark := mustPark
    j
  }
  private val firstDeficit = Mux(round, first.deficit, 0.U)
  private val released = releases.io.deq.bits
  private val releasedAdds = released.deficit < released.head.packet.lenBytes
  // One of four: two early bits choose.
  private def either(pick: Bool, one: Joining, other: Joining): Joining =
    Mux(pick, one.asUInt, other.asUInt).asTypeOf(new Joining)
  private val fromShaper = releases.io.deq.valid && !blocks
  event.bits := either(
    afterRefills,
    either(
      fromShaper,
      joining(released.head, released.deficit, releasedAdds, mayPark = false.B, mustPark = false.B),
      joining(first.head, firstDeficit, !blocks && (!round || !covered), mayPark = false.B, mustPark = blocks)
    ),
    either(
      io.becameBacklogged.valid,
      joining(io.becameBacklogged.bits, 0.U, true.B, mayPark = true.B, mustPark = false.B),
      joining(refills.bits, 0.U, true.B, mayPark = true.B, mustPark = false.B)
    )
  )

  // ---- J: it joins
  private val jValid = RegNext(event.valid, false.B)
  private val j = Delay(event.bits)
  private val jQueue = event.bits.entry.head.queue
  private val jService = service.read(jQueue)
  private val jParks = j.mustPark || (j.mayPark && jService.shaped)
  io.lookup(1) := jQueue
  io.shaper.parkNext := jQueue
  io.shaper.park := jValid && jParks
  io.shaper.mayBeDue := !j.mustPark
  lists.io.store.valid := jValid
  lists.io.store.bits.head := j.entry.head
  private val credit = Mux(j.add && !jParks, jService.quantum, 0.U)
  private val credited = j.entry.deficit +& credit
  lists.io.store.bits.deficit := credited(DeficitBits - 1, 0)
  lists.io.storeCovered := Arithmetic.reachTogether(j.entry.deficit, credit, j.entry.head.packet.lenBytes)
  lists.io.push := !jParks
  lists.io.pushService := jService
  lists.io.pushMore := j.entry.head.packet.name =/= io.newest(1)
  assert(!jValid || credited(DeficitBits) === 0.U, "a deficit does not fit")

  // ---- when to come back
  private val listed = lists.io.holdsQueues
  private val quiet = !io.shaper.charging && io.port.settled && !jValid && !event.valid && !io.refilled.valid
  private val closed = listed && (!io.port.open || io.paused)
  private val stuck = closed || !listed
  private val known = !io.shaper.anyParked || io.shaper.earliest.valid
  private val earliest = io.shaper.earliest.bits
  private val sooner = io.shaper.anyParked && (io.paused || !(closed && Arithmetic.reached(earliest, io.port.due)))
  private val come = Mux(sooner, Arithmetic.reached(io.now, earliest), Arithmetic.reached(io.now, io.port.due))
  private val waiting = listed || io.shaper.anyParked
  private val resumes = io.paused && listed && !io.shaper.anyParked // only the end of the pause helps
  io.wake.valid := waiting && quiet && stuck && known && !come && !resumes && !io.flush.any
  io.wake.bits := Mux(sooner, earliest, io.port.due)
  io.holdsPackets := !quiet || waiting
  io.busy := io.holdsPackets && !io.wake.valid && !(resumes && quiet && !io.flush.any)

  val guard = new Guards(p.protect).ports(lists.guard)
}
