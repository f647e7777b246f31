package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import vermilion.{Nightly, Simulation}
import vermilion.lane.LaneParams

/** Shapers under a clock that runs, wraps and is set back. Rates as a wire would see them, 4 ns a clock. */
class ShaperTimeTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 1024)
  private val leastBurstNs = 4L * DueTime.latenessCycles(p.queues) // what the quantiser makes of a burst of 0

  /** As `quantise.cost`: the greatest mantissa below 2^18. */
  private def shaped(rate: Double, burstNs: Long): Service = {
    val shift = (0 to 63).takeWhile(s => math.round(8e9 / rate * math.pow(2, s)) < (1 << 18)).last
    Service(
      costMant = math.round(8e9 / rate * math.pow(2, shift)).toInt,
      costShift = shift,
      burstNs = burstNs.max(leastBurstNs)
    )
  }
  private def burstNs(bytes: Int, rate: Double) = math.round(8e9 * bytes / rate)

  behavior of "Shapers"

  it should "hold port and queue to the rate within 0.1 %, from 64 kb/s to 200 Gb/s, with a burst of 0 and the default" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 11
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      for (
        (rate, shortest) <- Seq(64e3 -> 64, 1e6 -> 64, 1e9 -> 64, 10e9 -> 64, 100e9 -> 600, 200e9 -> 1200);
        burst <- Seq(0, 3044); port <- Seq(false, true); fixed <- Seq(true, false)
        // Of three choices, every pair in every run, and every triple at night.
        if Nightly.is || fixed == (port == (burst == 0))
      ) {
        val s = shaped(rate, burstNs(burst, rate))
        bench.left.clear()
        bench.configure(5, if (port) Service() else s)
        bench.configurePort(if (port) s else Service())
        def length() = if (fixed) shortest else shortest + bench.random.nextInt(9001 - shortest)
        for (_ <- 0 until 4) bench.clockOfFour(Some(5 -> length()))
        // The burst goes first, at the scheduler's pace. What then differs from the rate is the lateness of the first and the last packet.
        val skip = 20 + (5 * s.burstNs / (shortest * 8e9 / rate)).toInt
        val enough = math.max(100, 1.2e6 * leastBurstNs / 1e3 / (shortest * 8e9 / rate)).min(1500).toInt
        while (bench.left.size < skip + enough)
          bench.clockOfFour(Option.when(bench.queued(5).size < 4)(5 -> length()))
        val steady = bench.left.drop(skip)
        val measured = steady.init.map(_.lenBytes.toDouble).sum * 8e9 / (steady.last.now - steady.head.now)
        val lateness = leastBurstNs / (steady.last.now - steady.head.now).toDouble
        val what =
          s"$rate b/s, ${if (port) "port" else "queue"}, burst $burst, ${if (fixed) "" else "from "}$shortest B"
        assert((measured / rate - 1).abs < 2e-5 + lateness, s"$what: $measured b/s over ${steady.size} packets")
        while (bench.received < bench.sent) bench.clockOfFour()
      }
    }

  it should "do so for queue 0 when it is the only one that was ever configured" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 15
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      val s = shaped(1e9, 0)
      bench.configure(0, s)
      while (bench.left.size < 300)
        bench.clockOrJump(Option.when(bench.queued(0).size < 3)(0 -> (64 + bench.random.nextInt(1455))))
      bench.drain()
      val reference = new ReferenceShaper(s)
      for (d <- bench.left) {
        assert(BigInt(d.now) == reference.mayAt.max(bench.left.head.now))
        reference.sent(d.now, d.lenBytes)
      }
    }

  it should "send a packet a clock behind a change of the port's rate, whatever the rate was" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 16
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      val fast = shaped(200e9, 0) // 64 bytes take less than a clock
      bench.configure(5, Service(strict = true))
      for (before <- Seq(Service(), shaped(100e9, 0), shaped(1e9, 0)); phase <- 0 until 3) {
        bench.configurePort(before)
        for (_ <- 0 until 300) bench.clock(Some(5 -> 64), ready = false)
        for (_ <- 0 until 20 + phase) bench.clockOfFour()
        bench.configurePort(fast)
        val sent = bench.left.size
        for (_ <- 0 until 100) bench.clockOfFour()
        val pace = bench.left.size - sent
        assert(
          pace >= 90,
          s"$pace packets in 100 clocks behind a port of ${before.costMant} 2^-${before.costShift} ns"
        )
        bench.drain()
      }
    }

  it should "hold sixteen queues to their rates at once" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 12
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      val rates = Seq.tabulate(p.queues)(q => 50e6 * (1 + q))
      for (q <- 0 until p.queues) bench.configure(q, shaped(rates(q), burstNs(3044, rates(q))))
      while (bench.left.size < 8000) {
        val hungry = (0 until p.queues).find(bench.queued(_).size < 3)
        bench.clockOfFour(hungry.map(_ -> (256 + bench.random.nextInt(1263))))
      }
      for (q <- 0 until p.queues) {
        val steady = bench.left.filter(_.queue == q).drop(8)
        val span = (steady.last.now - steady.head.now).toDouble
        val measured = steady.init.map(_.lenBytes.toDouble).sum * 8e9 / span
        assert(
          (measured / rates(q) - 1).abs < 2e-5 + leastBurstNs / span,
          s"queue $q: $measured b/s, asked ${rates(q)}"
        )
      }
    }

  it should "go over the wrap of the clock as if there were none" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 13
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      for ((rate, wrap) <- Seq(64e3, 1e6, 1e9, 10e9, 200e9).zipWithIndex; port <- Seq(false, true)) {
        bench.now = ((wrap + 1L) * 2 + (if (port) 1 else 0)) * (1L << 48) - 1000
        val s = shaped(rate, 2000)
        bench.left.clear()
        bench.configure(5, if (port) Service() else s)
        bench.configurePort(if (port) s else Service())
        while (bench.left.size < 300)
          bench.clockOrJump(Option.when(bench.queued(5).size < 3)(5 -> (64 + bench.random.nextInt(1455))))
        bench.drain()
        // Time stands still but where nothing can be sent: so every packet leaves at the first ns at which it may.
        val reference = new ReferenceShaper(s)
        for (d <- bench.left) {
          val may = reference.mayAt.max(bench.left.head.now)
          assert(BigInt(d.now) == may, s"a packet left at ${d.now} ns, at $rate b/s it may at $may")
          reference.sent(d.now, d.lenBytes)
        }
        assert(bench.left.last.now > bench.left.head.now + 1000 || rate > 50e9, "the clock did not wrap")
      }
    }

  it should "block for no longer than two packets when the clock is set back, and not run ahead" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 14
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      for (
        back <- Seq(100L, 1000000000L, 40L * 3600 * 1000000000L); rate <- Seq(64e3, 10e6, 10e9);
        port <- Seq(false, true);
        phase <- 0 until 3
      ) {
        val lenBytes = 1000
        val packetNs = (lenBytes * 8e9 / rate).toLong
        bench.now = (1L << 47) + bench.random.nextInt(1000)
        val s = shaped(rate, 0)
        bench.configure(5, if (port) Service() else s)
        bench.configurePort(if (port) s else Service())
        bench.left.clear()
        def feed() = Option.when(bench.queued(5).size < 3)(5 -> lenBytes)
        while (bench.left.size < 20) bench.clockOfFour(feed())
        // In the clock of a charge, in the middle of a wait, or shortly before its end.
        for (_ <- 0 until 7 * phase) bench.clock(feed())
        if (phase == 2) bench.now += packetNs - 60
        bench.now -= back
        bench.left.clear()
        val from = bench.now
        for (_ <- 0 until 8) bench.clock(feed()) // until then `wake` may be from before
        while (bench.left.size < 50) bench.clockOfFour(feed())
        val what = s"$rate b/s, back by $back ns, phase $phase"
        assert(bench.left.head.now - from <= 2 * packetNs + leastBurstNs, what)
        val span = bench.left.last.now - bench.left.head.now
        // One packet may be too early, as its debt counted as paid.
        assert(
          span >= 48 * packetNs - leastBurstNs && span <= 51 * packetNs + leastBurstNs,
          s"$what: 49 packets in $span ns"
        )
        while (bench.received < bench.sent) bench.clockOfFour()
      }
    }
}
