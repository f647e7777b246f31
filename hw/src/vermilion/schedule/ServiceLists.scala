package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats.PktLenBits
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.{PacketRef, QueueHead}

/** Holds the queues that may send, in nine lists, one per level; a queue is in at most one list. Builds with `fq` have a tenth, of new flows.
  *
  * The first queue of each list is in registers, with the number of the next queue. All others are in RAM, linked. The first queue's packet is
  * in one of two small memories by level, `pushedPackets` or `comePackets`. A list's first packet comes by a push or from RAM. Both may
  * happen in one cycle, and only the packet of the list that is served is ever read.
  *
  * `chosen` is the first queue of the highest list, in the same cycle and without a search. `pop` removes it. `keep` says that its packet is
  * taken and that the queue stays first. The next cycle's choice may be the next queue, directly from RAM (`entries` and `links`), or
  * the successor, which is prefetched ([[SuccessorPrefetch]]). If it is not prefetched, nothing is served for one cycle (`settled`).
  *
  * The choice is a loop of one cycle, so everything that does not depend on RAM is computed earlier. The list that is served next and its first
  * queue are computed one cycle early. There are two results: the list that is served now becomes empty, or not. Whether a deficit covers a
  * packet is stored with the entry, and for the first queue of each list in a register.
  *
  * `more` says that the queue holds a packet after the first, as of the cycle before. It is computed from RAM when a queue or packet becomes
  * first, and `appended` keeps it up to date. `moved` says that the queue was configured since its insertion, so it may belong to another list.
  *
  * In builds with `fq` the DRR list also holds queues without a packet, which keep their places ([[KeptPlaces]]). `fill` gives such a queue its packet where it is.
  *
  * RAMs: `entries`, queues x (packet, deficit, covered, with `fq` the place), 1W (store) 2R by two copies (the queue after the chosen; `parkedQueue` for the module
  * that parks queues); `links`, queues x queue, 1W (push) 1R. Lists have no counts: `tails` gives the last queue.
  *
  * A push shows in `chosen` in the next cycle. This block does not decide whether a queue may send.
  * Longest path: may the first send, `pop`, which list is served next, its first queue.
  */
class ServiceLists(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val store = Flipped(Valid(new ListedQueue(p)))
    val storeCovered = Input(Bool()) // its deficit covers its packet
    val push = Input(Bool()) // what is stored is inserted at the end of the list of its level
    val deficits = Option.when(p.fq)(Output(Vec(2, UInt(Scheduler.DeficitBits.W)))) // of new flows and of the DRR list
    val pushNew = Option.when(p.fq)(Input(Bool())) // or of the list of new flows
    // With `store`: the queue is inserted without a packet; it is in the DRR list without a packet, and this is its packet.
    val storePlace = Option.when(p.fq)(Input(new KeptPlace))
    val fill = Option.when(p.fq)(Input(Bool()))
    val arrives = Option.when(p.fq)(Input(Bool())) // what may be stored has a packet: it may be a fill
    val pushService = Input(new ServiceRecord(p))
    val pushMore = Input(Bool())
    val hold = Input(Bool()) // `chosen` is of the same level in the next cycle
    val chosen = Valid(new ListedQueue(p))
    val chosenEarly = Output(Bool()) // `chosen` is valid, known earlier; has no meaning after a `hold`
    val holdsQueues = Output(Bool())
    val level = Output(UInt(Level.Bits.W))
    val covered = Output(Bool()) // in a strict level, or its deficit covers its packet
    val more = Output(Bool()) // a successor is queued after its packet
    val shaped = Output(Bool())
    val judged = Option.when(p.codel)(Output(Bool())) // its packets get a verdict
    val flows = Option.when(p.fq)(Output(Bool())) // its queue holds flows
    val place = Option.when(p.fq)(Output(new KeptPlace))
    val holdsOld = Option.when(p.fq)(Output(Bool())) // the DRR list holds a queue
    val ends = Option.when(p.fq)(Output(Bool())) // it holds no packet, and none comes in this cycle
    val alone = Option.when(p.codel)(Output(Bool())) // no other queue is listed
    // Of the first queue of the served list, if it is not first since this cycle: they are known earlier.
    val heldCovered, heldMoved = Output(Bool())
    val heldLength = Output(UInt(PktLenBits.W))
    val moved = Output(Bool())
    val flush = Input(new FlushSettings(p))
    val flushed = Output(Bool()) // the chosen queue is flushed
    val settled = Output(Bool()) // the first packet is known; otherwise `pop` and `keep` must be low
    val pop = Input(Bool())
    val keep = Input(Bool())
    val taken = Input(Bool()) // with keep, or the pop of a queue whose last packet goes
    val remainingDeficit = Input(UInt(Scheduler.DeficitBits.W)) // with keep
    // Bytes are given back to the first queue of the DRR list, which is served: only while `settled`, without `pop` or `keep`.
    val restore = Option.when(p.codel)(Flipped(Valid(new RestoredDeficit)))
    val appended = Flipped(Valid(new QueueHead(p))) // a packet is appended to a queue that holds others
    val configured = Flipped(Valid(UInt(p.queueBits.W)))
    val following = Output(UInt(p.queueBits.W)) // other modules look it up too; their answers in the next cycle:
    val followingService = Input(new ServiceRecord(p))
    val followingNewest = Input(new PacketRef(p))
    val followingNewestBefore = Input(UInt(p.nameBits.W)) // the packet before the newest
    val ask = Valid(UInt(p.nameBits.W)) // the packet whose successor is looked up, if it has one
    val askQueue = Output(UInt(p.queueBits.W))
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.nameBits.W))
    val parkedQueue = Input(UInt(p.queueBits.W))
    val parked = Output(new ListedQueue(p)) // one cycle later
  })

  private val (count, drr) = (Level.count(p), Level.drr(p))
  private val valid = RegInit(VecInit.fill(count)(false.B))
  private val served = RegInit(0.U(count.W)) // one hot: the first of `valid` that is set, unless it is held
  private val firsts = Reg(Vec(count, new FirstQueue(p)))
  private val nextQueues = Reg(Vec(count, UInt(p.queueBits.W))) // the queues after them
  // The same for the list that is served, and its number: the choice has no time to select them.
  private val held = Reg(new FirstQueue(p))
  private val heldFollowing = Reg(UInt(p.queueBits.W))
  private val level = RegInit(0.U(Level.Bits.W))
  private val deficit = Reg(UInt(Scheduler.DeficitBits.W)) // of the first in the DRR list
  private val newDeficit = Option.when(p.fq)(Reg(UInt(Scheduler.DeficitBits.W))) // in the list of new flows
  private val deficits = newDeficit.toSeq :+ deficit // by [[Level.withDeficit]]
  io.deficits.foreach(_ := VecInit(deficits))
  private def hasDeficit(list: UInt): Bool = Level.withDeficit(p).map(list(_)).reduce(_ || _)

  /** What belongs to the list of this level, which is that of new flows or the DRR list. Its lowest bit tells; `served` has loads enough. */
  private def ofLevel[T <: Data](level: UInt, each: Seq[T]): T =
    if (each.size == 1) each.head else Mux(level(0) === (Level.New % 2).U, each.head, each.last)
  private val tails = Mem(count, UInt(p.queueBits.W))
  private val pushedPackets, comePackets = Mem(count, new PacketRef(p))
  private val guards = new Guards(p.protect)
  private val entries = guards.ram(p.queues, new StoredQueue(p))
  private val links = guards.ram(p.queues, UInt(p.queueBits.W))

  private val pushed = io.store.bits
  private val pushing = io.store.valid && io.push
  private def is(other: Valid[UInt], queue: UInt): Bool = other.valid && other.bits === queue
  private val appendedQueue = Wire(Valid(UInt(p.queueBits.W)))
  appendedQueue.valid := io.appended.valid
  appendedQueue.bits := io.appended.bits.queue

  // ---- RAM output of this cycle, for the level served in the last one
  private val lastServed = Delay(served)
  private val lastLevel = Delay(level)
  private val lastDrr = hasDeficit(lastServed)
  private val servedLone = Wire(Bool())
  private val arrived = RegNext(io.pop && !servedLone, false.B)
  private val arrivedEntry = entries.read(io.following, arrived)
  private val arrivedQueue = Delay(io.following)
  private val arrivedFollowing = links.read(io.following, arrived)
  private def isEmpty(place: Option[KeptPlace]): Bool = place.map(_.isEmpty).getOrElse(false.B)
  private val arrivedMore = arrivedEntry.packet.name =/= io.followingNewest.name && !isEmpty(arrivedEntry.place)
  private val arrivedMoved =
    Level(p, io.followingService) =/= (if (p.fq) Mux(lastServed(Level.New), drr.U, lastLevel) else lastLevel)
  private val arrivedLone = tails.read(lastLevel) === arrivedQueue
  private val prefetch = Module(new SuccessorPrefetch(p))
  private val coming = prefetch.io.coming
  private val kept = prefetch.io.comes
  private val advances = io.keep && prefetch.io.known // the second is first from the next cycle on
  private val comes = arrived || kept
  when(comes || advances) {
    comePackets.write(Mux(comes, lastLevel, level), Mux(arrived && !advances, arrivedEntry.packet, coming.packet))
  }

  // ---- choice
  io.level := level
  private val sameServed = RegInit(false.B) // the list of the last cycle
  // The list in which a queue has arrived is served: the RAM output can be chosen at once.
  private val arrivedHere = RegInit(false.B)
  private val packetOf = OHToUInt(served) // and not `level`, which synthesis would take into the RAM
  private val heldPacket = Mux(held.byPush, pushedPackets.read(packetOf), comePackets.read(packetOf))
  private val drrArrived = arrived && lastServed(drr)
  private val arrivals = newDeficit.map(_ => arrived && lastServed(Level.New)).toSeq :+ drrArrived
  private val drrDeficits = arrivals.zip(deficits).map { case (here, deficit) =>
    Mux(here, arrivedEntry.deficit, deficit)
  }
  io.chosen.valid := (valid.asUInt & served).orR
  io.chosen.bits.head.queue := Mux(arrivedHere, arrivedQueue, held.queue)
  io.chosen.bits.head.packet := Mux(arrivedHere, arrivedEntry.packet, heldPacket)
  io.chosen.bits.deficit := ofLevel(level, drrDeficits)
  private val arrivedCovered = arrivedEntry.covered || !lastDrr
  io.covered := Mux(arrivedHere, arrivedCovered, held.covered)
  io.more := Mux(arrivedHere, arrivedMore, held.more)
  io.moved := Mux(arrivedHere, arrivedMoved, held.moved)
  io.flushed := Mux(arrivedHere, io.flush.has(arrivedQueue), io.flush.has(held.queue))
  io.heldCovered := held.covered
  io.heldMoved := held.moved
  io.heldLength := heldPacket.lenBytes
  io.shaped := Mux(arrivedHere, io.followingService.shaped, held.shaped)
  io.judged.foreach(_ := Mux(arrivedHere, io.followingService.judged.get, held.judged.get))
  io.flows.foreach(_ := Mux(arrivedHere, io.followingService.flows.get, held.flows.get))
  io.place.foreach(_ := Mux(arrivedHere, arrivedEntry.place.get, held.place.get))
  private def stores(queue: UInt): Bool = io.store.valid && pushed.head.queue === queue
  // Known from registers, unlike `fill`. If it is no fill, the queue has no place.
  private def arrivesFor(queue: UInt): Bool = io.arrives.get && pushed.head.queue === queue
  io.ends.foreach(
    _ := Mux(
      arrivedHere,
      isEmpty(arrivedEntry.place) && !arrivesFor(arrivedQueue),
      isEmpty(held.place) && !arrivesFor(held.queue)
    )
  )
  io.following := Mux(arrivedHere, arrivedFollowing, heldFollowing)
  io.settled := !kept // a packet that comes after a keep is not chosen at once

  prefetch.io.first.valid := io.chosen.valid
  prefetch.io.first.bits := heldPacket
  prefetch.io.more := held.more
  prefetch.io.deficit := ofLevel(level, deficits)
  prefetch.io.comesDeficit.foreach(_ := ofLevel(lastLevel, deficits))
  prefetch.io.arrived.valid := arrivedHere
  prefetch.io.arrived.bits.packet := arrivedEntry.packet
  prefetch.io.arrived.bits.deficit := arrivedEntry.deficit
  prefetch.io.arrived.bits.more := arrivedMore
  prefetch.io.arrived.bits.newest := io.followingNewest
  prefetch.io.arrived.bits.newestBefore := io.followingNewestBefore
  prefetch.io.same := sameServed
  prefetch.io.none := !valid.asUInt.orR
  prefetch.io.pushed.valid := pushing
  prefetch.io.pushed.bits := pushed.head.packet
  prefetch.io.pushedDeficit := pushed.deficit
  prefetch.io.pushedMore := io.pushMore && !isEmpty(io.storePlace)
  prefetch.io.comesInDrr := Mux(kept, lastDrr, hasDeficit(served))
  prefetch.io.inDrr := hasDeficit(served)
  prefetch.io.keep := io.keep
  prefetch.io.pop := io.pop
  prefetch.io.restored.zip(io.restore).foreach { case (to, from) => to := from.valid }
  prefetch.io.appended.valid := is(appendedQueue, io.chosen.bits.head.queue) && !isEmpty(io.place)
  prefetch.io.appended.bits := io.appended.bits.packet
  prefetch.io.successor := io.successor
  prefetch.io.newestServed := io.newestServed
  io.ask := prefetch.io.ask
  io.askQueue := Mux(prefetch.io.none, pushed.head.queue, io.chosen.bits.head.queue)

  // ---- a push
  private val fills = io.fill.map(_ && io.store.valid).getOrElse(false.B)
  private val pushLevel =
    if (p.fq) Mux(fills, drr.U, Mux(io.pushNew.get, Level.New.U, Level(p, io.pushService)))
    else Level(p, io.pushService)
  private val stored = Wire(new StoredQueue(p))
  stored.packet := pushed.head.packet
  stored.deficit := pushed.deficit
  stored.covered := io.storeCovered && !isEmpty(io.storePlace)
  stored.place.zip(io.storePlace).foreach { case (to, from) => to := from }
  entries.write(io.store.valid, pushed.head.queue, stored)
  links.write(pushing && valid(pushLevel), tails.read(pushLevel), pushed.head.queue)
  when(pushing) { tails.write(pushLevel, pushed.head.queue) }

  private val pushes = VecInit(Seq.tabulate(count)(level => pushing && pushLevel === level.U)).asUInt
  private val arrives = Mux(arrived, lastServed, 0.U)
  private val keeps = Mux(kept, lastServed, Mux(advances, served, 0.U))
  servedLone := Mux(arrivedHere, arrivedLone, held.lone)
  private val empties = io.pop && servedLone // of the list that is served
  // The highest list that holds queues, and the highest of the lists other than the one that is served. Whether the list that
  // is pushed into has priority over them is known later. There is no time to search for them, so they are in registers.
  private val topTwo = RegInit(VecInit.fill(2)(0.U(count.W)))
  private def highest(those: UInt): UInt = PriorityEncoderOH(those)
  private val others = valid.asUInt & ~served
  private val (top, topOther) = (topTwo(0), topTwo(1))
  io.alone.foreach(_ := servedLone && !topOther.orR)
  private def pushGoesBefore(list: UInt): Bool =
    (pushes & VecInit(Seq.tabulate(count)(level => !list(level, 0).orR)).asUInt).orR
  private val (pushWins, pushWinsOther) = (pushGoesBefore(top), pushGoesBefore(topOther))

  /** Selects by the list that is served next. Both cases are computed early: the list that is served now becomes empty, or not. */
  private def next[T <: Data](same: (T, T), other: (T, T)): T =
    Mux(empties, Mux(io.hold, same._1.asUInt, other._1.asUInt), Mux(io.hold, same._2.asUInt, other._2.asUInt))
      .asTypeOf(same._1)
  private def orPushes(wins: Bool, list: UInt) = Mux(wins, pushes, list)
  private val highestNext = (orPushes(pushWinsOther, topOther), orPushes(pushWins, top))
  served := next((served, served), highestNext)
  // The highest list after `list`, which is served in the next cycle, including the push; `without` is the same without the push.
  private def highestAfter(list: UInt, without: UInt): UInt =
    Mux(pushGoesBefore(without) && !(pushes & list).orR, pushes, without)
  private val otherNext = highestAfter(served, topOther)
  topTwo(0) := Mux(empties, highestNext._1, highestNext._2)
  topTwo(1) := next(
    (otherNext, otherNext),
    (
      Mux(pushWinsOther, topOther, highestAfter(topOther, highest(others & ~topOther))),
      Mux(pushWins, top, highestAfter(top, highest(valid.asUInt & ~top)))
    )
  )
  assert(
    top === highest(valid.asUInt) && topOther === highest(others),
    "it is not known which list is the highest"
  )
  private def orPushLevel(wins: Bool, list: UInt) = Mux(wins, pushLevel, OHToUInt(list))
  level := next((level, level), (orPushLevel(pushWinsOther, topOther), orPushLevel(pushWins, top)))
  private def isServed(list: UInt) = (list & served).orR
  private val stays = isServed(served)
  sameServed := next((stays, stays), (isServed(highestNext._1), isServed(highestNext._2)))
  arrivedHere := io.pop && !servedLone && Mux(io.hold, stays, isServed(highestNext._2))
  assert(arrivedHere === (arrived && sameServed), "it is not known whether the queue that arrives is served")
  io.chosenEarly := RegNext(Mux(empties, topOther.orR, top.orR) || pushing, false.B)
  io.holdsQueues := valid.asUInt.orR
  io.holdsOld.foreach(_ := valid(drr))

  for (((list, deficit), present) <- Level.withDeficit(p).zip(deficits).zip(drrDeficits)) {
    deficit := Mux(io.taken && served(list), io.remainingDeficit, present)
  }
  // The pushed queue becomes first in an empty list, or in one that becomes empty, which is known last.
  private val opens = pushes & ~valid.asUInt
  private val follows = pushes & served & Fill(count, servedLone)
  private val becomesFirst = opens | (follows & Fill(count, io.pop))
  // The packet of a queue that is first in the DRR list without one. It stays first in this cycle.
  private val fillsFirst =
    if (p.fq) fills && stores(Mux(drrArrived, arrivedQueue, firsts(drr).queue)) && valid(drr) else false.B
  when(opens.orR || (follows.orR && io.pop) || fillsFirst) { pushedPackets.write(pushLevel, pushed.head.packet) }
  private val pushedFirst = Wire(new FirstQueue(p))
  pushedFirst.queue := pushed.head.queue
  pushedFirst.more := (io.pushMore || is(appendedQueue, pushed.head.queue)) && !isEmpty(io.storePlace)
  pushedFirst.shaped := io.pushService.shaped
  pushedFirst.judged.foreach(_ := io.pushService.judged.get)
  pushedFirst.flows.foreach(_ := io.pushService.flows.get)
  pushedFirst.place.zip(stored.place).foreach { case (to, from) => to := from }
  pushedFirst.moved := is(io.configured, pushed.head.queue) || (fills && io.pushService.strict)
  pushedFirst.covered := stored.covered || (io.pushService.strict && !fills)
  pushedFirst.lone := true.B
  pushedFirst.byPush := true.B

  /** The first queue of a list in the next cycle and the queue after it, from the present ones, unless the pushed queue becomes first. */
  private def updated(list: UInt, old: FirstQueue, oldFollowing: UInt): (FirstQueue, UInt) = {
    def here(those: UInt) = (those & list).orR
    val (arrivesHere, keepsHere) = (here(arrives), here(keeps))
    val first = Wire(new FirstQueue(p))
    first.queue := Mux(arrivesHere, arrivedQueue, old.queue)
    first.shaped := Mux(arrivesHere, io.followingService.shaped, old.shaped)
    first.judged.foreach(_ := Mux(arrivesHere, io.followingService.judged.get, old.judged.get))
    first.flows.foreach(_ := Mux(arrivesHere, io.followingService.flows.get, old.flows.get))
    first.place.foreach(_ := Mux(arrivesHere, arrivedEntry.place.get, old.place.get))
    val more = Mux(
      arrivesHere,
      Mux(keepsHere, coming.more, arrivedMore) || is(appendedQueue, arrivedQueue),
      Mux(keepsHere, coming.more, old.more) || is(appendedQueue, old.queue)
    )
    first.more := more && !isEmpty(first.place)
    first.moved := Mux(
      arrivesHere,
      arrivedMoved || is(io.configured, arrivedQueue),
      old.moved || is(io.configured, old.queue)
    )
    // Bytes are given back only where the deficit does not cover the packet, and nothing else changes.
    val gives = if (p.fq) (list & served)(drr, Level.New).orR else list(drr)
    val restored = io.restore.map(r => r.valid && r.bits.covered && gives).getOrElse(false.B)
    first.covered := Mux(keepsHere, coming.covered, Mux(arrivesHere, arrivedCovered, old.covered || restored))
    val alone = Mux(arrivesHere, arrivedLone, old.lone)
    first.lone := alone && !here(pushes)
    first.byPush := old.byPush && !arrivesHere && !keepsHere
    val filled = WireInit(pushedFirst)
    filled.lone := alone
    val following = Mux(here(pushes) && alone, pushed.head.queue, Mux(arrivesHere, arrivedFollowing, oldFollowing))
    (if (p.fq) Mux(fillsFirst && list(drr), filled, first) else first, following)
  }
  private val levels = 0 until count
  for (level <- levels) {
    val (first, following) = updated((1 << level).U, firsts(level), nextQueues(level))
    firsts(level) := Mux(becomesFirst(level), pushedFirst, first)
    nextQueues(level) := following
    when(becomesFirst(level)) {
      valid(level) := true.B
    }.elsewhen(empties && served(level) && !pushes(level)) { valid(level) := false.B }
  }
  private def of(list: UInt) = updated(list, Mux1H(list, firsts), Mux1H(list, nextQueues))
  private val (ownFirst, ownFollowing) = updated(served, held, heldFollowing)
  private val ((highestFirst, highestFollowing), (otherFirst, otherFollowing)) = (of(top), of(topOther))
  held := next(
    (pushedFirst, Mux((opens & served).orR, pushedFirst, ownFirst)),
    (Mux(pushWinsOther, pushedFirst, otherFirst), Mux(pushWins, pushedFirst, highestFirst))
  )
  heldFollowing := next((ownFollowing, ownFollowing), (otherFollowing, highestFollowing))
  for ((list, deficit) <- Level.withDeficit(p).zip(deficits)) {
    for (restore <- io.restore)
      when(if (p.fq) restore.valid && served(list) else restore.valid) { deficit := restore.bits.deficit }
    when(becomesFirst(list) || (if (list == drr) fillsFirst else false.B)) { deficit := stored.deficit }
  }

  private val parkedEntry = entries.read(io.parkedQueue, true.B)
  io.parked.head.queue := Delay(io.parkedQueue)
  io.parked.head.packet := parkedEntry.packet
  io.parked.deficit := parkedEntry.deficit

  private val isSettled = !RegNext(io.hold, false.B)
  assert(!isSettled || served === PriorityEncoderOH(valid.asUInt), "another list is the highest")
  assert(!io.chosen.valid || level === OHToUInt(served), "it is not known which list is served")
  assert(sameServed === (lastServed & served).orR, "it is not known whether the same list is served")
  assert(
    !io.chosen.valid || held.asUInt === Mux1H(served, firsts).asUInt,
    "the first queue of the served list is not known"
  )
  assert(
    !io.chosen.valid || held.lone || heldFollowing === Mux1H(served, nextQueues),
    "the queue after the first of the served list is not known"
  )
  for (level <- levels) {
    val first = Mux(arrives(level), arrivedQueue, firsts(level).queue)
    assert(
      !valid(level) || Mux(arrives(level), arrivedLone, firsts(level).lone) === (tails.read(level.U) === first),
      "it is not known whether a list holds one queue"
    )
  }
  for ((list, deficit) <- Level.withDeficit(p).zip(deficits)) {
    val drrHeld = valid(list) && served(list) && !(comes && lastServed(list))
    assert(
      !drrHeld || isEmpty(held.place) || held.covered === (deficit >= heldPacket.lenBytes),
      "it is not known whether a deficit covers the packet"
    )
  }
  private val strictHeld = io.chosen.valid && !hasDeficit(served) && !(comes && sameServed)
  assert(!strictHeld || held.covered, "a packet of a strict queue waits for a deficit")
  assert(!isSettled || io.chosenEarly === io.chosen.valid, "it is not known whether a queue is chosen")
  assert(!(io.pop && io.keep), "a queue is kept and removed in the same cycle")
  assert(!(io.taken && isEmpty(io.place)), "a packet is taken from a queue that holds none")
  assert(!((io.pop || io.keep) && !io.chosen.valid), "`pop` or `keep` without a chosen queue")

  val guard = guards.ports()
}
