package vermilion.control

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.control.{RegisterMap => R}
import vermilion.lane.LaneParams

/** Counts as a host reads them, against sums kept here. */
class EventCountsSpec extends AnyFlatSpec with Simulation {
  private val inputs = 3
  private val full =
    LaneParams(inputs = inputs, stallable = Seq.fill(inputs)(true), codel = true, fq = true, reports = true)
  private val fewBits = 22

  /** All counts as of one clock. */
  private case class Counts(
      lost: Seq[(BigInt, BigInt)],
      events: Seq[BigInt],
      skipped: BigInt,
      reports: Seq[BigInt],
      collisions: BigInt
  )

  private class Bench(dut: EventCounts, wordBits: Int, seed: Int) {
    val random = new Random(seed)
    private val most = (BigInt(1) << wordBits) - 1
    private val events = dut.io.flowEvents.bits.elements.values.toSeq.reverse // in their order in the bundle
    var counts = zero
    var sinceRequest = mutable.ArrayBuffer(counts)
    private def zero =
      Counts(Seq.fill(inputs)((BigInt(0), BigInt(0))), Seq.fill(8)(BigInt(0)), 0, Seq.fill(4)(BigInt(0)), 0)

    def reset(): Unit = {
      dut.io.request.valid.poke(false.B)
      dut.io.taken.poke(false.B)
      dut.io.clear.poke(false.B)
      dut.reset.poke(true.B)
      dut.clock.step(4)
      dut.reset.poke(false.B)
      counts = zero
    }

    /** A clock with events, each with probability `often`. */
    def clock(often: Double, clear: Boolean = false, clocks: Int = 1): Unit = {
      def happens = random.nextDouble() < often
      val lost: Seq[Option[Int]] =
        Seq.fill(inputs)(Option.when(happens)(if (random.nextInt(3) == 0) 65535 else random.nextInt(65536)))
      val (skipped, together, collides) = (happens, happens, happens)
      val kinds = Seq.fill(8)(often == 1.0 || random.nextBoolean())
      for ((port, length) <- dut.io.lost.zip(lost)) {
        port.valid.poke(length.isDefined.B)
        port.bits.poke(length.getOrElse(random.nextInt(65536)).U)
      }
      dut.io.refreshSkipped.poke(skipped.B)
      dut.io.flowCollision.foreach(_.poke(collides.B))
      dut.io.flowEvents.valid.poke(together.B)
      events.zip(kinds).foreach { case (port, kind) => port.poke(kind.B) }
      val reports = Seq(1, 3, 1, 1).map(most => if (happens) random.nextInt(most) + 1 else 0)
      for (ports <- dut.io.reports) {
        ports.offered.poke((reports(0) != 0).B)
        ports.lost.poke(reports(1).U)
        ports.limited.poke((reports(2) != 0).B)
        ports.headless.poke((reports(3) != 0).B)
      }
      dut.io.clear.poke(clear.B)
      dut.clock.step(clocks)
      def more(count: BigInt, on: Boolean) = if (on) (count + clocks).min(most) else count
      counts = Counts(
        counts.lost.zip(lost).map { case ((frames, bytes), length) =>
          if (clear) (BigInt(0), BigInt(0))
          else (frames + length.fold(0)(_ => clocks), bytes + length.fold(BigInt(0))(BigInt(clocks) * _))
        },
        counts.events.zip(kinds).map { case (count, kind) => more(count, together && kind) },
        more(counts.skipped, skipped),
        counts.reports.zip(reports).map { case (count, adds) => (count + BigInt(clocks) * adds).min(most) },
        if (clear) 0 else counts.collisions + (if (collides) clocks else 0)
      )
      sinceRequest += counts
    }

    /** Reads a word while events go on, and gives the clocks that it took until it could be read. */
    def read(address: Int, often: Double, keep: Boolean = false): (BigInt, Int) = {
      if (!keep) sinceRequest = mutable.ArrayBuffer(counts)
      dut.io.request.valid.poke(true.B)
      dut.io.request.bits.poke(address.U)
      var waited = 0
      while (!dut.io.ready.peek().litToBoolean) {
        clock(often)
        waited += 1
        assert(waited < 200, s"no read of $address")
      }
      dut.io.taken.poke(true.B)
      clock(often)
      dut.io.taken.poke(false.B)
      dut.io.request.bits.poke(random.choose(Seq(R.LostFramesLow(0), R.RefreshesSkipped(), R.Commit())).U)
      dut.io.request.valid.poke(random.nextBoolean().B)
      dut.io.readAddress.poke(address.U)
      clock(often)
      dut.io.request.valid.poke(false.B)
      (dut.io.word.peek().litValue, waited)
    }
    def lostOf(i: Int, often: Double): (BigInt, BigInt) = {
      val low = read(R.LostFramesLow(i), often)._1
      val asked = sinceRequest.clone()
      val words = Seq(R.LostFramesHigh, R.LostBytesLow, R.LostBytesHigh).map { r =>
        val (word, waited) = read(r(i), often)
        assert(waited == 0, "a word that belongs to another one waits")
        word
      }
      val seen = (low + (words.head << wordBits), words(1) + (words(2) << wordBits))
      assert(asked.map(_.lost(i)).contains(seen), s"input $i: $seen, and counted were ${asked.map(_.lost(i))}")
      seen
    }
    def checkCollisions(often: Double): Unit = {
      val low = read(R.FlowCollisionsLow(), often)._1
      val asked = sinceRequest.clone()
      val (high, waited) = read(R.FlowCollisionsHigh(), often)
      assert(waited == 0, "the high word waits")
      val seen = low + (high << wordBits)
      assert(asked.map(_.collisions).contains(seen), s"collisions: $seen, and counted were ${asked.map(_.collisions)}")
    }
    def checkEvent(i: Int, often: Double): Unit = {
      val seen = read(R.FlowEvents(i), often)._1
      assert(sinceRequest.map(_.events(i)).contains(seen), s"event $i: $seen, not of ${sinceRequest.map(_.events(i))}")
    }
    def checkSkipped(often: Double): Unit = {
      val seen = read(R.RefreshesSkipped(), often)._1
      assert(sinceRequest.map(_.skipped).contains(seen), s"skipped: $seen, not of ${sinceRequest.map(_.skipped)}")
    }
    def checkReports(i: Int, often: Double): Unit = {
      val seen = read(R.ReportEvents(i), often)._1
      assert(
        sinceRequest.map(_.reports(i)).contains(seen),
        s"reports $i: $seen, not of ${sinceRequest.map(_.reports(i))}"
      )
    }
    def checkAll(often: Double): Unit = {
      (0 until 4).foreach(checkReports(_, often))
      (0 until inputs).foreach(lostOf(_, often))
      (0 until 8).foreach(checkEvent(_, often))
      checkSkipped(often)
      checkCollisions(often)
    }
  }
  private implicit class Choose(random: Random) { def choose[T](of: Seq[T]): T = of(random.nextInt(of.size)) }

  behavior of "EventCounts"

  it should "show every event once, and what belongs together as of one clock" in
    simulate(new EventCounts(full)) { dut =>
      val seed = 21
      info(s"seed $seed")
      val bench = new Bench(dut, 32, seed)
      import bench._
      for (round <- 0 until 3) {
        reset()
        for (high <- Seq(R.LostFramesHigh(1), R.LostBytesLow(2))) assert(read(high, 0)._1 == 0, "after a reset")
        checkAll(0.0)
        for (_ <- 0 until 150) {
          val often = random.choose(Seq(0.0, 0.1, 0.5, 1.0))
          for (_ <- 0 until random.nextInt(60)) clock(often)
          random.nextInt(9) match {
            case 0         => clock(often, clear = true)
            case 1 | 2 | 3 => lostOf(random.nextInt(inputs), often)
            case 4 | 5     => checkEvent(random.nextInt(8), often)
            case 6         => if (random.nextBoolean()) checkSkipped(often) else checkReports(random.nextInt(4), often)
            case 7         => checkCollisions(often)
            case _ =>
              val hole = random.choose(
                Seq(R.Commit(), R.LostFramesLow(inputs), R.Upsets(0), R.TtlOption(), 0x1800) ++ Seq(
                  0x1000 + R.ReportEvents(0),
                  0x2000 + R.ReportEvents(1),
                  0x1000 + R.FlowCollisionsLow(),
                  R.FlowCollisionsHigh() + 4,
                  0x2000 + R.FlowEvents(0)
                )
              )
              assert(read(hole, often) == ((0, 0)), s"at $hole")
          }
        }
        checkAll(0.0)
        assert((counts.events ++ counts.reports).forall(_ > 100) && counts.skipped > 100)
      }
    }

  it should "carry into the high words, and end a count of one word at its greatest value" in
    simulate(new EventCounts(full, fewBits)) { dut =>
      val bench = new Bench(dut, fewBits, 22)
      import bench._
      reset()
      clock(1.0, clocks = (1 << fewBits) - 5)
      for (_ <- 0 until 4) checkAll(1.0)
      checkAll(0.0)
      assert(counts.lost.forall { case (frames, bytes) => frames > (1 << fewBits) && bytes >> fewBits > 1000 })
      assert((counts.events ++ counts.reports).forall(_ == (1 << fewBits) - 1) && counts.collisions > (1 << fewBits))
      assert(counts.skipped == (1 << fewBits) - 1)
    }
}
