package vermilion.schedule

import chisel3._
import chisel3.util._
import chisel3.util.experimental.BoringUtils
import vermilion.departure.{DepartureVerdicts, HeadVerdict, HeadVerdictPorts}
import vermilion.formal.StreamRules
import vermilion.lane.LaneParams

/** [[EgressQueues]]: queues, lists and choice together. Every packet leaves once, in its queue's order, discarded where it is flushed and nowhere else; nothing rests while a packet may go; strict
  * priority; a deficit never passes its bound.
  *
  * Assumed: a packet has a cell that no other has, from its enqueue to the clock behind its departure. Each queue is configured once, before packets
  * come, in any way but a shaper's: strict with any priority, or in the round with a quantum of 64 or 128 bytes; a packet has 64 or 128.
  * The port is not shaped. Which packets come, to which queue, when the way out takes one, and what is flushed, is free.
  *
  * In builds with `codel` any packet that has another queued behind it may be dropped or marked by its verdict.
  *
  * In builds with `fq` any queue may hold flows. A queue is in one list at most. While a queue waits in the DRR list, with or without a packet, no other is inserted
  * twice into the list of new flows.
  *
  * @param flushes anything may be flushed, and the egress paused, in any clock; else neither is
  */
class EgressChecks(p: LaneParams, bounds: EgressBounds, flushes: Boolean = false) extends Module {
  private val n = p.cells
  val free = IO(Input(new Bundle {
    val enqueues, long, ready, skip, flushes, flushesOne, discards, pauses = Bool()
    val drops, dueAgain, marks = Bool() // by the verdict of the packet that was taken three cycles before
    val queue = UInt(p.queueBits.W)
    val cell = UInt(p.cellBits.W)
    val strict, longQuantum, flows = Bool()
    val priority = UInt(3.W)
  }))
  private class Packet extends Bundle {
    val cell = UInt(p.cellBits.W)
    val long = Bool()
  }
  private class Plain extends Bundle {
    val packets = Vec(n, new Packet)
    val length = UInt((p.cellBits + 1).W)
    def empty: Bool = length === 0.U
  }
  private val dut = Module(new EgressQueues(p, new FreeVerdict(_, free.drops, free.dueAgain, free.marks)))
  private val judging =
    if (p.codel) DepartureVerdicts.Latency else 0 // cycles from a choice to `departed`, beyond the one of other builds
  dut.io.now := 0.U
  dut.io.skip := free.skip
  dut.marks.foreach(ports => ports := 0.U.asTypeOf(ports))
  dut.io.configurePort := 0.U.asTypeOf(dut.io.configurePort)
  private val paused = if (flushes) free.pauses else false.B
  dut.io.paused.head := paused
  private val (flushesAll, flushesOne) = if (flushes) (free.flushes, free.flushesOne) else (false.B, false.B)
  dut.io.flush.egresses.head := flushesAll
  dut.io.flush.queue.valid := flushesOne
  dut.io.flush.queue.bits := free.queue
  dut.io.discarded.ready := free.discards
  StreamRules.keeps("discarded", dut.io.discarded)

  // ---- configuration: sweeps, then queue by queue
  private val started = RegInit(0.U((p.queueBits + 2).W))
  private val ready = started === (2 * p.queues).U
  when(!ready) { started := started + 1.U }
  private val configures = !ready && started >= p.queues.U
  private val configured = (started - p.queues.U)(p.queueBits - 1, 0)
  private val strict = Reg(Vec(p.queues, Bool()))
  private val quantum = Reg(Vec(p.queues, Bool())) // of 128 bytes
  private val priority = Reg(Vec(p.queues, UInt(3.W)))
  private val service = dut.io.configure.bits
  dut.io.configure.valid := configures
  service := 0.U.asTypeOf(service)
  service.queue := configured
  service.strict := free.strict
  service.priority := free.priority
  service.quantum := Mux(free.longQuantum, 128.U, 64.U)
  service.codel.foreach(_.on := true.B)
  service.flows.foreach(_ := free.flows)
  when(configures) {
    strict(configured) := free.strict
    priority(configured) := free.priority
    quantum(configured) := free.longQuantum
  }

  // ---- packets
  private val held = RegInit(0.U(n.W))
  private val comes = free.enqueues && ready && !held(free.cell)
  private val d = dut.io.enqueue.bits.queueEntry
  dut.io.enqueue.valid := comes
  dut.io.enqueue.bits := 0.U.asTypeOf(dut.io.enqueue.bits)
  dut.io.enqueue.bits.queue := free.queue
  d.queue := free.queue
  d.headCell := free.cell
  d.lenBytes := Mux(free.long, 128.U, 64.U)
  d.cells := Mux(free.long, 2.U, 1.U)
  d.arrival := free.cell
  dut.io.queueEntry.head.ready := free.ready
  if (!flushes) StreamRules.keeps("queueEntries", dut.io.queueEntry.head) // a pause takes an offer back

  private val gone = dut.io.departed
  private val asked = ShiftRegister(flushesAll, 1 + judging, false.B, true.B) ||
    ShiftRegister(flushesOne, 1 + judging, false.B, true.B) && gone.bits.queue === ShiftRegister(
      free.queue,
      1 + judging
    )
  assert(!gone.valid || gone.bits.flushed === asked, "a packet is discarded that is not flushed, or the reverse")
  private val dropped = gone.bits.dropped.getOrElse(false.B)
  private val isDiscarded = gone.bits.flushed || dropped
  // Each of them comes out of `discarded` once, in order.
  private val discarded = Module(new Queue(UInt(p.cellBits.W), n))
  discarded.io.enq.valid := gone.valid && isDiscarded
  discarded.io.enq.bits := gone.bits.arrival(p.cellBits - 1, 0)
  discarded.io.deq.ready := dut.io.discarded.fire
  assert(
    dut.io.discarded.valid === discarded.io.deq.valid &&
      (!dut.io.discarded.valid || dut.io.discarded.bits.head === discarded.io.deq.bits),
    "the cells of a discarded packet do not come back, or come twice"
  )
  private val skipped = ShiftRegister(free.skip, 2 + judging, false.B, true.B)
  assert(!skipped || !gone.valid, "a packet leaves in a clock in which none should be taken")
  private val goneQueue = gone.bits.queue
  private val goneCell = gone.bits.arrival(p.cellBits - 1, 0)
  held := (held & ~Mux(gone.valid, UIntToOH(goneCell, n), 0.U)) | Mux(comes, UIntToOH(free.cell, n), 0.U)

  // ---- plain queues
  private val plain = RegInit(VecInit.fill(p.queues)(0.U.asTypeOf(new Plain)))
  private val now = WireDefault(plain)
  private val leaves = plain(goneQueue)
  when(gone.valid) {
    for (i <- 0 until n) now(goneQueue).packets(i) := leaves.packets((i + 1).min(n - 1))
    now(goneQueue).length := leaves.length - 1.U
  }
  private val after = WireDefault(now)
  when(comes) {
    val packet = after(free.queue).packets(now(free.queue).length(p.cellBits - 1, 0))
    packet.cell := free.cell
    packet.long := free.long
    after(free.queue).length := now(free.queue).length + 1.U
  }
  plain := after
  when(gone.valid) {
    assert(goneQueue < p.queues.U && !leaves.empty, "a packet leaves an empty queue: it is doubled, or was never there")
    assert(leaves.packets(0).cell === goneCell, "the packet that leaves is not its queue's oldest")
    assert(gone.bits.lenBytes === Mux(leaves.packets(0).long, 128.U, 64.U), "a packet leaves with another length")
  }

  // ---- work: clocks in which a packet waits and there is room, and none leaves
  private val room = BoringUtils.bore(dut.schedulers.head.io.room)
  private val take = BoringUtils.bore(dut.schedulers.head.io.take)
  private val idle = RegInit(0.U(5.W))
  private val waits = RegNext(plain.map(!_.empty).reduce(_ || _), false.B) && plain.map(!_.empty).reduce(_ || _)
  private val roomToDiscard = BoringUtils.bore(dut.schedulers.head.io.roomToDiscard)
  private val mayGo = Mux(flushesAll, roomToDiscard, room && !paused && !flushesOne)
  when(take || gone.valid || !mayGo || !waits) { idle := 0.U }.elsewhen(idle =/= 31.U) { idle := idle + 1.U }
  assert(idle <= bounds.rest.U, "nothing leaves though a packet waits: a queue is lost, or work is not conserved")

  // ---- strict priority: who has waited for some clocks goes before every lower level
  private val levels = VecInit.tabulate(p.queues)(q => Mux(strict(q), 7.U - priority(q), Level.New.U(Level.Bits.W)))
  private val since = RegInit(VecInit.fill(p.queues)(0.U(4.W)))
  for (q <- 0 until p.queues) {
    val leavesNow = gone.valid && goneQueue === q.U
    since(q) := Mux(plain(q).empty || leavesNow, 0.U, Mux(since(q) === 15.U, since(q), since(q) + 1.U))
    val lower = gone.valid && levels(goneQueue) > levels(q)
    assert(!lower || since(q) < bounds.joining.U, "a packet goes before one of a higher level")
  }

  // ---- deficit: less than quantum and longest packet together
  private val chosen = BoringUtils.bore(dut.schedulers.head.lists.io.chosen)
  private val level = BoringUtils.bore(dut.schedulers.head.lists.io.level)
  private val inDrr = level >= Level.New.U // or in the list of new flows, where the deficit is the same
  private val bound = Mux(quantum(chosen.bits.head.queue), 128.U, 64.U) +& 128.U
  assert(
    !(chosen.valid && inDrr) || chosen.bits.deficit < bound,
    "a deficit is not less than quantum and longest packet"
  )
  assert(
    !(take && inDrr) || chosen.bits.deficit >= chosen.bits.head.packet.lenBytes,
    "a packet of the round is sent that its deficit does not cover"
  )

  // ---- with verdicts: what each queue may send in its DRR turn. The bytes of a dropped packet come back while the turn lasts.
  if (p.codel) {
    assert(!gone.valid || !(gone.bits.flushed && dropped), "a packet is flushed and dropped")
    // All others go to the reader once, in order.
    val sent = Module(new Queue(UInt(p.cellBits.W), 2 * n))
    sent.io.enq.valid := gone.valid && !isDiscarded
    sent.io.enq.bits := gone.bits.arrival(p.cellBits - 1, 0)
    sent.io.deq.ready := dut.io.queueEntry.head.fire
    assert(!sent.io.enq.valid || sent.io.enq.ready, "more packets wait for the reader than it has places")
    assert(
      dut.io.queueEntry.head.valid === (sent.io.deq.valid && !paused) &&
        (!dut.io.queueEntry.head.valid || dut.io.queueEntry.head.bits.headCell === sent.io.deq.bits),
      "a packet that is not discarded does not go to the reader, or twice"
    )
    val scheduler = dut.schedulers.head
    val first = chosen.bits.head.queue
    val pops = BoringUtils.bore(scheduler.lists.io.pop) && inDrr
    // A queue without a packet only has a place in the DRR list: it begins and ends no turn.
    def isPlace(place: Option[KeptPlace]): Bool = place.map(BoringUtils.bore(_).isEmpty).getOrElse(false.B)
    val ends = pops && !take && !isPlace(scheduler.lists.io.place)
    val stored = BoringUtils.bore(scheduler.lists.io.store)
    val storesPacket = stored.valid && !isPlace(scheduler.lists.io.storePlace)
    val drop = BoringUtils.bore(scheduler.io.dropped.get)
    val length = chosen.bits.head.packet.lenBytes
    for (q <- 0 until p.queues) {
      val isFirst = first === q.U
      val mayStill = RegInit(0.U(9.W))
      val inTurn, ended = RegInit(false.B)
      val takes = take && inDrr && isFirst
      val drops = drop.valid && drop.bits.queue === q.U && inTurn
      val joins = storesPacket && stored.bits.head.queue === q.U
      val before = Mux(joins, Mux(ended, mayStill, 0.U) + Mux(quantum(q), 128.U, 64.U), mayStill)
      mayStill := before - Mux(takes, length, 0.U) + Mux(drops, drop.bits.lenBytes, 0.U)
      inTurn := !(pops && isFirst) && (takes || inTurn)
      ended := (ends && isFirst) || (ended && !joins)
      assert(!takes || mayStill >= length, "a packet of the round is sent beyond what its queue may send")
      assert(!(ends && isFirst) || mayStill < length, "a DRR turn ends although the queue may send its packet")
      val open = VecInit(Seq.iterate(takes, DepartureVerdicts.Latency + 2)(RegNext(_, false.B)).tail).asUInt.orR
      // A flow that became empty may be back before its last verdict: its turn is another one then.
      val isOpen = open && (if (p.fq) inTurn else true.B)
      assert(!(ends && isFirst && isOpen), "a DRR turn ends before its verdicts are known")
    }
  }

  // ---- with flows: a queue is in one list at most, with or without a packet; a queue in the DRR list is passed once by each new flow
  if (p.fq) {
    val lists = dut.schedulers.head.lists
    val popsAny = BoringUtils.bore(lists.io.pop)
    val pops = popsAny && level === Level.drr(p).U
    val stored = BoringUtils.bore(lists.io.store)
    val pushes = stored.valid && BoringUtils.bore(lists.io.push)
    val isNew = BoringUtils.bore(lists.io.pushNew.get)
    val toDrr = pushes && !isNew && !BoringUtils.bore(lists.io.pushService).strict
    for (q <- 0 until p.queues) {
      val listed = RegInit(false.B)
      val enters = pushes && stored.bits.head.queue === q.U
      listed := enters || (listed && !(popsAny && chosen.bits.head.queue === q.U))
      assert(!(enters && listed), "a queue is inserted into a second list")
    }
    for (q <- 0 until p.queues; r <- 0 until p.queues if q != r) {
      val waits, passed = RegInit(false.B)
      val enters = toDrr && stored.bits.head.queue === q.U
      val leaves = pops && chosen.bits.head.queue === q.U
      val passes = pushes && isNew && stored.bits.head.queue === r.U && waits
      waits := enters || (waits && !leaves)
      passed := waits && !leaves && (passed || passes)
      assert(!(passes && passed), "a flow is new twice while a queue waits in the DRR list")
    }
  }
}

/** A verdict that is free: what has nothing queued behind it passes, as does what is flushed. */
class FreeVerdict(p: LaneParams, drops: Bool, dueAgain: Bool, marks: Bool) extends HeadVerdict(p) {
  val io = IO(new HeadVerdictPorts(p))
  override def isAny: Boolean = true
  private val comes = RegNext(io.request.valid, false.B)
  private val judged = ShiftRegister(comes && io.backlog =/= 0.U, 2, false.B, true.B)
  io.drop := judged && BoringUtils.bore(drops)
  io.dueAgain := io.drop && BoringUtils.bore(dueAgain)
  io.mark := ShiftRegister(comes, 2, false.B, true.B) && !io.drop && BoringUtils.bore(
    marks
  ) // curves mark without a backlog, too
  io.known := 0.U.asTypeOf(io.known)
  io.busy := false.B
  io.ready := true.B
}

/** What is asked of a run of so many clocks.
  *
  * @param rest    the most clocks in which nothing leaves though a packet waits and there is room
  * @param joining clocks behind its enqueue, or its queue's last departure, after which a packet goes before every lower level
  */
case class EgressBounds(rest: Int, joining: Int)

object EgressBounds {

  /** Of the first nine clocks, with no slack. */
  val First = EgressBounds(rest = 4, joining = 3)

  /** The same with verdicts: three cycles later, and the end of a DRR turn waits for all of its verdicts. */
  val Judged = EgressBounds(rest = 8, joining = 6)

  /** Of all clocks that are looked at: a queue that would join anew, and one that is refilled, waits for one that becomes backlogged. */
  val Later = EgressBounds(rest = 5, joining = 4)
}
