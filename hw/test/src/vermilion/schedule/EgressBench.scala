package vermilion.schedule

import chisel3._
import chisel3.simulator.PeekPokeAPI._
import chisel3.util.Cat
import scala.collection.mutable
import scala.util.Random
import vermilion.Pins
import vermilion.lane.LaneParams

/** What a test asks of one queue. */
case class Service(
    strict: Boolean = false,
    priority: Int = 0,
    quantum: Int = 2000,
    costMant: Int = 0,
    costShift: Int = 0,
    burstNs: Long = 0,
    codel: Option[Codel] = None,
    flows: Boolean = false
)

/** A packet that comes. */
case class Comes(lenBytes: Int, dsField: Int = 0)

/** A departure: sent, or discarded by a flush or by its verdict. */
case class Left(
    queue: Int,
    lenBytes: Int,
    now: Long,
    clock: Long,
    flushed: Boolean = false,
    dropped: Boolean = false,
    marked: Boolean = false
) {
  def isSent: Boolean = !flushed && !dropped
}

/** `EgressQueues` with what its bench looks at in every clock in one port: each look is a message to the simulation and one back.
  *
  * `seen`, from bit 0: holdsPackets, departed.valid, busy, wake.valid, queueEntry.valid of each egress, departed.bits.flushed and discarded.valid;
  * in builds with CoDel also departed.bits.dropped and marked.
  */
class SeenEgressQueues(p: LaneParams) extends EgressQueues(p) {
  val seen: UInt = IO(Output(UInt((8 + p.egresses).W)))
  seen := Cat(
    io.departed.bits.marked.getOrElse(false.B),
    io.departed.bits.dropped.getOrElse(false.B),
    io.discarded.valid,
    io.departed.bits.flushed,
    Cat(io.queueEntry.reverse.map(_.valid)),
    io.wake.valid,
    io.busy,
    io.departed.valid,
    io.holdsPackets
  )
}

/** Feeds an `EgressQueues` and checks that what leaves a queue is what came, in order, and that queue entries follow departures.
  * `now` may be of any size; the ports see its low 48 bits.
  */
class EgressBench(dut: SeenEgressQueues, p: LaneParams, seed: Int, swept: Boolean = false) {
  val random = new Random(seed)
  val free = mutable.Queue.from(0 until p.cells)
  val queued = Array.fill(p.queues)(mutable.Queue.empty[(Int, Int)]) // cell, length
  val leaving = Array.fill(p.egresses)(mutable.Queue.empty[Int]) // cells in the order of departure
  val discarding = mutable.Queue.empty[Int] // cells of packets that were flushed or dropped, in that order
  val left = mutable.ArrayBuffer.empty[Left]
  var now, clocks = 0L
  var sent, received, forwarded = 0 // packets that came; sent or discarded; sent
  private var waiting = 0 // packets in the queues
  val verdicts: Option[ReferenceVerdicts] = Option.when(p.codel)(new ReferenceVerdicts(p))
  private val pins = new Pins
  private val pausedNow = Array.fill(p.egresses)(false)
  dut.io.queueEntry.foreach(queueEntry => pins.set(queueEntry.ready, true))
  dut.io.paused.foreach(pins.set(_, false))
  dut.io.flush.egresses.foreach(pins.set(_, false))
  pins.set(dut.io.discarded.ready, true)
  dut.io.enqueue.bits.queueEntry.dsField.foreach(_ => pins.set(dut.io.enqueue.bits.queueEntry.isIp4, true))
  flush(None)

  def configure(queue: Int, s: Service): Unit = {
    val c = dut.io.configure
    c.valid.poke(true.B)
    c.bits.queue.poke(queue.U)
    c.bits.strict.poke(s.strict.B)
    c.bits.priority.poke(s.priority.U)
    c.bits.quantum.poke(s.quantum.U)
    c.bits.flows.foreach(_.poke(s.flows.B))
    shaper(c.bits.shaper, s)
    for (to <- c.bits.codel) {
      val codel = s.codel.getOrElse(Codel())
      to.on.poke(s.codel.isDefined.B)
      to.target.poke(codel.target.U)
      to.interval.poke(codel.interval.U)
      to.ceThreshold.poke(codel.ceThreshold.U)
      to.mtu.poke(codel.mtu.U)
      to.ecn.poke(codel.ecn.B)
    }
    verdicts.foreach(_.configure(queue, s.codel, s.costMant != 0, clocks))
    clock()
    c.valid.poke(false.B)
  }

  def configurePort(s: Service, egress: Int = 0): Unit = {
    val c = dut.io.configurePort(egress)
    verdicts.foreach(_.configurePort(egress, s.costMant != 0, clocks))
    c.valid.poke(true.B)
    shaper(c.bits, s)
    clock()
    c.valid.poke(false.B)
  }

  def egressOf(queue: Int): Int = queue / (p.queues / p.egresses)

  def pause(egress: Int, on: Boolean): Unit = {
    pins.set(dut.io.paused(egress), on)
    pausedNow(egress) = on
  }

  /** Flushes an egress, or does no longer. */
  def flush(egress: Int, on: Boolean): Unit = pins.set(dut.io.flush.egresses(egress), on)

  /** Flushes a queue alone, or none. */
  def flush(queue: Option[Int]): Unit = {
    pins.set(dut.io.flush.queue.valid, queue.isDefined)
    pins.set(dut.io.flush.queue.bits, queue.getOrElse(0))
  }

  private def shaper(c: ShaperConfig, s: Service): Unit = {
    c.costMant.poke(s.costMant.U)
    c.costShift.poke(s.costShift.U)
    c.burst.poke(s.burstNs.U)
  }

  /** A clock; `takes` says whether an egress's queue entry is taken. */
  def clock(enqueue: Option[(Int, Int)] = None, ready: Boolean = true, takes: Int => Boolean = _ => true): Unit =
    step(enqueue.map { case (queue, len) => queue -> Comes(len) }, ready, takes)

  /** The same with all that is told of a packet. */
  def step(enqueue: Option[(Int, Comes)], ready: Boolean = true, takes: Int => Boolean = _ => true): Unit = {
    pins.set(dut.io.now, now & EgressBench.TimeMask)
    pins.set(dut.io.enqueue.valid, enqueue.isDefined)
    enqueue.foreach { case (q, Comes(len, dsField)) =>
      val cell = free.dequeue()
      sent += 1
      waiting += 1
      queued(q).enqueue(cell -> len)
      pins.set(dut.io.enqueue.bits.queue, q)
      pins.set(dut.io.enqueue.bits.queueEntry.headCell, cell)
      pins.set(dut.io.enqueue.bits.queueEntry.lenBytes, len)
      pins.set(dut.io.enqueue.bits.queueEntry.cells, (len + 63) / 64)
      for ((to, verdicts) <- dut.io.enqueue.bits.queueEntry.dsField.zip(verdicts)) {
        pins.set(to, dsField)
        pins.set(dut.io.enqueue.bits.queueEntry.arrival, now & EgressBench.TimeMask)
        verdicts.comes(q, len, dsField, now, clocks)
      }
    }
    verdicts.foreach(_.at(clocks, now))
    val taken = dut.io.queueEntry.indices.map(e => ready && takes(e))
    for ((queueEntry, e) <- dut.io.queueEntry.zipWithIndex) pins.set(queueEntry.ready, taken(e))
    val seen = new Seen
    if (waiting > 0) assert(seen.holdsPackets, "a packet is here that the block does not know of")
    for (e <- pausedNow.indices if pausedNow(e)) assert(!seen.queueEntry(e), s"egress $e sends in a pause")
    if (seen.departed) {
      val q = dut.io.departed.bits.queue.peek().litValue.toInt
      val (cell, len) = queued(q).dequeue()
      waiting -= 1
      dut.io.departed.bits.lenBytes.expect(len.U)
      val packet = Left(q, len, now, clocks, seen.flushed, seen.dropped, seen.marked)
      (if (packet.isSent) leaving(egressOf(q)) else discarding).enqueue(cell)
      verdicts.foreach(_.check(packet))
      left.append(packet)
    }
    if (seen.discarded) {
      val cell = discarding.dequeue()
      dut.io.discarded.bits.head.expect(cell.U)
      free.enqueue(cell)
      received += 1
    }
    for ((queueEntry, e) <- dut.io.queueEntry.zipWithIndex if taken(e) && seen.queueEntry(e)) {
      val cell = leaving(e).dequeue()
      queueEntry.bits.headCell.expect(cell.U)
      free.enqueue(cell)
      received += 1
      forwarded += 1
    }
    dut.clock.step()
    clocks += 1
  }

  // The RAMs are swept after reset.
  if (!swept) for (_ <- 0 until p.queues + 2) clock()

  private class Seen {
    private val bits = dut.seen.peek().litValue
    def holdsPackets: Boolean = bits.testBit(0)
    def departed: Boolean = bits.testBit(1)
    def busy: Boolean = bits.testBit(2)
    def wakes: Boolean = bits.testBit(3)
    def queueEntry(egress: Int): Boolean = bits.testBit(4 + egress)
    def flushed: Boolean = bits.testBit(4 + p.egresses)
    def discarded: Boolean = bits.testBit(5 + p.egresses)
    def dropped: Boolean = bits.testBit(6 + p.egresses)
    def marked: Boolean = bits.testBit(7 + p.egresses)
  }

  def busy: Boolean = (new Seen).busy

  /** A clock in which time stands still, or, when only time can help, a jump to where it does. */
  def clockOrJump(enqueue: Option[(Int, Int)] = None): Unit = {
    if (enqueue.isEmpty) skipSilence(1)
    clock(enqueue)
  }

  /** Jumps, when only time can help, to the first tick of `tick` ns in which it does. */
  def skipSilence(tick: Long): Unit = {
    pins.set(dut.io.now, now & EgressBench.TimeMask)
    val seen = new Seen
    if (!seen.busy && seen.wakes) {
      val ahead = (dut.io.wake.bits.peek().litValue.toLong - now) & EgressBench.TimeMask
      assert(ahead > 0 && ahead < (1L << 47), s"wake is $ahead ns ahead, at $now")
      verdicts.foreach(_.jumps(clocks))
      now += (ahead + tick - 1) / tick * tick
    }
  }

  /** A clock of 4 ns: `now` moves, and silence is skipped. */
  def clockOfFour(enqueue: Option[(Int, Int)] = None, ready: Boolean = true): Unit = {
    if (enqueue.isEmpty) skipSilence(4)
    clock(enqueue, ready)
    now += 4
  }

  def drain(): Unit = {
    var patience = 0
    while (received < sent) {
      val before = received
      clockOrJump()
      patience = if (received == before) patience + 1 else 0
      assert(patience < 3000, s"nothing leaves, ${sent - received} packets stay")
    }
    for (_ <- 0 until 10) clock()
    assert(!busy && queued.forall(_.isEmpty) && free.size == p.cells)
    dut.io.holdsPackets.expect(false.B)
  }
}

object EgressBench {
  val TimeMask: Long = (1L << 48) - 1
}

/** A shaper's due times as its head writes them down, exact and without a wrap. Times in ns, `next` in 2^-16 ns. */
class ReferenceShaper(s: Service) {
  private var next: Option[BigInt] = None
  def mayAt: BigInt = next.fold(BigInt(0))(n => (n + 65535) >> 16)
  def sent(now: Long, lenBytes: Int): Unit = {
    val floor = BigInt(now - s.burstNs) << 16
    next = Some(next.fold(floor)(_.max(floor)) + ((BigInt(lenBytes) * s.costMant << 16) >> s.costShift))
  }
}
