package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.{PacketRef, QueueManager, QueuePorts}

/** All queues of a lane that decides in turn, with contests: `queue/QueueManager` with what takes a packet out of its middle.
  *
  * Contests are at least eight clocks apart. Who may pay is sought ahead of the verdict (`ahead`, [[SearchInTurn.Latency]] clocks before `arrival`), for each packet,
  * and from then to the verdict nothing may be taken from a queue. So `outcome`, which comes in the clock of the arrival, is the rule itself: the queued packet with
  * the smallest distance, of equals the oldest; no search is ever blind, and there is no race between an eviction and the scheduler.
  * What pays and who may is said in `docs/distance-drops.md`, in which clock what happens in [[SearchInTurn]].
  *
  * In clock 6 the victim is linked out, in clock 7 the arriving packet is linked in behind the newest; so a queue never falls empty by an eviction, and
  * what the scheduler knows ("another stands behind the first") stays true, as no packet is taken in between. Of a victim that was the newest, QueueManager's newest is the packet
  * before for that one clock: who looks then hears of the packet that has `joined` in the next, with its answer.
  * Each link to the packet behind says what the index must know when that becomes its queue's first: its rank, and whether it stands in a list. A packet that
  * is marked where it stands has left its list: the link to it is written again.
  *
  * RAM | depth | holds | written in clock
  * --- | --- | --- | ---
  * behind | cells | the packet behind, its length, rank, and whether it stands in a list | 6, 7
  * before | cells | the packet before | 6, 7
  * records | cells | length, colour, ECT | 7
  * marks | cells | marked where it stood | 6, 7
  *
  * and those of QueueManager, [[DistanceListsInTurn]] and [[TailWindowInTurn]].
  * Latency: `awake`, `joined` 1 clock behind the arrival, as QueueManager; `outcome` 0; `freed` 1. Nothing may come until `ready` after reset, nor in its
  * first `queues` clocks.
  */
class VictimQueuesInTurn(p: LaneParams) extends ContestingQueues(p) {
  import SearchInTurn._
  require(p.inTurn, s"slotClocks is ${p.slotClocks}; legal for the victim search in turn is 8")
  private val ahead = io.ahead
  private val search = new SearchInTurn(v, ahead)
  private val sought = search.sought
  private val manager = Module(new QueueManager(p))
  private val edits = manager.edits.get
  private val lists = Module(new DistanceListsInTurn(v))
  private val window = Module(new TailWindowInTurn(v))
  io.ready := lists.io.ready && window.io.ready

  private class Behind extends Bundle {
    val packet = new PacketRef(p)
    val rank = new Rank(v)
    val listed = Bool()
  }
  private class Record extends Bundle {
    val lenBytes = UInt(PktLenBits.W)
    val colour = UInt(2.W)
    val ect = Bool()
  }
  private val behinds = new ForwardingRam(p.cells, new Behind)
  private val befores = SyncReadMem(p.cells, UInt(p.cellBits.W))
  private val records = SyncReadMem(p.cells, new Record)
  private val marks = SyncReadMem(p.cells, Bool())

  // ---- clocks 0 to 5: who may pay
  lists.io.ahead := ahead
  window.io.ahead := ahead
  private val s5Found = RegNext(window.io.found)
  private val s5Nearest = Delay(window.io.nearest)
  private val victim = Mux(search.isTail, s5Nearest.cell, lists.io.head)
  private val rank = Mux(search.isTail, s5Nearest.rank.asUInt, lists.io.rank.asUInt).asTypeOf(new Rank(v))
  private val found = Mux(search.isTail, s5Found, lists.io.found)
  private val s6Victim = RegEnable(victim, search.at(victims))
  private val s6Rank = RegEnable(rank, search.at(victims))
  private val s6MayPay = RegNext(found && sought.isIndexed && sought.distance >= rank.distance)
  // The length of who may pay at the limit is compared a clock ahead.
  private val record = records.read(Mux(search.at(ranks), window.io.nearest.cell, victim))
  private val s6TooShort = RegNext(record.lenBytes < sought.lenBytes)
  private val before = befores.read(victim)
  private val behind = behinds.read(Mux(search.at(victims), victim, io.serve.packet.cell))

  // ---- clock 6: who pays
  private val arrival = io.arrival.bits
  private val contest = io.arrival.valid && arrival.action === Action.Contest.U
  private val another = s6MayPay && !(search.isTail && arrival.asLong && s6TooShort)
  private val mayMark = arrival.mayMark && !search.isTail
  private val victimMarked = contest && another && mayMark && record.ect
  private val evicted = contest && another && !(mayMark && record.ect)
  private val marked = contest && !another && mayMark && arrival.ect
  private val admitted = arrival.action === Action.Admit.U
  private val enqueued = io.arrival.valid && (admitted || (contest && (another || (mayMark && arrival.ect))))
  io.outcome.valid := io.arrival.valid
  io.outcome.bits.enqueued := enqueued
  io.outcome.bits.marked := marked
  io.outcome.bits.blind := false.B
  io.outcome.bits.evicted := evicted
  io.outcome.bits.victimMarked := victimMarked
  io.outcome.bits.victim.queue := sought.queue
  io.outcome.bits.victim.cell := s6Victim
  io.outcome.bits.victim.lenBytes := record.lenBytes
  io.outcome.bits.victim.colour := record.colour
  io.outcome.bits.victim.distance := s6Rank.distance
  io.settled := arrival.descriptor
  private val victimCells = ((record.lenBytes +& (CellBytes - 1).U) >> log2Ceil(CellBytes)).asUInt
  io.freed.valid := RegNext(
    evicted || (io.arrival.valid && !enqueued && arrival.descriptor.cells =/= 0.U),
    false.B
  )
  io.freed.bits.head := RegNext(Mux(evicted, s6Victim, arrival.descriptor.headCell))
  io.freed.bits.cells := RegNext(
    Mux(evicted, Arithmetic.saturate(victimCells, p.chainBits), arrival.descriptor.cells)
  )

  // ---- clock 6: the victim is linked out, or the link to it says that it is in no list any more
  lists.io.pop := (evicted || victimMarked) && !search.isTail
  window.io.victim := s6Victim
  window.io.remove := evicted
  private val linksOut = evicted && !window.io.isNewest
  edits.newest.valid := evicted && window.io.isNewest
  edits.newest.bits.queue := sought.queue
  edits.newest.bits.cell := before
  private val stays = Wire(new Behind)
  stays.packet.cell := s6Victim
  stays.packet.lenBytes := record.lenBytes
  stays.rank := s6Rank
  stays.listed := false.B
  behinds.write(linksOut || victimMarked, before, Mux(evicted, behind.asUInt, stays.asUInt).asTypeOf(new Behind))

  // ---- clock 7: the packet is linked in
  manager.io.enqueue.valid := enqueued
  manager.io.enqueue.bits.queue := sought.queue
  manager.io.enqueue.bits.descriptor := arrival.descriptor
  manager.io.enqueue.bits.descriptor.setCe := arrival.descriptor.setCe || marked
  private val s7Enqueued = RegNext(enqueued, false.B)
  private val s7Cell = Delay(arrival.descriptor.headCell)
  private val s7Listed = RegNext(!marked && !search.isTail)
  private val own = Wire(new Record)
  own.lenBytes := sought.lenBytes
  own.colour := sought.colour
  own.ect := RegNext(arrival.ect)
  when(s7Enqueued) { records.write(s7Cell, own) }
  private val isMarked = search.at(verdict)
  when(Mux(isMarked, victimMarked, s7Enqueued)) { marks.write(Mux(isMarked, s6Victim, s7Cell), isMarked) }
  private val joins = manager.io.joined.valid
  private val joinsIndex = joins && sought.isIndexed
  private val link = Wire(new Behind)
  link.packet.cell := s7Cell
  link.packet.lenBytes := sought.lenBytes
  link.rank := sought.rank
  link.listed := s7Listed
  behinds.write(joins, edits.joinedBehind, link)
  lists.io.push := joinsIndex && s7Listed
  lists.io.pushed := s7Cell
  window.io.append.valid := joinsIndex
  window.io.append.bits.cell := s7Cell
  window.io.append.bits.rank := sought.rank
  window.io.append.bits.listed := !search.isTail
  private val rejoins = linksOut // whose packet behind has another before it now
  when(rejoins || joins) {
    befores.write(Mux(joins, s7Cell, behind.packet.cell), Mux(joins, edits.joinedBehind, before))
  }

  // ---- a take, and who is first behind it
  private val promoted = Wire(Valid(new PromotedInTurn(v)))
  promoted.bits.queue := Delay(io.serve.queue)
  promoted.bits.cell := behind.packet.cell
  promoted.bits.rank := behind.rank
  promoted.bits.listed := behind.listed
  private val isIndexed = if (v.indexed == v.queues) true.B else promoted.bits.queue < v.indexed.U
  promoted.valid := edits.promoted && isIndexed
  window.io.promoted := promoted
  lists.io.promoted := promoted
  lists.io.promoted.valid := promoted.valid && behind.listed
  private val wasMarked = marks.read(io.serve.packet.cell)

  // ---- the scheduler's side is QueueManager's, but for the links. Whose successor is wanted is taken in that clock
  assert(
    !io.ask.valid || io.ask.bits === io.serve.packet.cell,
    "the successor of another packet is wanted than is taken"
  )
  (io: QueuePorts).waiveAll :<>= (manager.io: QueuePorts).waiveAll
  io.successor := behind.packet
  io.taken.bits.descriptor.setCe := manager.io.taken.bits.descriptor.setCe || wasMarked
  io.busy := s7Enqueued

  assert(io.arrival.valid === search.at(verdict), "a packet comes at another time than its search")
  assert(
    !io.arrival.valid || arrival.descriptor.queue === sought.queue && arrival.descriptor.lenBytes === sought.lenBytes,
    "another packet comes than the search was for"
  )
  assert(!io.take || !search.busy || search.at(append), "a packet is taken while a search is under way")
  assert(!ahead.valid || io.ready, "a packet came within the first clocks after reset")
  assert(
    !(search.at(verdict) && (evicted || victimMarked)) || before =/= s6Victim,
    "a victim stands behind itself"
  )
}
