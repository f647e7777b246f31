package vermilion.stats

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import vermilion.lane.LaneParams

/** Random events ([[StatisticsBench]]); full buffers, resets, and the densest frames. */
class StatisticsSpec extends AnyFlatSpec with ChiselSim {
  behavior of "Statistics"

  for (
    (what, p) <- Seq(
      "" -> LaneParams(queues = 5),
      ", with the victim search" -> LaneParams(queues = 5, victims = 4),
      ", in turn" -> LaneParams(queues = 5, slotClocks = 8),
      ", in turn with the victim search" -> LaneParams(queues = 5, slotClocks = 8, victims = 4)
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
        assert(clocks - before <= 4 * EventQueue.pauseClocks(p), "a snapshot takes too long")
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

  it should "keep up where every frame of eight beats is contested and leaves marked, and lose none in snapshots, in turn" in {
    val p = LaneParams(queues = 2, slotClocks = 8, victims = 1)
    simulate(Statistics(p)) { dut =>
      reset(dut)
      for (bits <- Seq(dut.io.departed.bits, dut.io.ceWritten.bits)) {
        bits.queue.poke(1.U)
        bits.lenBytes.poke(60.U)
      }
      val d = dut.io.decision.bits
      d.queue.poke(1.U)
      d.lenBytes.poke(60.U)
      d.contest.poke(true.B)
      d.outcome.victimMarked.poke(true.B)
      d.outcome.victim.distance.poke(5.U)

      // All events in one clock, so that as many as can be of the words that wait need eight.
      var (decided, sent, held, clocks) = (0, 0, 0, 0)
      var shown = Seq((0, 0), (0, 0)) // with this clock's request
      var crowded = Seq(false, false, false)
      def frames(): Unit = {
        crowded = crowded.tail :+ dut.io.crowded.peek().litToBoolean
        val decides = clocks % 8 == 0
        val leaves = decides && sent < decided && !crowded.head
        if (decides && crowded.head) held += 1
        dut.io.decision.valid.poke(decides.B)
        for (port <- Seq(dut.io.departed.valid, dut.io.ceWritten.valid)) port.poke(leaves.B)
        if (decides) decided += 1
        if (leaves) sent += 1
        shown = Seq(shown.last, (decided, sent))
        clocks += 1
        dut.clock.step()
      }
      def check(): Unit = {
        val (decidedThen, sentThen) = shown.head
        val counted =
          snapshot(dut, Seq(0, 28, 32, 36, 321, 360, 522, 394))(frames()) // 28 to 36: CE chosen, CE written, sent
        assert(
          counted == Seq(
            decidedThen,
            decidedThen,
            sentThen,
            sentThen,
            decidedThen - sentThen,
            decidedThen,
            decidedThen,
            0
          )
        )
      }
      for (_ <- 0 until 3000) frames()
      check()
      for (_ <- 0 until 3000) frames()
      assert(held == 0, "a single snapshot crowds the statistics")
      for (_ <- 0 until 14) check()
      assert(held > 200, "the frames were not held back: nothing is tested")
    }
  }

  private def counts(p: LaneParams): Unit = simulate(Statistics(p)) { dut =>
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    val bench = new StatisticsBench(dut, p)
    import bench.{check, clear, clock}
    var clocks = 0
    while (!dut.io.ready.peek().litToBoolean) {
      clock(0, 0)
      clocks += 1
      assert(clocks <= (if (p.victims == 0) 32 else 64) * (if (p.inTurn) 2 else 1) * p.queues + 2)
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
