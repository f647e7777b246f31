package vermilion.stats

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** Random events, up to one of each kind in every clock, most of them to one queue, against maps of integers. Where they are counted in turn, decisions are
  * `slotClocks` apart and CE marks five, as the shortest IP packet has five beats, and departures come in long bursts.
  */
class StatisticsSpec extends AnyFlatSpec with ChiselSim {
  private val Names =
    "arrived enqueued early forced tail nobuf bad ce_chosen ce_written sent policed evicted".split(" ").toSeq

  private class Bench(dut: StatisticsPorts, p: LaneParams) {
    val random = new Random(11)
    var now = BigInt(1) << 40
    var packets, bytes, marked = mutable.Map.empty[(Int, Int, Int), BigInt].withDefaultValue(BigInt(0))
    var lost, victims, latency = mutable.Map.empty[(Int, Int), BigInt].withDefaultValue(BigInt(0))
    var maxBytes, maxPackets, contests, blind = mutable.Map.empty[Int, BigInt].withDefaultValue(BigInt(0))
    val queued = Seq.fill(p.queues)(mutable.Queue.empty[(Int, Int)]) // colour, length

    // Only where events are counted in turn:
    var sinceDecision, sinceWrite = 100
    var bursts = false
    private var crowded = Seq(false, false) // in the last clocks; until then a departure is under way
    private var writesWhileCrowded = 0

    private def add(queue: Int, colour: Int, kind: Int, len: Int): Unit = {
      packets((queue, colour, kind)) += 1
      bytes((queue, colour, kind)) += len
    }

    /** Counts what one clock shows; `load` is the chance of each event. A departure comes before an enqueue of its clock. */
    def clock(load: Double, hot: Double): Unit = {
      def chance(x: Double) = random.nextDouble() < x
      def anyQueue = if (chance(hot)) 2 else random.nextInt(p.queues)
      if (p.inTurn) {
        if (chance(if (bursts) 0.02 else 0.005)) bursts = !bursts
        crowded = crowded.tail :+ dut.io.crowded.peek().litToBoolean
        if (!crowded.last) writesWhileCrowded = 0
        sinceDecision += 1
        sinceWrite += 1
      }
      val mayDepart = !p.inTurn || bursts && !crowded.head
      val gone = Some(anyQueue).filter(q => queued(q).nonEmpty && chance(load * 0.8) && mayDepart)
      dut.io.now.poke(now.U)
      dut.io.departed.valid.poke(gone.isDefined.B)
      val leaving = gone.map(q => q -> queued(q).dequeue())
      for ((q, (colour, len)) <- leaving) {
        val age = if (chance(0.1)) BigInt(random.nextInt(2)) else BigInt(random.nextInt(40), random)
        dut.io.departed.bits.queue.poke(q.U)
        dut.io.departed.bits.colour.poke(colour.U)
        dut.io.departed.bits.lenBytes.poke(len.U)
        dut.io.departed.bits.arrival.poke((now - age).U)
        add(q, colour, 9, len)
        latency((q, if (age == 0) 0 else (age.bitLength - 1).min(31))) += 1
      }
      val decides = chance(load) && (!p.inTurn || sinceDecision >= p.slotClocks)
      dut.io.decision.valid.poke(decides.B)
      if (decides) {
        sinceDecision = 0
        val (q, colour, len, verdict) = (anyQueue, random.nextInt(3), 14 + random.nextInt(9000), random.nextInt(7))
        val refresh = chance(0.1)
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
        // In a contest somebody of the middle pays: he is marked or goes.
        val pays = p.victims != 0 && !refresh && verdict == 0 && queued(q).size > 1 && chance(0.4)
        val stays = chance(0.3)
        val contest = (pays || chance(0.3)) && !refresh
        val void = !pays && chance(0.5)
        d.contest.poke(contest.B)
        d.outcome.blind.poke(void.B)
        if (contest) contests(q) += 1
        if (contest && void) blind(q) += 1
        d.outcome.evicted.poke((pays && !stays).B)
        d.outcome.victimMarked.poke((pays && stays).B)
        if (pays) {
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
          add(q, colour, if (verdict <= 1) 1 else verdict, len)
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
      val writes = chance(load) && (!p.inTurn || sinceWrite >= 5 && writesWhileCrowded < 8)
      dut.io.ceWritten.valid.poke(writes.B)
      if (writes) {
        sinceWrite = 0
        writesWhileCrowded += 1
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

    // In turn: what waits is counted first, up to three events in a clock.
    private val snapshotClocks =
      if (p.inTurn) EventQueue.PauseClocks + 6 * EventQueue.Depth else if (p.victims == 0) 260 else 676

    /** A snapshot in full traffic holds exactly what was shown up to two clocks before its request. */
    def check(queue: Int, load: Double): Unit = {
      val (packetsThen, bytesThen, latencyThen) = (packets.toMap, bytes.toMap, latency.toMap)
      val markedThen = marked.toMap
      val (lostThen, victimsThen) = (lost.toMap, victims.toMap)
      val (contestsThen, blindThen) = (contests(queue), blind(queue))
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
        assert(clocks <= snapshotClocks, "the snapshot does not end")
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
      assert(long(360) == searched(contestsThen) && long(362) == searched(blindThen), s"contests of queue $queue")
      assert(word(320) == queuedThen.map(_._2).sum && word(321) == queuedThen.size, s"backlog of queue $queue")
      assert(word(322) == maxThen && word(323) == maxPacketsThen, s"high-water marks of queue $queue")
      for (c <- 0 until 3) assert(long(324 + 2 * c) == (BigInt(5 + c) << 40) + queue, s"average $c of queue $queue")
      assert(long(330) == nowThen && word(332) == queue)
      for (unused <- Seq(48, 63, 333, 364, 383, 192, 640, 1023)) assert(word(unused) == 0, s"word $unused")
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
      contests.clear()
      blind.clear()
      maxBytes.clear()
      maxPackets.clear()
    }
  }

  behavior of "Statistics"

  for (
    (what, p) <- Seq(
      "" -> LaneParams(queues = 5),
      ", with the victim search" -> LaneParams(queues = 5, victims = 4),
      ", in turn" -> LaneParams(queues = 5, slotClocks = 8)
    )
  )
    it should s"count every event of every clock, and snapshot and clear in one clock$what" in counts(p)

  private def reset(dut: StatisticsPorts): Unit = {
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
  }

  /** Words of the window, by a snapshot of queue 1. */
  private def snapshot(dut: StatisticsPorts, words: Seq[Int])(clock: => Unit): Seq[Int] = {
    dut.io.window.snapshot.bits.poke(1.U)
    dut.io.window.snapshot.valid.poke(true.B)
    clock
    dut.io.window.snapshot.valid.poke(false.B)
    while (dut.io.window.snapshotting.peek().litToBoolean) clock
    for (word <- words) yield {
      dut.io.window.index.poke(word.U)
      clock
      clock
      dut.io.window.word.peek().litValue.toInt
    }
  }
  private val GaugeWords = 320 until 324

  for (slotClocks <- Seq(1, 8))
    it should s"show the backlog of a buffer that is full to the last cell, slots $slotClocks clocks apart" in {
      val p = LaneParams(queues = 2, cells = 256, slotClocks = slotClocks)
      simulate(Statistics(p)) { dut =>
        reset(dut)
        def gauges(): Seq[Int] = {
          dut.clock.step(2)
          snapshot(dut, GaugeWords)(dut.clock.step())
        }
        val lenBytes = 64
        dut.io.decision.bits.queue.poke(1.U)
        dut.io.decision.bits.lenBytes.poke(lenBytes.U)
        for (_ <- 0 until p.cells) {
          dut.io.decision.valid.poke(true.B)
          dut.clock.step()
          dut.io.decision.valid.poke(false.B)
          if (slotClocks > 1) dut.clock.step(slotClocks - 1)
        }
        assert(gauges() == Seq(lenBytes * p.cells, p.cells, lenBytes * p.cells, p.cells))
        dut.io.departed.bits.queue.poke(1.U)
        dut.io.departed.bits.lenBytes.poke(lenBytes.U)
        dut.io.departed.valid.poke(true.B)
        dut.clock.step(p.cells)
        dut.io.departed.valid.poke(false.B)
        assert(gauges() == Seq(0, 0, lenBytes * p.cells, p.cells))
      }
    }

  for (slotClocks <- Seq(1, 8))
    it should s"show nothing of before a reset to a snapshot that comes before it is ready, slots $slotClocks clocks apart" in {
      val p = LaneParams(queues = 2, slotClocks = slotClocks)
      simulate(Statistics(p)) { dut =>
        reset(dut)
        dut.io.decision.bits.queue.poke(1.U)
        dut.io.decision.bits.lenBytes.poke(60.U)
        for (_ <- 0 until 5) {
          dut.io.decision.valid.poke(true.B)
          dut.clock.step()
          dut.io.decision.valid.poke(false.B)
          dut.clock.step(slotClocks + 3)
        }
        val words = 0 +: GaugeWords // packets that arrived, green
        assert(snapshot(dut, words)(dut.clock.step()) == Seq(5, 300, 5, 300, 5), "nothing to forget: nothing is tested")
        dut.reset.poke(true.B)
        dut.clock.step(2)
        dut.reset.poke(false.B)
        assert(!dut.io.ready.peek().litToBoolean)
        assert(snapshot(dut, words)(dut.clock.step()) == Seq(0, 0, 0, 0, 0))
        while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
        assert(snapshot(dut, words)(dut.clock.step()) == Seq(0, 0, 0, 0, 0))
      }
    }

  it should "keep up with frames of eight beats, and hold shorter ones back rather than lose one, in turn" in {
    val p = LaneParams(queues = 2, slotClocks = 8)
    val SentWord = 36 // packets, green
    simulate(Statistics(p)) { dut =>
      reset(dut)
      for (bits <- Seq(dut.io.departed.bits, dut.io.ceWritten.bits)) {
        bits.queue.poke(1.U)
        bits.lenBytes.poke(60.U)
      }
      dut.io.decision.bits.queue.poke(1.U)
      dut.io.decision.bits.lenBytes.poke(60.U)

      // A decision, a departure and a CE mark in every eight clocks, each in a clock of its own; one snapshot behind the other.
      var clocks = 0
      def frames(): Unit = {
        dut.io.decision.valid.poke((clocks % 8 == 0).B)
        dut.io.departed.valid.poke((clocks % 8 == 3).B)
        dut.io.ceWritten.valid.poke((clocks % 8 == 6).B)
        dut.clock.step()
        clocks += 1
        assert(!dut.io.crowded.peek().litToBoolean, "frames of eight beats crowd the statistics")
      }
      for (_ <- 0 until 6) {
        val before = clocks
        val sent = snapshot(dut, Seq(SentWord))(frames()).head
        assert(clocks - before <= 4 * EventQueue.PauseClocks, "a snapshot takes too long")
        assert(sent == (before + 3) / 8, "a snapshot is not of what was shown two clocks before its request")
      }
      while (clocks % 8 != 0) frames()

      // Runts that all depart in one go, faster than they are counted; a snapshot in their midst.
      dut.io.departed.valid.poke(false.B)
      dut.io.ceWritten.valid.poke(false.B)
      var queued = 0
      while (queued < 1500) {
        dut.io.decision.valid.poke(true.B)
        dut.clock.step()
        dut.io.decision.valid.poke(false.B)
        dut.clock.step(7)
        queued += 1
      }
      var (left, held) = (queued, 0)
      var crowded = Seq(false, false, false)
      def runts(): Unit = {
        crowded = crowded.tail :+ dut.io.crowded.peek().litToBoolean
        val departs = left > 0 && !crowded.head
        if (crowded.head) held += 1
        if (departs) left -= 1
        dut.io.departed.valid.poke(departs.B)
        dut.clock.step()
      }
      for (_ <- 0 until 800) runts()
      val frameCount = clocks / 8
      val middle = snapshot(dut, SentWord +: GaugeWords)(runts())
      assert(middle(0) + middle(2) == frameCount + queued && middle(2) > 0, s"sent and queued: $middle")
      while (left > 0) runts()
      runts()
      assert(held > 200, "the runts were not held back: nothing is tested")
      val end = snapshot(dut, SentWord +: GaugeWords)(runts())
      assert(end == Seq(frameCount + queued, 0, 0, 60 * queued, queued), "a departure was lost")
    }
  }

  private def counts(p: LaneParams): Unit = simulate(Statistics(p)) { dut =>
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    val bench = new Bench(dut, p)
    import bench._
    var clocks = 0
    while (!dut.io.ready.peek().litToBoolean) {
      clock(0, 0)
      clocks += 1
      assert(clocks <= (if (p.victims == 0 && !p.inTurn) 32 else 64) * p.queues + 2)
    }
    for (q <- 0 until p.queues) check(q, 1.0) // also: nothing is left of what the RAMs held before reset
    for (_ <- 0 until 1500) clock(1.0, 0.9)
    for (q <- Seq(2, 0, 2, 4)) check(q, 1.0)
    for (_ <- 0 until 500) clock(0.3, 0.5)
    check(2, 0.3)
    // A clear at full load: tidying up must wait, counts are right at once.
    clear()
    assert(dut.io.window.clearing.peek().litToBoolean)
    for (_ <- 0 until 200) clock(1.0, 0.9)
    for (q <- Seq(2, 1)) check(q, 1.0)
    // Let it end, clear again: the other epoch, records of before the first clear must not come back.
    clocks = 0
    while (dut.io.window.clearing.peek().litToBoolean) {
      clock(0.1, 0.5)
      clocks += 1
      assert(clocks < 3000, "tidying up does not end")
    }
    clear()
    for (q <- 0 until p.queues) check(q, 0.5)
  }
}
