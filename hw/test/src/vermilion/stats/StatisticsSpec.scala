package vermilion.stats

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import vermilion.{Nightly, Simulation}
import vermilion.lane.LaneParams

/** Random events ([[StatisticsBench]]), full buffers and resets. */
class StatisticsSpec extends AnyFlatSpec with Simulation {
  behavior of "Statistics"

  private val atNight = Seq(
    ", with the victim search" -> LaneParams(queues = 5, victims = 4),
    ", with CoDel" -> LaneParams(queues = 5, codel = true)
  )

  for (
    (what, p) <- Seq(
      "" -> LaneParams(queues = 5),
      ", with the victim search and CoDel" -> LaneParams(queues = 5, victims = 4, codel = true)
    ) ++ (if (Nightly.is) atNight else Nil)
  )
    it should s"count every event of every clock, and snapshot and clear in one clock$what" in counts(p)

  private def reset(dut: Statistics): Unit = {
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
  }

  /** Words of the window, by a snapshot of queue 1. */
  private def snapshot(dut: Statistics, words: Seq[Int])(clock: => Unit): Seq[Int] = {
    dut.io.window.snapshot.bits.poke(1.U)
    dut.io.window.snapshot.valid.poke(true.B)
    clock
    dut.io.window.snapshot.valid.poke(false.B)
    var clocks = 0
    while (dut.io.window.snapshotting.peek().litToBoolean) {
      clock
      clocks += 1
      assert(clocks < 100000, "the snapshot does not end")
    }
    for (word <- words) yield {
      dut.io.window.index.poke(word.U)
      clock
      clock
      dut.io.window.word.peek().litValue.toInt
    }
  }
  private val GaugeWords = 320 until 324

  it should "show the backlog of a buffer that is full to the last cell" in {
    val p = LaneParams(queues = 2, cells = 256)
    simulate(new Statistics(p)) { dut =>
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

  it should "show nothing of before a reset to a snapshot that comes before it is ready" in {
    val p = LaneParams(queues = 2)
    simulate(new Statistics(p)) { dut =>
      reset(dut)
      dut.io.decision.bits.queue.poke(1.U)
      dut.io.decision.bits.lenBytes.poke(60.U)
      for (_ <- 0 until 5) {
        dut.io.decision.valid.poke(true.B)
        dut.clock.step()
        dut.io.decision.valid.poke(false.B)
        dut.clock.step(4)
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

  it should "end a snapshot where a decision comes in every clock, and wait without one for nothing" in {
    simulate(new Statistics(LaneParams(queues = 2))) { dut =>
      reset(dut)
      dut.io.decision.bits.queue.poke(1.U)
      dut.io.decision.bits.lenBytes.poke(60.U)
      def stands(decides: Boolean): (Int, Int, Seq[Int]) = {
        dut.io.decision.valid.poke(decides.B)
        dut.clock.step(100)
        var clocks, skips = 0
        val words = snapshot(dut, Seq(0, 2)) {
          val skip = dut.io.skip.peek().litToBoolean
          dut.io.decision.valid.poke((decides && !skip).B)
          dut.clock.step()
          clocks += 1
          if (skip) skips += 1
        }
        dut.io.decision.valid.poke(false.B)
        (clocks, skips, words)
      }
      assert(stands(decides = false) == (260 + 4, 0, Seq(0, 0)))
      val (clocks, skips, words) = stands(decides = true)
      assert(words == Seq(100 - 1, 60 * (100 - 1)), "a snapshot is of another clock")
      assert(skips > 100 && clocks > 64 * skips && clocks < 64 * skips + 2 * 260 + 70, s"$clocks clocks, $skips skips")
    }
  }

  private def counts(p: LaneParams): Unit = simulate(new Statistics(p)) { dut =>
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    val bench = new StatisticsBench(dut, p)
    import bench.{check, clear, clock}
    var clocks = 0
    while (!dut.io.ready.peek().litToBoolean) {
      clock(0, 0)
      clocks += 1
      assert(clocks <= (if (p.victims == 0) 32 else 64) * p.queues + 2)
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
