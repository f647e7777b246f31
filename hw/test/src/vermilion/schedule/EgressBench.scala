package vermilion.schedule

import chisel3._
import chisel3.simulator.PeekPokeAPI._
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** What a test asks of one queue. */
case class Service(
    strict: Boolean = false,
    priority: Int = 0,
    quantum: Int = 2000,
    costMant: Int = 0,
    costShift: Int = 0,
    burstNs: Long = 0
)

/** A departure. */
case class Left(queue: Int, lenBytes: Int, now: Long, clock: Long)

/** Feeds an `EgressQueues` and checks that what leaves a queue is what came, in order, and that descriptors follow departures.
  * `now` may be of any size; the ports see its low 48 bits.
  */
class EgressBench(dut: EgressQueues, p: LaneParams, seed: Int, swept: Boolean = false) {
  val random = new Random(seed)
  val free = mutable.Queue.from(0 until p.cells)
  val queued = Array.fill(p.queues)(mutable.Queue.empty[(Int, Int)]) // cell, length
  val leaving = Array.fill(p.egresses)(mutable.Queue.empty[Int]) // cells in the order of departure
  val left = mutable.ArrayBuffer.empty[Left]
  var now, clocks = 0L
  var sent, received = 0
  private val pausedNow = Array.fill(p.egresses)(false)
  dut.io.descriptor.foreach(_.ready.poke(true.B))
  dut.io.paused.foreach(_.poke(false.B))

  def configure(queue: Int, s: Service): Unit = {
    val c = dut.io.configure
    c.valid.poke(true.B)
    c.bits.queue.poke(queue.U)
    c.bits.strict.poke(s.strict.B)
    c.bits.priority.poke(s.priority.U)
    c.bits.quantum.poke(s.quantum.U)
    shaper(c.bits.shaper, s)
    clock()
    c.valid.poke(false.B)
  }

  def configurePort(s: Service, egress: Int = 0): Unit = {
    val c = dut.io.configurePort(egress)
    c.valid.poke(true.B)
    shaper(c.bits, s)
    clock()
    c.valid.poke(false.B)
  }

  def egressOf(queue: Int): Int = queue / (p.queues / p.egresses)

  def pause(egress: Int, on: Boolean): Unit = {
    dut.io.paused(egress).poke(on.B)
    pausedNow(egress) = on
  }

  private def shaper(c: ShaperConfig, s: Service): Unit = {
    c.costMant.poke(s.costMant.U)
    c.costShift.poke(s.costShift.U)
    c.burstNs.poke(s.burstNs.U)
  }

  /** A clock; `takes` says whether an egress's descriptor is taken. */
  def clock(enqueue: Option[(Int, Int)] = None, ready: Boolean = true, takes: Int => Boolean = _ => true): Unit = {
    dut.io.now.poke((now & EgressBench.TimeMask).U)
    dut.io.enqueue.valid.poke(enqueue.isDefined.B)
    enqueue.foreach { case (q, len) =>
      val cell = free.dequeue()
      sent += 1
      queued(q).enqueue(cell -> len)
      dut.io.enqueue.bits.queue.poke(q.U)
      dut.io.enqueue.bits.descriptor.headCell.poke(cell.U)
      dut.io.enqueue.bits.descriptor.lenBytes.poke(len.U)
      dut.io.enqueue.bits.descriptor.cells.poke(((len + 63) / 64).U)
    }
    val taken = dut.io.descriptor.indices.map(e => ready && takes(e))
    for ((descriptor, e) <- dut.io.descriptor.zipWithIndex) descriptor.ready.poke(taken(e).B)
    if (queued.exists(_.nonEmpty)) dut.io.holdsPackets.expect(true.B)
    for (e <- pausedNow.indices if pausedNow(e)) dut.io.descriptor(e).valid.expect(false.B, s"egress $e is paused")
    if (dut.io.departed.valid.peek().litToBoolean) {
      val q = dut.io.departed.bits.queue.peek().litValue.toInt
      val (cell, len) = queued(q).dequeue()
      dut.io.departed.bits.lenBytes.expect(len.U)
      leaving(egressOf(q)).enqueue(cell)
      left.append(Left(q, len, now, clocks))
    }
    for ((descriptor, e) <- dut.io.descriptor.zipWithIndex if taken(e) && descriptor.valid.peek().litToBoolean) {
      val cell = leaving(e).dequeue()
      descriptor.bits.headCell.expect(cell.U)
      free.enqueue(cell)
      received += 1
    }
    dut.clock.step()
    clocks += 1
  }

  // The RAMs are swept after reset.
  if (!swept) for (_ <- 0 until p.queues + 2) clock()

  def busy: Boolean = dut.io.busy.peek().litToBoolean

  /** A clock in which time stands still, or, when only time can help, a jump to where it does. */
  def clockOrJump(enqueue: Option[(Int, Int)] = None): Unit = {
    if (enqueue.isEmpty) skipSilence(1)
    clock(enqueue)
  }

  /** Jumps, when only time can help, to the first tick of `tick` ns in which it does. */
  def skipSilence(tick: Long): Unit = {
    dut.io.now.poke((now & EgressBench.TimeMask).U)
    if (!busy && dut.io.wake.valid.peek().litToBoolean) {
      val ahead = (dut.io.wake.bits.peek().litValue.toLong - now) & EgressBench.TimeMask
      assert(ahead > 0 && ahead < (1L << 47), s"wake is $ahead ns ahead, at $now")
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
