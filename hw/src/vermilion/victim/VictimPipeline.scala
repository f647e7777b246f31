package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam}
import vermilion.fixed.Formats._
import vermilion.stream.Colour

/** Selects the victim of each push-out and keeps the bodies of the queues.
  *
  * It implements DDRED's RED form, ECN form and tail-drop form (`docs/distance-drops.md`).
  *
  * A queue has a head and a body. The head holds at most `places` packets, which belong to the scheduler and are never victims. Every packet enters
  * the body. It becomes head of line when a place is free ([[HeadPlaces]]), in a slot without a push-out.
  *
  * All arriving packets, with any verdict, pass six stages, one per cycle. So their order holds and at most one chain of cells is
  * freed per cycle. A new head uses the stages from s3, in the slot of a packet without a push-out, or in an empty slot.
  * The time does not depend on queue lengths.
  * {{{
  *   s0  the queue's bitmap is addressed
  *   s1  the two lowest of each four distances, of the classes that may be victims
  *   s2  the lowest rank and the second lowest; the heads of both lists are addressed
  *   s3  the packet arrives with the decision of the policy. Is it nearer? Without a push-out: which queue's packet becomes head
  *   s4  the victim is selected finally, or the body's first; its neighbours, link and record are addressed
  *   s5  everything is written
  * }}}
  * A push-out costs exactly one packet: the queued one with the smallest distance, and of equal ones the oldest. It is the arriving packet if its distance
  * is smaller still, or if no queued packet may be a victim. With `byColour`, of equal distances the worst colour comes first, then the oldest. With
  * `mayMark`, a victim that is ECT stays and is marked CE instead. A marked packet is never a victim again.
  *
  * The victim is the oldest packet of the lowest list that is still there in s4: earlier push-outs and new heads may have removed packets. If the
  * list was emptied since s0, the victim comes from the second lowest list. If the arriving packet is nearer than that list, or there is none, the
  * arriving packet is the victim by the rule.
  *
  * A push-out has a `stale` candidate in two cases. The arriving packet is then dropped, not compared with all packets that the bitmap showed.
  *  - The first list was emptied, and so was the second, which is not further than the arriving packet.
  *  - The push-out yields its slot to a packet that has waited to become head of line for [[VictimPipeline.Patience]] push-outs, one in each cycle.
  *
  * With `last` = n above 0 (the tail-drop form) only the body's last n packets may be victims. The [[TailWindow]] finds the victim in s1 to s3, and
  * no packet is marked. With `asLong`, a victim shorter than the arriving packet stays, and the arriving packet is dropped. Packets of queues in this
  * form are in no list. Packets that came while a queue was in the other form are never victims. In this form the candidate is `stale` if the
  * packet selected in s3 has left since s0. Its name is compared with those of all packets unlinked in these cycles.
  *
  * A search does not see packets of the head. It does not see packets enqueued from s0 on (the one to four arrivals before), if their rank is
  * lower than all seen or their list was empty. Queues from `indexed` on are not searched: there the arriving packet is dropped.
  * If a queue's `byColour` changes, queued packets keep the class with which they were queued. Without `byColour` that is the class of green.
  *
  * Latency: `outcome` and `freed` come 6 cycles after `ahead` and 3 after `arrival`, which comes three cycles after `ahead`. A packet becomes
  * `newHead` 5 cycles after its arrival if its queue's head has a free place and no earlier request or push-out delays it.
  * RAMs: those of [[QueueOrder]], [[DistanceLists]], [[TailWindow]] and [[HeadPlaces]]; `records`, cells x (length, colour).
  * In the cycle after a cell's return (`freed`, or the take of its packet) the search for another packet in it may begin (`ahead`).
  * Longest path: s5, the packet after the one that leaves, in its list or in its queue; then, in s4 of the next slot, the selection, to the RAMs' addresses.
  * Registers tell early whether a packet leaves in s5, and whether it is the first of its body. References and lists carry the data for it.
  */
class VictimPipeline(v: VictimParams) extends Module {
  private val SearchCycles = VictimQueues.Ahead // from s0 to s3
  val io = IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(v))) // s0
    val arrival = Flipped(Valid(new Arrival(v))) // s3: the packet for which `ahead` searched
    val outcome = Valid(new Outcome(v))
    val freed = Valid(new FreedChain(v))
    val enqueued = Output(Bool()) // s5: the packet that came two cycles ago is enqueued
    val enqueuedMarked = Output(Bool()) // it is enqueued and must be marked CE
    val newHead = Valid(new NewHead(v)) // s5
    val taken = Flipped(Valid(UInt(v.queueBits.W))) // the scheduler has taken a packet of this queue
    val busy = Output(Bool()) // a new head is requested or in progress
    val ready = Output(Bool()) // the clearing after reset is done
  })

  private val order = Module(new QueueOrder(v))
  private[victim] val lists = Module(new DistanceLists(v))
  private val places = Module(new HeadPlaces(v))
  private val lowest = Module(new LowestRank(v))
  private val window = Module(new TailWindow(v))
  private class Record extends Bundle {
    val lenBytes = UInt(PktLenBits.W)
    val colour = UInt(2.W)
  }
  private val records = new ForwardingRam(v.cells, new Record)
  io.ready := order.io.ready && lists.io.ready && window.io.ready && places.io.ready

  private def indexQueue(queue: UInt) = queue.pad(log2Ceil(v.indexed).max(1))(log2Ceil(v.indexed).max(1) - 1, 0)
  private def isIndexed(queue: UInt) = if (v.indexed == v.queues) true.B else queue < v.indexed.U

  // ---- s0 to s2: for every packet, as it is not known yet whether there will be a push-out
  private val sought = Seq.iterate(io.ahead.bits, 3)(Delay(_))
  private val searches = isIndexed(sought(0).queue)
  lists.io.lookup := indexQueue(sought(0).queue)
  private val mayLose = Delay(
    VecInit(sought(0).mayLose.map(_ && searches && sought(0).last === 0.U))
  )
  lowest.io.bitmap := lists.io.found & VecInit.tabulate(v.bitmapBits)(i => mayLose(i % Colour.Count)).asUInt
  for ((list, rank) <- lists.io.pick.zip(lowest.io.rank)) {
    list.queue := indexQueue(sought(2).queue)
    list.rank := rank
  }
  window.io.lookup := indexQueue(sought(0).queue)
  window.io.last := Delay(Mux(searches, sought(0).last, 0.U))
  window.io.mayLose := Delay(sought(0).mayLose)

  // ---- s3 to s5: the packet
  private val arrivals = Seq.iterate(io.arrival.bits, 3)(Delay(_))
  private val valids = Seq.iterate(io.arrival.valid, 3)(RegNext(_, false.B))
  private def at(stage: Int): Arrival = arrivals(stage - 3)
  private def valid(stage: Int): Bool = valids(stage - 3)
  private def tail(stage: Int): Bool = at(stage).last =/= 0.U
  private val s3PushOut = valid(3) && at(3).action === Action.PushOut.U

  // ---- s3
  private val s3Ranks = Delay(lowest.io.rank)
  private val s3Found = Delay(lowest.io.found)
  // If the foremost request has waited for `Patience` push-outs, one in each cycle, it gets the slot of the next. That push-out has no victim.
  private val waited = RegInit(0.U(log2Ceil(VictimPipeline.Patience + 1).W))
  private val s3Yields = s3PushOut && places.io.next.valid && waited === VictimPipeline.Patience.U
  private val s3Searches = s3PushOut && !s3Yields
  when(!s3Searches) { waited := 0.U }.elsewhen(places.io.next.valid) { waited := waited + 1.U }
  private val s3Wants = VecInit(s3Ranks.zip(s3Found).map { case (rank, found) =>
    s3Searches && found && at(3).distance >= rank.distance
  })
  private val s3TailWants =
    s3Searches && tail(3) && window.io.found && at(3).distance >= window.io.nearest.rank.distance
  private val s3Nearest = window.io.nearest.cell
  places.io.issue := places.io.next.valid && !s3Searches
  order.io.firstOf := Mux(s3Searches, at(3).queue, places.io.next.bits)

  // ---- s4
  private val s4Wants = VecInit(s3Wants.map(RegNext(_, false.B))) // a push-out that a reset interrupts requests nothing
  private val s4TailWants = RegNext(s3TailWants, false.B)
  private val s4Ranks = Delay(s3Ranks)
  private val s4Serves = RegNext(places.io.issue, false.B)
  private val s4MakesHead = s4Serves && places.io.waits
  private val s4HeadQueue = Delay(places.io.next.bits)
  lists.io.wants := s4Wants
  lists.io.makesHead := s4Serves
  private val s4Nearest = Delay(s3Nearest)
  private def unlessLinked[T <: Data](isLinked: Bool, part: QueuedRef => T, other: T): T =
    Mux(isLinked, Mux(order.io.isEnqueued, part(order.io.linked(0)), part(order.io.linked(1))), other)
  private val s4First =
    unlessLinked(order.io.isLinked, _.asUInt, order.io.first.asUInt).asTypeOf(new QueuedRef(v))
  private val s4Candidate = lists.io.candidate
  order.io.serves := s4Serves
  private val s4Cell = unlessLinked(
    order.io.servesLinked,
    _.cell,
    Mux(s4Serves, order.io.first.cell, Mux(tail(4), s4Nearest, s4Candidate.packet.cell))
  )
  lists.io.goes := s4Cell
  lists.io.newHeadFrom.queue := indexQueue(s4HeadQueue)
  lists.io.newHeadFrom.rank := s4First.rank
  lists.io.isListed := s4MakesHead && s4First.listed
  private val s4Distance = Mux(
    tail(4),
    Delay(window.io.nearest.rank.distance),
    Mux(s4Candidate.ofSecond, s4Ranks(1).distance, s4Ranks(0).distance)
  )
  private val s4Evicts = s4Candidate.valid && !(at(4).mayMark && !tail(4) && s4Candidate.packet.ect)
  private val s5Listed = RegNext(s4Candidate.valid, false.B)
  private val s5Tail = RegNext(s4TailWants, false.B)
  private val s5Serves = RegNext(s4Serves, false.B)
  private val s5MakesHead = RegNext(s4MakesHead, false.B)
  private val s5Emptied = Delay(s4Wants.reduce(_ && _) && !s4Candidate.valid)
  private val s5Yielded = Delay(s3Yields, 2)
  private val s5Cell = Delay(s4Cell)
  private val s5Complement = Delay(~s4Cell) // an inverted copy, used only by the comparator
  private val s5First = Delay(s4First) // of the packet's queue, or of the queue whose packet becomes head of line
  private val s5TooShort = RegNext(at(4).asLong && records.read(s3Nearest).lenBytes < at(4).lenBytes)
  private val s5Left = Wire(Bool()) // the packet that the window selected has left meanwhile
  private val record = records.read(s4Cell)
  order.io.unlinkQueue := Mux(s4Serves, s4HeadQueue, at(4).queue)
  order.io.unlinkCell := s4Cell
  order.io.enqueueQueue := at(4).queue
  order.io.enqueueCell := at(4).cell
  places.io.queue := at(4).queue
  lists.io.pushList.queue := indexQueue(at(4).queue)
  lists.io.pushList.rank := at(4).rank
  lists.io.pushCell := at(4).cell
  window.io.queue := indexQueue(at(4).queue)

  // ---- s5: the packet and the victim
  private val pushOut = Delay(at(4).action === Action.PushOut.U)
  private val s5Holds = s5Tail && !s5Left
  private val evictsTail = s5Holds && !s5TooShort
  private val hasVictim = s5Listed || evictsTail // a queued packet is evicted or marked
  private val mayMark = Delay(at(4).mayMark && !tail(4))
  private val refused = Delay(at(4).action === Action.Refuse.U)
  private val victimMarked = s5Listed && mayMark && Delay(s4Candidate.packet.ect)
  private val evicted = RegNext(s4Evicts, false.B) || evictsTail
  assert(
    evicted === (hasVictim && !victimMarked),
    "the victim search and the decision disagree whether a victim is pushed out"
  )
  private val mayBeMarked = Delay(at(4).action === Action.PushOut.U && at(4).mayMark && !tail(4) && at(4).ect)
  private val marked = mayBeMarked && !hasVictim
  private val lost = refused || (pushOut && !hasVictim && !marked)
  private val enqueued = valid(5) && !lost
  private val joins = enqueued && isIndexed(at(5).queue)
  // The packet goes into its list if it is enqueued, not marked, and not in the tail-drop form. A register holds this.
  private val s4Admits = valid(4) && at(4).action === Action.Admit.U && isIndexed(at(4).queue) && !tail(4)
  private val s5Lists = RegNext(s4Candidate.valid || s4Admits, false.B)
  assert(s5Lists === (joins && !marked && !tail(5)), "a packet is listed that does not come, or that was marked")
  order.io.enqueue.valid := enqueued
  order.io.enqueue.bits.cell := at(5).cell
  order.io.enqueue.bits.rank := at(5).rank
  order.io.enqueue.bits.listed := s5Lists
  order.io.enqueue.bits.marked := marked
  order.io.isEmpty := places.io.isEmpty
  order.io.unlink := RegNext(s4Evicts || s4MakesHead, false.B) || evictsTail
  assert(order.io.unlink === (evicted || s5MakesHead), "a packet is unlinked that does not go")
  order.io.mark := victimMarked
  order.io.unlinkRank := Delay(s4Candidate.list.rank)
  order.io.unlinksFirst := s5Serves || ~s5Complement === s5First.cell
  places.io.enqueued := enqueued
  places.io.evicted := evicted
  lists.io.push.valid := s5Lists
  lists.io.push.bits.cell := at(5).cell
  lists.io.push.bits.ect := at(5).ect
  window.io.append.valid := joins
  window.io.append.bits.cell := at(5).cell
  window.io.append.bits.rank := at(5).rank
  window.io.append.bits.listed := !tail(5)
  // The packets unlinked in the cycles before, the latest first. A window that is looked up in s0 does not show later changes of its packets.
  private val unlinks = {
    val event = Wire(Valid(UInt(v.cellBits.W)))
    event.valid := order.io.unlink
    event.bits := s5Cell
    Seq.iterate(event, SearchCycles + 1)(Pipe(_)).tail
  }
  private def hasLeft(cell: UInt, cycles: Int): Bool =
    unlinks.take(cycles).map(event => event.valid && event.bits === cell).reduce(_ || _)
  private val s4Left = Delay(hasLeft(s3Nearest, SearchCycles))
  s5Left := Delay(s4Left || hasLeft(s4Nearest, 1) || (order.io.unlink && s5Cell === s4Nearest))
  window.io.victim := s5Cell
  window.io.remove := evicted
  private val own = Wire(new Record)
  own.lenBytes := at(5).lenBytes
  own.colour := at(5).colour
  records.write(enqueued, at(5).cell, own)

  // ---- s5: the packet that becomes head of line
  private val s5HeadQueue = places.io.newHeadQueue
  places.io.makesHead := s5MakesHead
  places.io.void := s5Serves && !s5MakesHead
  window.io.newHead := s5MakesHead && isIndexed(s5HeadQueue)
  window.io.newHeadQueue := indexQueue(s5HeadQueue)
  io.newHead.valid := s5MakesHead
  io.newHead.bits.queue := s5HeadQueue
  io.newHead.bits.cell := s5Cell
  io.newHead.bits.place := places.io.place
  io.newHead.bits.marked := s5First.marked
  places.io.taken := io.taken
  io.busy := places.io.busy
  io.enqueued := enqueued
  io.enqueuedMarked := marked

  // ---- outputs
  private val outcome = Wire(new Outcome(v))
  outcome.enqueued := enqueued
  outcome.marked := marked
  outcome.stale := s5Emptied || s5Yielded || (s5Tail && !s5Holds)
  outcome.evicted := evicted
  outcome.victimMarked := victimMarked
  outcome.victim.queue := at(5).queue
  outcome.victim.cell := s5Cell
  outcome.victim.lenBytes := record.lenBytes
  outcome.victim.colour := record.colour
  outcome.victim.distance := Delay(s4Distance)
  io.outcome.valid := RegNext(valid(5), false.B)
  io.outcome.bits := Delay(outcome)
  private val freed = Wire(new FreedChain(v))
  freed.cell := Mux(evicted, s5Cell, at(5).cell)
  private val victimCells = ((record.lenBytes +& (CellBytes - 1).U) >> log2Ceil(CellBytes)).asUInt
  freed.cells := Mux(evicted, Arithmetic.saturate(victimCells, v.chainBits), at(5).cells)
  io.freed.valid := RegNext(evicted || (valid(5) && lost && at(5).cells =/= 0.U), false.B)
  io.freed.bits := Delay(freed)

  private val s3Sought = Delay(sought(2))
  assert(
    io.arrival.valid === Seq.iterate(io.ahead.valid, VictimQueues.Ahead + 1)(RegNext(_, false.B)).last,
    "a packet and its search are not in the same cycle"
  )
  assert(
    !io.arrival.valid || s3Sought.asUInt === io.arrival.bits.sought.asUInt,
    "the search was for another packet"
  )
  assert(
    !io.arrival.valid || io.arrival.bits.cells =/= 0.U || io.arrival.bits.action === Action.Refuse.U,
    "a packet without cells can only be refused"
  )
  assert(!(s5Listed && s5Tail), "a victim is chosen in both forms")
  assert(!s5Listed || pushOut, "a victim is chosen without a push-out")
  assert(!evicted || enqueued, "a packet is evicted for one that does not come")
}

object VictimPipeline {

  /** Push-outs in consecutive cycles for which the foremost request waits. */
  val Patience = 8
}

/** A packet that moves from the body to the head of its queue. */
class NewHead(v: VictimParams) extends Bundle {
  val queue = UInt(v.queueBits.W)
  val cell = UInt(v.cellBits.W)
  val place = UInt(log2Ceil(v.places).W) // its place in the head
  val marked = Bool() // it was marked CE in its place, or when it came
}

/** A chain of linked cells that returns to the free list: `stream/Chain`, in a build that may be smaller than a lane. */
class FreedChain(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val cells = UInt(v.chainBits.W)
}
