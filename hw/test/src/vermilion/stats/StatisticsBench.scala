package vermilion.stats

import chisel3._
import chisel3.simulator.PeekPokeAPI._
import org.scalatest.Assertions
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** Random events, up to one of each kind in every clock, most of them to one queue, against maps of integers. */
private class StatisticsBench(dut: Statistics, p: LaneParams) extends Assertions {
  private val Names =
    ("arrived enqueued early forced tail nobuf bad ce_chosen ce_written sent policed evicted flushed " +
      "departure_dropped departure_marked").split(" ").toSeq

  val random = new Random(11)
  var now = BigInt(1) << 40
  var packets, bytes, marked = mutable.Map.empty[(Int, Int, Int), BigInt].withDefaultValue(BigInt(0))
  var lost, victims, latency = mutable.Map.empty[(Int, Int), BigInt].withDefaultValue(BigInt(0))
  var maxBytes, maxPackets, pushOuts, stale = mutable.Map.empty[Int, BigInt].withDefaultValue(BigInt(0))
  val queued = Seq.fill(p.queues)(mutable.Queue.empty[(Int, Int)]) // colour, length

  private def add(queue: Int, colour: Int, kind: Int, len: Int): Unit = {
    packets((queue, colour, kind)) += 1
    bytes((queue, colour, kind)) += len
  }

  private val skips = mutable.Queue.fill(Skips.max + 1)(false) // of the clocks before, the latest first
  private object Skips { // clocks from `skip` to the one without an event, different ones for each kind
    val (decision, departed, ceWritten) = (9, 2, 5)
    val max = 9
  }

  /** Counts what one clock shows; `load` is the chance of each event. A departure comes before an enqueue of its clock. */
  def clock(load: Double, hot: Double): Unit = {
    def chance(x: Double) = random.nextDouble() < x
    def anyQueue = if (chance(hot)) 2 else random.nextInt(p.queues)
    skips.removeLast()
    skips.prepend(dut.io.skip.peek().litToBoolean)
    assert(load > 0.7 || !skips.head, "the lane is held up, and there was no need")
    val gone = Some(anyQueue).filter(q => queued(q).nonEmpty && chance(load * 0.8) && !skips(Skips.departed))
    dut.io.now.poke(now.U)
    dut.io.departed.valid.poke(gone.isDefined.B)
    val leaving = gone.map(q => q -> queued(q).dequeue())
    for ((q, (colour, len)) <- leaving) {
      val age = if (chance(0.1)) BigInt(random.nextInt(2)) else BigInt(random.nextInt(40), random)
      dut.io.departed.bits.queue.poke(q.U)
      dut.io.departed.bits.colour.poke(colour.U)
      dut.io.departed.bits.lenBytes.poke(len.U)
      dut.io.departed.bits.arrival.poke((now - age).U)
      val flushed = chance(0.2)
      dut.io.departed.bits.flushed.poke(flushed.B)
      val dropped = p.codel && !flushed && chance(0.3)
      val marked = p.codel && !flushed && !dropped && chance(0.3)
      dut.io.departed.bits.dropped.foreach(_.poke(dropped.B))
      dut.io.departed.bits.marked.foreach(_.poke(marked.B))
      add(q, colour, if (flushed) 12 else if (dropped) 13 else 9, len)
      if (marked) add(q, colour, 14, len)
      if (!flushed && !dropped) latency((q, if (age == 0) 0 else (age.bitLength - 1).min(31))) += 1
    }
    val decides = chance(load) && !skips(Skips.decision)
    dut.io.decision.valid.poke(decides.B)
    if (decides) {
      val (q, colour, len, verdict) = (anyQueue, random.nextInt(3), 14 + random.nextInt(9000), random.nextInt(8))
      val refresh = chance(0.3)
      val came = random.nextInt(3)
      val d = dut.io.decision.bits
      d.refresh.poke(refresh.B)
      d.queue.poke(q.U)
      d.colour.poke(colour.U)
      d.mark.colour.poke(came.U)
      d.lenBytes.poke(len.U)
      d.verdict.poke(verdict.U)
      val distance = random.nextInt(64)
      d.distance.poke(distance.U)
      // In a push-out a packet of the middle is the victim: it is marked or evicted.
      val hasVictim = p.victims != 0 && !refresh && verdict == 0 && queued(q).size > 1 && chance(0.4)
      val stays = chance(0.3)
      val pushOut = (hasVictim || chance(0.3)) && !refresh
      val void = !hasVictim && chance(0.5)
      d.pushOut.poke(pushOut.B)
      d.outcome.stale.poke(void.B)
      if (pushOut) pushOuts(q) += 1
      if (pushOut && void) stale(q) += 1
      d.outcome.evicted.poke((hasVictim && !stays).B)
      d.outcome.victimMarked.poke((hasVictim && stays).B)
      if (hasVictim) {
        val (place, far) = (1 + random.nextInt(queued(q).size - 1), random.nextInt(64))
        val (victimColour, victimLen) = queued(q)(place)
        d.outcome.victim.colour.poke(victimColour.U)
        d.outcome.victim.lenBytes.poke(victimLen.U)
        d.outcome.victim.distance.poke(far.U)
        add(q, victimColour, if (stays) 7 else 11, victimLen)
        victims((q, far)) += 1
        if (!stays) {
          queued(q).remove(place)
          lost((q, far)) += 1
        }
      }
      if (!refresh && Seq(2, 3, 4).contains(verdict)) lost((q, distance)) += 1
      if (!refresh) {
        marked((q, came, colour)) += 1
        add(q, colour, 0, len)
        add(q, colour, if (verdict <= 1) 1 else if (verdict == 7) 10 else verdict, len)
        if (verdict == 1) add(q, colour, 7, len)
        if (verdict <= 1) {
          queued(q) += colour -> len
          // A departure of the same clock still counts as queued.
          val same = leaving.filter(_._1 == q).map(_._2._2)
          maxBytes(q) = maxBytes(q).max(queued(q).map(_._2).sum + same.getOrElse(0))
          maxPackets(q) = maxPackets(q).max(queued(q).size + same.size)
        }
      }
    }
    val writes = chance(load) && !skips(Skips.ceWritten)
    dut.io.ceWritten.valid.poke(writes.B)
    if (writes) {
      val (q, colour, len) = (anyQueue, random.nextInt(3), 14 + random.nextInt(9000))
      dut.io.ceWritten.bits.queue.poke(q.U)
      dut.io.ceWritten.bits.colour.poke(colour.U)
      dut.io.ceWritten.bits.lenBytes.poke(len.U)
      add(q, colour, 8, len)
    }
    dut.clock.step()
    now += 1
  }

  def word(index: Int): BigInt = {
    dut.io.window.index.poke(index.U)
    clock(0.7, 0.5) // reading must not mind what goes on
    clock(0.7, 0.5)
    dut.io.window.word.peek().litValue
  }
  def long(index: Int): BigInt = word(index) + (word(index + 1) << 32)

  // Where events come in every clock a word waits for a refresh or, on the way out, for a clock that `skip` asks for.
  private def snapshotCycles(load: Double) =
    ((if (p.victims == 0) 260 else 676) + (if (p.codel) 64 else 0)) * (if (load == 0) 1 else 8)

  /** A snapshot in full traffic holds exactly what was shown up to two clocks before its request. */
  def check(queue: Int, load: Double): Unit = {
    val (packetsThen, bytesThen, latencyThen) = (packets.toMap, bytes.toMap, latency.toMap)
    val markedThen = marked.toMap
    val (lostThen, victimsThen) = (lost.toMap, victims.toMap)
    val (pushOutsThen, staleThen) = (pushOuts(queue), stale(queue))
    val (maxThen, maxPacketsThen, queuedThen) = (maxBytes(queue), maxPackets(queue), queued(queue).toSeq)
    clock(load, 0.9)
    val nowThen = now
    for (c <- 0 until 3) dut.io.window.live(c).poke(((BigInt(5 + c) << 40) + queue).U)
    dut.io.window.snapshot.valid.poke(true.B)
    dut.io.window.snapshot.bits.poke(queue.U)
    clock(load, 0.9)
    dut.io.window.snapshot.valid.poke(false.B)
    for (c <- 0 until 3) dut.io.window.live(c).poke(0.U)
    var clocks = 0
    while (dut.io.window.snapshotting.peek().litToBoolean) {
      clock(load, 0.9)
      clocks += 1
      assert(clocks <= snapshotCycles(load), "the snapshot does not end")
    }
    for (c <- 0 until 3; k <- Names.indices) {
      val at = 64 * c + 4 * k
      assert(
        long(at) == packetsThen.getOrElse((queue, c, k), BigInt(0)),
        s"packets ${Names(k)}, queue $queue, colour $c"
      )
      assert(
        long(at + 2) == bytesThen.getOrElse((queue, c, k), BigInt(0)),
        s"bytes ${Names(k)}, queue $queue, colour $c"
      )
    }
    for (in <- 0 until 3; out <- 0 until 3)
      assert(
        long(336 + 2 * (4 * in + out)) == markedThen.getOrElse((queue, in, out), BigInt(0)),
        s"marked from $in to $out, queue $queue"
      )
    for (bin <- 0 until 32)
      assert(
        long(256 + 2 * bin) == latencyThen.getOrElse((queue, bin), BigInt(0)),
        s"latency bin $bin of queue $queue"
      )
    def searched(count: BigInt) = if (p.victims == 0) BigInt(0) else count
    for (d <- 0 until 64) {
      val (gone, paid) = (lostThen.getOrElse((queue, d), BigInt(0)), victimsThen.getOrElse((queue, d), BigInt(0)))
      assert(long(384 + 2 * d) == searched(gone), s"lost of distance $d of queue $queue")
      assert(long(512 + 2 * d) == searched(paid), s"victims of distance $d of queue $queue")
    }
    assert(long(360) == searched(pushOutsThen) && long(362) == searched(staleThen), s"push-outs of queue $queue")
    assert(word(320) == queuedThen.map(_._2).sum && word(321) == queuedThen.size, s"backlog of queue $queue")
    assert(word(322) == maxThen && word(323) == maxPacketsThen, s"high-water marks of queue $queue")
    for (c <- 0 until 3) assert(long(324 + 2 * c) == (BigInt(5 + c) << 40) + queue, s"average $c of queue $queue")
    assert(long(330) == nowThen && word(332) == queue)
    for (unused <- Seq(60, 63, 333, 364, 383, 192, 640, 1023)) assert(word(unused) == 0, s"word $unused")
  }

  def clear(): Unit = {
    dut.io.window.clear.poke(true.B)
    clock(0, 0)
    dut.io.window.clear.poke(false.B)
    clock(0, 0)
    packets.clear()
    marked.clear()
    bytes.clear()
    latency.clear()
    lost.clear()
    victims.clear()
    pushOuts.clear()
    stale.clear()
    maxBytes.clear()
    maxPackets.clear()
  }
}
