package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam}
import vermilion.fixed.Formats._
import vermilion.stream.Colour

/** Decides who goes when a packet must go, and keeps the queues: DDRED's RED form, ECN form and tail-drop form (`docs/distance-drops.md`).
  *
  * All arriving packets, whatever their fate, pass six stages in step, one a clock, so their order holds and at most one chain of cells is
  * freed a clock. The time does not depend on queue lengths.
  * {{{
  *   s0  the queue's bitmap is addressed
  *   s1  each four distances' two lowest, of the classes that may lose
  *   s2  the lowest rank and the second lowest; the heads of both lists are addressed
  *   s3  the packet with what policy has decided. Is it nearer? The second and third of the first list are addressed
  *   s4  the victim is chosen, for good; its neighbours, links and record are addressed
  *   s5  everything is written
  * }}}
  * A contest costs exactly one packet: the queued one with the smallest distance, of equals the oldest; but the arriving one if its distance is smaller
  * still, or if no other may lose. With `byColour`, of equal distance the worst colour first, and then the oldest. With
  * `mayMark`, who loses and is ECT stays and is marked CE instead. A marked packet has paid, and can be no victim any more.
  *
  * The victim is the oldest packet of the lowest list that is still there in s4: not taken by contests ahead, not its queue's first by
  * then. If the list has been emptied since s0, it is the second lowest list's, unless the arriving packet is nearer than that, or there was none: then it has
  * lost by the rule. Nothing turns void in s5: if the victim would become its queue's first in that clock, the packet behind it does ([[QueueOrder]]).
  * A contest is `blind`, and the arriving packet pays without having been compared with all that the bitmap showed, when the first list
  * was emptied and of the second (which is not further than the arriving packet) nothing was left either, or its head became first since s3.
  * Contests of the same list one behind the other find its next packet each, every clock ([[DistanceLists]]).
  *
  * With `last` = n above 0 (the tail-drop form) only the queue's last n packets may lose, the [[TailWindow]] finds who in s1 to s3, and
  * nobody is marked; with `asLong` a victim shorter than the arriving packet stays, which pays itself. Packets of queues in this form are in no list,
  * and packets that came while a queue was in the other form are no victims. In this form a contest is `blind` when who was chosen in s3
  * has gone since s0, or was its queue's first by s4: its name is compared with those of all who were evicted or became first in these clocks.
  *
  * What a search does not see: a queue's first packet, which is the scheduler's and never a victim; what is enqueued from s0 on, by packets
  * one to four clocks ahead, if its rank is lower than all seen or its list was empty; queues from `indexed` on, where the arriving packet pays.
  * If a queue's `byColour` changes, packets queued before keep the class that they were queued with: none counts as green.
  *
  * Latency, from `ahead`: `awake`, `joined` 5 clocks; `outcome`, `freed` 6; three less from `arrival`, which comes three clocks behind `ahead`. A packet can be taken from the clock behind the one in which `awake` says so; in the
  * clock of its enqueue if it became first in place of a victim.
  * RAMs: those of [[QueueOrder]] and [[DistanceLists]]; `records`, cells x (length, colour, ECT); `marks`, cells x 1 b, a [[SharedRam]]; `unlisted`, cells x 1 b.
  * In the clock behind a cell's return (`freed`, or the take of its packet) the search for another packet in it may begin (`ahead`).
  * Longest path (docs/decisions/0006 has figures): s5, who pays, compared with who becomes first, and so who does in its stead; from there, in s4 of the packet behind, the choice of the
  * victim, to the RAMs' addresses.
  */
class VictimPipeline(v: VictimParams) extends Module {
  private val SearchClocks = VictimQueues.Ahead // from s0 to s3
  val io = IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(v))) // s0
    val arrival = Flipped(Valid(new Arrival(v))) // s3: the packet that it was for
    val outcome = Valid(new Outcome(v))
    val freed = Valid(new FreedChain(v))
    // As the ports of QueueManager.
    val enqueued = Output(Bool()) // s5: the packet that came two clocks ago is enqueued
    val enqueuedMarked = Output(Bool()) // and must be marked CE
    val awake = Output(Bool()) // s5: and it woke its queue
    val joined = Output(Bool()) // s5: and it stands behind another
    val serveQueue = Input(UInt(v.queueBits.W))
    val serveCell = Input(UInt(v.cellBits.W))
    val take = Input(Bool())
    val emptied = Input(Bool())
    val successor = Output(new QueuedRef(v))
    val choice = Output(new SuccessorChoice(v))
    val mayReplace = Output(Bool()) // `choice.replaced` may be set in this clock, known early
    val newestServed = Output(UInt(v.cellBits.W))
    val refilled = Output(Bool())
    val takenMarked = Output(Bool()) // a clock behind the take: the packet was marked where it stood
    val look = Input(Vec(v.looks, UInt(v.queueBits.W)))
    val newest = Output(Vec(v.looks, UInt(v.cellBits.W)))
    val ready = Output(Bool()) // the sweeps after reset are done
  })

  private val order = Module(new QueueOrder(v))
  private[victim] val lists = Module(new DistanceLists(v))
  private val lowest = Module(new LowestRank(v))
  private val window = Module(new TailWindow(v))
  private val unlisted = new ForwardingRam(v.cells, Bool())
  private class Record extends Bundle {
    val lenBytes = UInt(PktLenBits.W)
    val colour = UInt(2.W)
    val ect = Bool()
  }
  private val records = new ForwardingRam(v.cells, new Record)
  private val marks = new SharedRam(v.cells, Bool(), 2)
  io.ready := order.io.ready && lists.io.ready && marks.ready && window.io.ready

  private def indexQueue(queue: UInt) = queue.pad(log2Ceil(v.indexed).max(1))(log2Ceil(v.indexed).max(1) - 1, 0)
  private def isIndexed(queue: UInt) = if (v.indexed == v.queues) true.B else queue < v.indexed.U

  // ---- s0 to s2: of every packet, as it is not known yet whether there will be a contest
  private val sought = Seq.iterate(io.ahead.bits, 3)(Delay(_))
  private val searches = isIndexed(sought(0).queue)
  lists.io.look := indexQueue(sought(0).queue)
  private val mayLose = Delay(
    VecInit(sought(0).mayLose.map(_ && searches && sought(0).last === 0.U))
  )
  lowest.io.bitmap := lists.io.looked & VecInit.tabulate(v.bitmapBits)(i => mayLose(i % Colour.Count)).asUInt
  for ((list, rank) <- lists.io.pick.zip(lowest.io.rank)) {
    list.queue := indexQueue(sought(2).queue)
    list.rank := rank
  }
  window.io.look := indexQueue(sought(0).queue)
  window.io.last := Delay(Mux(searches, sought(0).last, 0.U))
  window.io.mayLose := Delay(sought(0).mayLose)

  // ---- s3 to s5: the packet
  private val arrivals = Seq.iterate(io.arrival.bits, 3)(Delay(_))
  private val valids = Seq.iterate(io.arrival.valid, 3)(RegNext(_, false.B))
  private def at(stage: Int): Arrival = arrivals(stage - 3)
  private def valid(stage: Int): Bool = valids(stage - 3)
  private def tail(stage: Int): Bool = at(stage).last =/= 0.U
  private val s3Contest = valid(3) && at(3).action === Action.Contest.U

  // ---- s3
  private val s3Ranks = Delay(lowest.io.rank)
  private val s3Found = Delay(lowest.io.found)
  private val s3Wants = VecInit(s3Ranks.zip(s3Found).map { case (rank, found) =>
    s3Contest && found && at(3).distance >= rank.distance
  })
  private val s3TailWants = s3Contest && tail(3) && window.io.found && at(3).distance >= window.io.nearest.rank.distance

  private val s3Nearest = window.io.nearest.cell

  // ---- s4
  private val s4Wants = VecInit(s3Wants.map(RegNext(_, false.B))) // a contest that a reset cuts off wants nothing
  private val s4TailWants = RegNext(s3TailWants, false.B)
  private val s4Ranks = Delay(s3Ranks)
  lists.io.wants := s4Wants
  order.io.asked := lists.io.asked
  lists.io.isPromotedIf := order.io.isPromotedIf
  lists.io.picksSecond := order.io.choice.pick
  lists.io.replaced := order.io.choice.replaced
  private val s4Nearest = Delay(s3Nearest)
  private val s4Cell = Mux(tail(4), s4Nearest, lists.io.candidate.bits)
  private val s4Distance = Mux(
    tail(4),
    Delay(window.io.nearest.rank.distance),
    Mux(lists.io.ofSecond, s4Ranks(1).distance, s4Ranks(0).distance)
  )
  private val s5Listed = RegNext(lists.io.candidate.valid, false.B)
  private val s5Tail = RegNext(s4TailWants, false.B)
  private val s5Emptied = Delay(s4Wants.reduce(_ && _) && !lists.io.candidate.valid)
  private val s5Cell = Delay(s4Cell)
  private val s5TooShort = RegNext(at(4).asLong && records.read(s3Nearest).lenBytes < at(4).lenBytes)
  private val s5Left = Wire(Bool()) // the one that the window named has gone meanwhile, or is its queue's first
  private val record = records.read(s4Cell)
  order.io.victim := s4Cell
  order.io.enqueueQueue := at(4).queue
  order.io.enqueueCell := at(4).cell
  lists.io.pushList.queue := indexQueue(at(4).queue)
  lists.io.pushList.rank := at(4).rank
  lists.io.pushCell := at(4).cell
  window.io.queue := indexQueue(at(4).queue)

  // ---- s5
  private val contest = Delay(at(4).action === Action.Contest.U)
  private val s5Holds = s5Tail && !s5Left
  private val pays = s5Listed || (s5Holds && !s5TooShort) // a queued packet does
  private val mayMark = Delay(at(4).mayMark && !tail(4))
  private val refused = Delay(at(4).action === Action.Refuse.U)
  private val victimMarked = pays && mayMark && record.ect
  private val evicted = pays && !victimMarked
  private val mayBeMarked = Delay(at(4).action === Action.Contest.U && at(4).mayMark && !tail(4) && at(4).ect)
  private val marked = mayBeMarked && !pays
  private val lost = refused || (contest && !pays && !marked)
  private val enqueued = valid(5) && !lost
  order.io.enqueue.valid := enqueued
  order.io.enqueue.bits.cell := at(5).cell
  order.io.enqueue.bits.lenBytes := at(5).lenBytes
  order.io.enqueue.bits.rank := at(5).rank
  order.io.unlink := evicted
  private val joins = enqueued && !order.io.awake && isIndexed(at(5).queue)
  lists.io.push.valid := joins && !marked && !tail(5)
  lists.io.push.bits := at(5).cell
  window.io.append.valid := joins
  window.io.append.bits.cell := at(5).cell
  window.io.append.bits.rank := at(5).rank
  window.io.append.bits.listed := !tail(5)
  // Who was evicted, and who became first, in the clocks before, the latest first. A window that is looked up in s0 shows neither what happens to its packets
  // behind that, nor who becomes first in that clock.
  private def history(happens: Bool, cell: UInt, clocks: Int): Seq[Valid[UInt]] = {
    val event = Wire(Valid(UInt(v.cellBits.W)))
    event.valid := happens
    event.bits := cell
    Seq.iterate(event, clocks + 1)(Pipe(_)).tail
  }
  private val evictions = history(evicted, s5Cell, SearchClocks - 1)
  private val promotions = history(order.io.promoted, order.io.successor.cell, SearchClocks)
  private def hasLeft(cell: UInt, clocks: Int): Bool =
    (evictions.take(clocks) ++ promotions.take(clocks)).map(event => event.valid && event.bits === cell).reduce(_ || _)
  private val s4Left = Delay(hasLeft(s3Nearest, SearchClocks))
  s5Left := Delay(s4Left || hasLeft(s4Nearest, 1)) || hasLeft(s5Cell, 1)
  window.io.victim := s5Cell
  window.io.remove := evicted
  unlisted.write(enqueued, at(5).cell, tail(5))
  private val own = Wire(new Record)
  own.lenBytes := at(5).lenBytes
  own.colour := at(5).colour
  own.ect := at(5).ect
  records.write(enqueued, at(5).cell, own)
  marks.write(0, at(4).cell, enqueued, marked)
  marks.write(1, s4Cell, victimMarked, true.B)

  // ---- take and promotion
  order.io.serveQueue := io.serveQueue
  order.io.serveCell := io.serveCell
  order.io.take := io.take
  order.io.emptied := io.emptied
  order.io.look := io.look
  lists.io.promote.valid := order.io.promoted && isIndexed(order.io.promotedQueue)
  lists.io.promote.bits := order.io.successor
  lists.io.promoteQueue := indexQueue(order.io.promotedQueue)
  lists.io.promoteListed := !marks.read(order.io.successor.cell) && !unlisted.read(order.io.successor.cell)
  window.io.promoted := lists.io.promote.valid
  window.io.promotedQueue := lists.io.promoteQueue
  io.takenMarked := marks.read(io.serveCell)
  io.successor := order.io.successor
  io.choice := order.io.choice
  io.mayReplace := s5Listed || s5Tail
  io.newestServed := order.io.newestServed
  io.refilled := order.io.refilled
  io.newest := order.io.newest
  io.enqueued := enqueued
  io.enqueuedMarked := marked
  io.awake := order.io.awake
  io.joined := order.io.joined

  // ---- what is told
  private val outcome = Wire(new Outcome(v))
  outcome.enqueued := enqueued
  outcome.marked := marked
  outcome.blind := s5Emptied || (s5Tail && !s5Holds)
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
    "a packet comes at another time than its search"
  )
  assert(
    !io.arrival.valid || s3Sought.asUInt === io.arrival.bits.sought.asUInt,
    "another packet comes than the search was for"
  )
  assert(
    !io.arrival.valid || io.arrival.bits.cells =/= 0.U || io.arrival.bits.action === Action.Refuse.U,
    "a packet without cells can only be refused"
  )
  private val choiceIsNewest =
    Mux(io.choice.replaced, io.choice.behindIsNewest, io.choice.chosen.cell === io.choice.newest)
  assert(
    !order.io.promoted || choiceIsNewest === (io.successor.cell === io.newestServed),
    "the choice and the successor differ in whether another stands behind"
  )
  assert(io.mayReplace || !io.choice.replaced, "a victim is replaced that nobody has heard of")
  assert(!(s5Listed && s5Tail), "a victim is chosen in both forms")
  assert(!s5Listed || contest, "a victim is chosen without a contest")
}

/** A chain of linked cells that goes back to the free list: `stream/Chain`, of a build that may be smaller than a lane. */
class FreedChain(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val cells = UInt(v.chainBits.W)
}
