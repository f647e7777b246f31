package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.departure.DepartureVerdicts
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.{PacketRef, QueueHead}
import vermilion.stream.ShortQueue

object Scheduler {

  /** Bits of a deficit: less than quantum + longest packet. */
  val DeficitBits = 19
  val DefaultQuantum = 2048
}

/** Chooses the next packet of an egress: strict priority first, then deficit round robin; each queue and the port are shaped.
  *
  * A queue that may send is in the list of its level (`ServiceLists`): 8 strict levels and the DRR list. It is inserted at the end when it
  * becomes backlogged or its shaper releases it. It leaves when it holds no packet or its shaper blocks it, and some queues stay with their place alone (below).
  *
  * Strict: the first queue of the highest list sends until it leaves. So queues of equal priority are served first-come, first-served,
  * not by queue number.
  * DRR: deficit round robin (Shreedhar and Varghese). A queue is inserted with a quantum. The first queue sends while its deficit covers
  * its packet. Then its DRR turn ends, and it goes to the end with another quantum. A queue that becomes empty loses its deficit.
  * A queue that its shaper blocks keeps it.
  * So deficit < quantum + longest packet. A quantum less than the longest packet works, but some DRR turns then send nothing.
  * New flows (RFC 8290), in builds with `fq`: a queue of a group that becomes backlogged is inserted into the list of new flows, which is served before the
  * DRR list. It has one quantum, as in the DRR list, where it goes when its turn ends or when it becomes empty. A queue that uses up its deficit with its last
  * packet goes there, too. So an empty queue keeps its place in the DRR list ([[KeptPlaces]]), and its next packet is put there. Shaped queues of a group are never new.
  *
  * The shapers are separate modules, as the schedulers of several egresses share them ([[QueueShaper]], [[PortShaper]]).
  *
  * Rate: one packet per cycle, from any mixture of queues. Exceptions:
  *  - The end of a DRR turn: one cycle without a choice if the DRR list holds other queues, otherwise two.
  *  - A packet whose successor exists but is not known: one cycle. This applies to a queue that becomes first with three packets
  *    or more and sends at once. It also applies if the queue's list was not served in the cycle before ([[SuccessorPrefetch]]).
  *  - A packet of a shaped queue: 3 cycles without a choice, as the shaper determines which queue is next; 4 if it blocks the queue.
  *  - A queue that sends its last packet while another packet arrives: it is inserted again, 4 cycles later.
  *  - A queue without a packet that comes first in the DRR list: one cycle. No packet of a new or old flow is taken while three such queues wait to be inserted.
  *
  * An insertion takes one cycle after its event (J), so the earliest choice is 3 cycles after the packet's enqueue. At most one queue is
  * inserted per cycle. The order is: queues that became backlogged, which cannot wait; queues that were `reactivated`; the queue that its
  * shaper blocks, to be parked; queues that the shaper releases; queues that keep a place without a packet; the queue whose DRR turn is over. All but the first kind wait in their place. In the
  * long run the insertions are not more than the packets sent plus the DRR turns that send nothing, and in builds with `fq` one place per packet.
  * A shaped queue that becomes backlogged is parked first. It is released when the shaper's scan finds it due.
  *
  * In builds with `codel` a packet may be dropped after it is taken ([[vermilion.departure.DepartureVerdicts]]). The deficit is charged when it is taken. A
  * DRR turn of a queue with CoDel ends only when all its verdicts are known, 4 cycles after the last packet is taken. When its
  * deficit does not cover its first packet, the bytes of the packets that are known to be dropped are given back to it, which takes a cycle.
  *
  * No packet is taken and no DRR turn ends while the port is closed (as of its egress's phase) or paused, or the egress has no room.
  * A flush of the first queue overrides this ([[FlushSettings]]).
  * In another egress's phase no packet is taken, but DRR turns end.
  * A queue that is configured while it is listed is inserted anew when it becomes first.
  *
  * RAMs: `service`, queues x 24 b, 1W (configure) 2R by two copies. No register per queue.
  * `wake` is the first ns at which a packet can be sent or a queue released. It is valid when packets wait and nothing can happen at the present ns.
  * `holdsPackets` is high while a queue holds a packet, whatever it waits for, or an operation is in progress.
  * `busy` is high while an operation is in progress or possible, or a flush is set. When it is low, only time or an enqueue can change the state.
  * The logic that only `wake` and `busy` need costs nothing in a build that leaves them open.
  * The scheduler does not count the bytes that a wire adds to a frame, and does not read packets' contents.
  */
class Scheduler(p: LaneParams) extends Module {
  import Scheduler._

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new QueueService(p)))
    val becameBacklogged = Flipped(Valid(new QueueHead(p)))
    val appended = Flipped(Valid(new QueueHead(p)))
    val reactivated = Flipped(Valid(new QueueHead(p)))
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
    val room = Input(Bool()) // the egress can hold one more packet
    val phase =
      Input(Bool()) // a packet may be taken in this cycle: it is not another egress's, and no shaper is configured
    val paused = Input(Bool()) // nothing may be sent
    val flush = Input(new FlushSettings(p))
    // CoDel's state of a queue is not ready: a queue with a rate is not chosen if no other is listed.
    val settling = Option.when(p.codel)(Input(Bool()))
    val roomToDiscard = Input(Bool()) // one more packet can be discarded
    val dropped =
      Option.when(p.codel)(Flipped(Valid(new DroppedPacket(p)))) // DepartureVerdicts.Latency + 1 cycles after `take`
    val discards = Output(Bool()) // the packet of `serve` is discarded, if it is taken
    val shaper = Flipped(new QueueShaperPort(p))
    val port = Flipped(new PortShaperPort)
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
    val holdsPackets = Output(Bool())
  })

  private[schedule] val lists = Module(new ServiceLists(p)) // proofs access it

  // ---- configuration
  private val service = new ForwardingRam(p.queues, new ServiceRecord(p))
  private val sweep = new SweepInit(p.queues)
  private val unconfigured = Wire(new ServiceRecord(p))
  unconfigured.strict := false.B
  unconfigured.priority := 0.U
  unconfigured.quantum := DefaultQuantum.U
  unconfigured.shaped := false.B
  unconfigured.judged.foreach(_ := false.B)
  unconfigured.flows.foreach(_ := false.B)
  private val configured = Wire(new ServiceRecord(p))
  configured.strict := io.configure.bits.strict
  configured.priority := Arithmetic.saturate(io.configure.bits.priority, 3)
  configured.quantum := Mux(io.configure.bits.quantum < CellBytes.U, CellBytes.U, io.configure.bits.quantum)
  configured.shaped := io.configure.bits.shaper.costMant =/= 0.U
  configured.judged.zip(io.configure.bits.codel).foreach { case (judged, codel) =>
    judged := codel.on || io.configure.bits.dualPi2.map(_.dualPi2.on).getOrElse(false.B)
  }
  configured.flows.zip(io.configure.bits.flows).foreach { case (to, from) => to := from }
  service.write(!sweep.done, sweep.address, unconfigured)
  service.write(io.configure.valid, io.configure.bits.queue, configured)

  // ---- choice
  private val reactivated = Wire(Decoupled(new QueueHead(p)))
  private val reactivations = ShortQueue(reactivated, 2)
  private val first = lists.io.chosen.bits
  private val isNew = if (p.fq) lists.io.level === Level.New.U else false.B
  private val isDrr = if (p.fq) lists.io.level >= Level.New.U else lists.io.level === Level.drr(p).U
  private val (covered, more) = (lists.io.covered, lists.io.more)
  private val holdsFirst = RegInit(false.B) // the charged queue is still first
  lists.io.flush := io.flush
  private val discards = lists.io.flushed
  private val waits = io.settling.map(_ && lists.io.shaped && lists.io.alone.get).getOrElse(false.B)
  private val mayGo = Mux(discards, io.roomToDiscard, io.room && io.port.open && !io.paused && !waits)
  private val places = Option.when(p.fq)(Module(new KeptPlaces(p)).suggestName("places"))
  private val mayMove = // its packet is taken or its DRR turn ends
    lists.io.chosenEarly && !io.shaper.charging && !reactivations.valid && lists.io.settled && mayGo &&
      !places.map(_.io.isFull && isDrr).getOrElse(false.B)
  private val mayServe = mayMove && io.phase
  private val stays = covered && !lists.io.moved
  private val grant = mayServe && stays
  private val emptied = grant && !more
  private val kept = grant && more
  private val mayInsert = Wire(Bool()) // no other queue is inserted, and the verdicts of the DRR turn are known
  private val restores = Wire(Bool()) // bytes of dropped packets are given back
  private val isEmpty = lists.io.place.map(_.isEmpty).getOrElse(false.B) // it only keeps its place
  // A place ends at once, also while nothing may be sent: a packet of its queue is that of a new flow from then on.
  private val ends =
    lists.io.ends.map(_ && lists.io.chosenEarly && !io.shaper.charging && lists.io.settled).getOrElse(false.B)
  private val reinserts = mayMove && !stays && mayInsert && !restores && !isEmpty
  private val parks = Wire(Bool())
  io.serve := first.head
  io.take := grant
  io.discards := discards
  io.emptied := emptied
  lists.io.keep := kept
  lists.io.pop := (mayMove && Mux(
    stays,
    io.phase && !more,
    mayInsert && !restores && !isEmpty
  )) || ends || parks // emptied, reinserts, ends or parks
  lists.io.taken := grant
  lists.io.remainingDeficit := Arithmetic.wrap(first.deficit - first.head.packet.lenBytes, DeficitBits)
  when(grant) { holdsFirst := kept }
  lists.io.hold := io.shaper.chargingNext
  lists.io.appended := io.appended
  lists.io.configured.valid := io.configure.valid
  lists.io.configured.bits := io.configure.bits.queue
  io.ask := lists.io.ask
  io.askQueue := lists.io.askQueue
  lists.io.successor := io.successor
  lists.io.newestServed := io.newestServed
  lists.io.followingService := service.read(lists.io.following)
  io.lookup(0) := lists.io.following
  lists.io.followingNewest.name := io.newest(0)
  lists.io.followingNewest.lenBytes := io.newestLength
  lists.io.followingNewestBefore := io.newestBefore

  // ---- deficit: the bytes of packets of this DRR turn that verdicts dropped
  private class Claim extends Bundle {
    val isOpen = Bool() // a verdict on a packet of the turn is not known yet
    val any = Bool()
    val deficit = UInt(DeficitBits.W) // with these bytes
    val covered = Bool() // by it
  }
  private val isOld = if (p.fq) isDrr && !isNew else isDrr // in the DRR list
  private val popsDrr = lists.io.pop && isOld
  // The queue that sent has been first for some cycles, so what is known early of the first queue is enough.
  private def claimOf(isOurList: Bool, pops: Bool, deficit: UInt): Claim = io.dropped match {
    case None => 0.U.asTypeOf(new Claim)
    case Some(dropped) =>
      val claim = Wire(new Claim)
      val takes = grant && isOurList && lists.io.judged.get && !discards
      val open = RegInit(0.U((DepartureVerdicts.Latency + 1).W))
      open := open(open.getWidth - 2, 0) ## takes
      val turns = RegInit(false.B) // `queue` has been first in the DRR list since it sent
      val queue = RegEnable(first.head.queue, takes)
      turns := !pops && (takes || turns)
      val bytes = RegInit(0.U(DeficitBits.W))
      val isOurs = turns && dropped.valid && dropped.bits.queue === queue
      val cleared = if (p.fq) restores && isOurList else restores
      bytes := Mux(pops, 0.U, Mux(cleared, 0.U, bytes) + Mux(isOurs, dropped.bits.lenBytes, 0.U))
      claim.isOpen := open.orR
      claim.any := bytes.orR
      claim.deficit := Arithmetic.wrap(deficit +& bytes, DeficitBits)
      claim.covered := Arithmetic.reachTogether(deficit, bytes, lists.io.heldLength)
      claim
  }
  private val claim = claimOf(isOld, popsDrr, lists.io.deficits.map(_.last).getOrElse(first.deficit))
  private val newClaim = lists.io.deficits.map(deficits => claimOf(isNew, lists.io.pop && isNew, deficits.head))
  private val ourClaim = newClaim.map(Mux(isNew, _, claim)).getOrElse(claim) // of the list that is served

  restores := lists.io.chosenEarly && !io.shaper.charging && lists.io.settled && isDrr && !lists.io.heldCovered &&
    !lists.io.heldMoved && ourClaim.any
  for (restore <- lists.io.restore) {
    restore.valid := restores
    restore.bits.deficit := ourClaim.deficit
    restore.bits.covered := ourClaim.covered
  }

  // ---- shapers
  io.shaper.charge := grant && lists.io.shaped && !discards
  io.port.charge := grant && !discards
  private val blocks = io.shaper.blocks
  io.shaper.holdsFirst := holdsFirst
  io.shaper.parks := parks

  // Released queues wait here. The shaper stops before the queue is full.
  private val releases = Module(new Queue(new ListedQueue(p), 4))
  io.shaper.mayRelease := releases.io.count <= 1.U
  lists.io.parkedQueue := io.shaper.scanned
  private val q2Entry = Delay(lists.io.parked)
  releases.io.enq.valid := io.shaper.released.valid
  releases.io.enq.bits := q2Entry
  assert(!releases.io.enq.valid || releases.io.enq.ready, "no place is free for a released queue")
  assert(!releases.io.enq.valid || q2Entry.head.queue === io.shaper.released.bits, "the wrong queue is released")

  reactivated.valid := io.reactivated.valid
  reactivated.bits := io.reactivated.bits
  assert(!reactivated.valid || reactivated.ready, "no place is free for a reactivated queue")

  // ---- which queue is inserted
  private class Insertion extends Bundle {
    val entry = new ListedQueue(p)
    val add = Bool() // a quantum is added
    val isPlace = Option.when(p.fq)(Bool()) // of a queue without a packet
    val mayPark = Bool() // park the queue if it is shaped
    val mustPark = Bool()
  }
  private val event = Wire(Valid(new Insertion))
  reactivations.ready := !io.becameBacklogged.valid
  private val afterReactivations = !io.becameBacklogged.valid && !reactivations.valid
  parks := blocks && afterReactivations
  releases.io.deq.ready := afterReactivations && !blocks
  private val offered = places.map(_.io.offer.valid).getOrElse(false.B)
  mayInsert := afterReactivations && !blocks && !releases.io.deq.valid && !offered && !ourClaim.isOpen
  for (places <- places) places.io.offer.ready := afterReactivations && !blocks && !releases.io.deq.valid
  assert(!(parks || reinserts) || afterReactivations, "two queues are inserted at once")
  event.valid := io.becameBacklogged.valid || reactivations.valid || blocks || releases.io.deq.valid || offered || reinserts
  private def inserting(head: QueueHead, deficit: UInt, add: Bool, mayPark: Bool, mustPark: Bool): Insertion = {
    val j = Wire(new Insertion)
    j.entry.head := head
    j.entry.deficit := deficit
    j.add := add
    j.isPlace.foreach(_ := false.B)
    j.mayPark := mayPark
    j.mustPark := mustPark
    j
  }
  private val firstDeficit = Mux(isDrr, Mux(ourClaim.any, ourClaim.deficit, first.deficit), 0.U)
  private val firstCovered = Mux(ourClaim.any, ourClaim.covered, covered)
  private val released = releases.io.deq.bits
  private val releasedAdds = released.deficit < released.head.packet.lenBytes
  // One of four: two early bits select it.
  private def either(pick: Bool, one: Insertion, other: Insertion): Insertion =
    Mux(pick, one.asUInt, other.asUInt).asTypeOf(new Insertion)
  private val fromShaper = releases.io.deq.valid && !blocks
  private val ofFirst =
    inserting(first.head, firstDeficit, !blocks && (!isDrr || !firstCovered), mayPark = false.B, mustPark = blocks)
  private val ofPlace = places.map { places =>
    val head = Wire(new QueueHead(p))
    head.queue := places.io.offer.bits
    head.packet := DontCare
    val place = inserting(head, 0.U, add = false.B, mayPark = false.B, mustPark = false.B)
    place.isPlace.foreach(_ := true.B)
    place
  }
  event.bits := either(
    afterReactivations,
    either(
      fromShaper,
      inserting(released.head, released.deficit, releasedAdds, mayPark = false.B, mustPark = false.B),
      ofPlace.map(either(offered && !blocks, _, ofFirst)).getOrElse(ofFirst)
    ),
    either(
      io.becameBacklogged.valid,
      inserting(io.becameBacklogged.bits, 0.U, true.B, mayPark = true.B, mustPark = false.B),
      inserting(reactivations.bits, 0.U, true.B, mayPark = true.B, mustPark = false.B)
    )
  )

  // ---- J: the queue is inserted
  private val jValid = RegNext(event.valid, false.B)
  private val j = Delay(event.bits)
  private val jQueue = event.bits.entry.head.queue
  private val jService = service.read(jQueue)
  // Its place in the DRR list waits for this packet. Only what becomes backlogged or is reactivated may park.
  private val jFills = places.map(_.io.isListed && j.mayPark).getOrElse(false.B)
  private val jParks = j.mustPark || (j.mayPark && jService.shaped && !jFills)
  io.lookup(1) := jQueue
  io.shaper.parkNext := jQueue
  io.shaper.park := jValid && jParks
  io.shaper.mayBeDue := !j.mustPark
  private val isFlow = jService.flows.map(_ && !jService.strict).getOrElse(false.B)
  private val jPlace = j.isPlace.getOrElse(false.B)
  // No place is kept in an empty list, or for a queue that has become strict or shaped, or holds no flows any more.
  private val keepsPlace = isFlow && !jService.shaped && lists.io.holdsOld.getOrElse(false.B)
  lists.io.store.valid := jValid && (!jPlace || keepsPlace)
  lists.io.store.bits.head := j.entry.head
  private val credit = Mux(j.add && !jParks, jService.quantum, 0.U)
  private val credited = j.entry.deficit +& credit
  lists.io.store.bits.deficit := credited(DeficitBits - 1, 0)
  lists.io.storeCovered := Arithmetic.reachTogether(j.entry.deficit, credit, j.entry.head.packet.lenBytes)
  lists.io.push := !jParks && !jFills
  lists.io.pushService := jService
  for (places <- places) {
    val keeps = lists.io.flows.get && isDrr && !lists.io.shaped
    // A queue of the DRR list keeps its place if its deficit is used up; bytes that verdicts dropped count as sent. With the victim search each does, as its head may only have run empty.
    val isUsedUp = if (p.victims == 0) Delay(isNew) || Delay(lists.io.remainingDeficit) === 0.U else true.B
    places.io.emptied.valid := RegNext(emptied && keeps, false.B) && isUsedUp
    places.io.emptied.bits := Delay(first.head.queue)
    places.io.arrival.valid := !afterReactivations
    places.io.arrival.bits := Mux(
      io.becameBacklogged.valid,
      io.becameBacklogged.bits.queue,
      reactivations.bits.queue
    )
    places.io.inserts := lists.io.store.valid && jPlace
    places.io.fills := jValid && jFills
    places.io.ends.valid := ends
    places.io.ends.bits.queue := first.head.queue
    places.io.ends.bits.turn := lists.io.place.get.turn
    lists.io.pushNew.foreach(_ := j.mayPark && isFlow && !places.io.isListed && !places.io.waited)
    lists.io.fill.foreach(_ := jFills)
    lists.io.arrives.foreach(_ := jValid && j.mayPark)
    for (place <- lists.io.storePlace) {
      place.isEmpty := jPlace
      place.turn := places.io.turn
    }
  }
  lists.io.pushMore := j.entry.head.packet.name =/= io.newest(1)
  assert(!jValid || credited(DeficitBits) === 0.U, "a deficit does not fit")

  // ---- when the scheduler continues
  private val listed = lists.io.holdsQueues
  private val quiet =
    !io.shaper.charging && io.port.settled && !jValid && !event.valid && !io.reactivated.valid &&
      !newClaim.foldLeft(claim.isOpen)(_ || _.isOpen) && places.map(_.io.isIdle).getOrElse(true.B)
  private val closed = listed && (!io.port.open || io.paused) && !isEmpty
  private val stuck = closed || !listed
  private val known = !io.shaper.anyParked || io.shaper.earliest.valid
  private val earliest = io.shaper.earliest.bits
  private val sooner = io.shaper.anyParked && (io.paused || !(closed && Arithmetic.reached(earliest, io.port.due)))
  private val come = Mux(sooner, Arithmetic.reached(io.now, earliest), Arithmetic.reached(io.now, io.port.due))
  private val waiting = listed || io.shaper.anyParked
  private val resumes = io.paused && listed && !isEmpty && !io.shaper.anyParked // only the end of the pause helps
  io.wake.valid := waiting && quiet && stuck && known && !come && !resumes && !io.flush.any
  io.wake.bits := Mux(sooner, earliest, io.port.due)
  io.holdsPackets := !quiet || waiting
  io.busy := io.holdsPackets && !io.wake.valid && !(resumes && quiet && !io.flush.any)

  val guard = new Guards(p.protect).ports(lists.guard)
}
