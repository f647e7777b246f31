package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random
import vermilion.{Nightly, Simulation}
import vermilion.lane.LaneParams

/** `EgressQueues` in builds with CoDel: every verdict is the reference's, and a dropped packet costs its queue and its port nothing. */
class VerdictsTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 1024, codel = true)
  // Soon drops all but the last 4,000 bytes.
  private val always = Codel(target = 0, interval = 1, mtu = 4000)

  /** What `gbps` Gbit/s cost, with a burst. */
  private def shaper(gbps: Double, burstNs: Int) =
    Service(costMant = (8 * 4096 / gbps).round.toInt, costShift = 12, burstNs = burstNs)

  behavior of "Verdicts"

  private def judges(p: LaneParams, seed: Int): Unit = simulate(new SeenEgressQueues(p)) { dut =>
    info(s"seed $seed")
    val bench = new EgressBench(dut, p, seed)
    val random = new Random(seed)
    def codel() = Option.when(random.nextInt(5) > 0)(
      Codel(
        target = random.nextInt(20),
        interval = Seq(2, 10, 60)(random.nextInt(3)),
        ceThreshold = if (random.nextBoolean()) 30 else Int.MaxValue,
        mtu = Seq(0, 300, 1514)(random.nextInt(3)),
        ecn = random.nextInt(3) == 0
      )
    )
    def service() = (if (random.nextInt(3) == 0) shaper(1 + random.nextInt(10), 300) else Service()).copy(
      strict = random.nextInt(4) == 0,
      priority = random.nextInt(4),
      quantum = 300 << random.nextInt(4),
      codel = codel()
    )
    for (phase <- 0 until 6) {
      // What is configured under traffic, or paused.
      val changes = phase >= 2
      def port() = if (phase % 2 == 0) shaper(3, 500) else Service()
      for (q <- 0 until p.queues) bench.configure(q, service())
      for (egress <- 0 until p.egresses) bench.configurePort(port(), egress)
      val (arrive, ready, tick) =
        (Seq(0.1, 0.3, 1.0)(phase % 3), Seq(1.0, 0.6)(phase / 3), Seq(4, 40, 400)(random.nextInt(3)))
      for (i <- 0 until 2500) {
        if (i % 500 == 400) bench.flush(random.nextInt(p.egresses), random.nextBoolean())
        if (i % 500 == 450) (0 until p.egresses).foreach(bench.flush(_, on = false))
        if (changes && random.nextInt(40) == 0) {
          val q = random.nextInt(p.queues)
          for (_ <- 0 to random.nextInt(2)) { bench.configure(q, service()); bench.clock() }
          val s = service()
          // Off and on twice, most often with no packet of the queue between.
          for (codel <- Seq(None, s.codel, None, s.codel)) { bench.configure(q, s.copy(codel = codel)); bench.clock() }
        }
        if (changes && random.nextInt(100) == 0) bench.configurePort(port(), random.nextInt(p.egresses))
        if (changes && random.nextInt(100) == 0) bench.pause(random.nextInt(p.egresses), random.nextBoolean())
        val comes = Option.when(random.nextDouble() < arrive && bench.free.nonEmpty)(
          random.nextInt(p.queues) -> Comes(1 + random.nextInt(if (phase % 2 == 0) 200 else 1518), random.nextInt(256))
        )
        bench.step(comes, random.nextDouble() < ready)
        bench.now += random.nextInt(2 * tick)
      }
      (0 until p.egresses).foreach(bench.pause(_, on = false))
      bench.drain()
    }
    val met = bench.verdicts.get.met
    info(s"met: $met")
    for (what <- Seq("first drop", "later drop", "mark", "not settled", "due again")) assert(met(what) > 5, what)
    assert(bench.left.exists(_.isSent) && bench.left.exists(_.flushed))
  }

  it should "be those of CoDel for every packet, under stalls, flushes, shapers and priorities" in judges(p, 21)

  for (egresses <- if (Nightly.is) Seq(2, 4, 8) else Seq(4))
    it should s"be so with $egresses egresses" in judges(p.copy(queues = 32, egresses = egresses), 22)

  /** What leaves queues that never run empty, from the first drop on. A packet comes in one of `cycles`. */
  private def backlogged(bench: EgressBench, queues: Iterable[Int], packets: Int, cycles: Int): Seq[Left] = {
    val random = bench.random
    for (queue <- queues; _ <- 0 until 8) bench.clockOfFour(Some(queue -> 1000))
    while (bench.left.size < packets) {
      assert(bench.clocks < 400000, s"${bench.left.size} packets left")
      val hungry = queues.filter(bench.queued(_).map(_._2).sum < 9000).toSeq
      val comes = Option.when(hungry.nonEmpty && random.nextInt(cycles) == 0)(hungry(random.nextInt(hungry.size)))
      bench.clock(comes.map(_ -> (64 + random.nextInt(1455))))
      bench.now += 4
      assert(queues.forall(bench.queued(_).nonEmpty), "a queue ran empty, which the test is not for")
    }
    val begun = bench.left.indexWhere(_.dropped)
    assert(begun >= 0, "nothing is dropped")
    bench.left.drop(begun).toSeq
  }

  for (egresses <- Seq(1, 2, 4, 8); port <- Seq(false, true); if Nightly.is || egresses == 1 || (port && egresses >= 4))
    it should s"leave ${if (port) "a port" else "a queue"} its whole rate and send nothing too early, with $egresses egresses" in {
      val build = p.copy(queues = 16, egresses = egresses)
      simulate(new SeenEgressQueues(build)) { dut =>
        val bench = new EgressBench(dut, build, 23)
        val s = shaper(10, 2000)
        bench.configure(1, (if (port) Service() else s).copy(codel = Some(always)))
        bench.configurePort(if (port) s else Service())
        val left = backlogged(bench, Seq(1), 400, 80)
        val (sent, dropped) = (left.filter(_.isSent), left.count(_.dropped))
        info(s"${sent.size} sent, $dropped dropped")
        assert(dropped > 120 && sent.size > 120)
        val reference = new ReferenceShaper(s)
        for (packet <- bench.left if packet.isSent) {
          assert(packet.now >= reference.mayAt, s"$packet leaves too early")
          reference.sent(packet.now, packet.lenBytes)
        }
        val rate = sent.init.map(_.lenBytes).sum * 8.0 / (sent.last.now - sent.head.now)
        assert((rate / 10 - 1).abs < 0.003, s"$rate Gbit/s instead of 10")
        bench.drain()
      }
    }

  it should "leave a queue its share, whatever it drops" in simulate(new SeenEgressQueues(p)) { dut =>
    val bench = new EgressBench(dut, p, 24)
    val services = Map(
      2 -> Service(quantum = 1600, codel = Some(always)),
      3 -> Service(quantum = 1600, codel = Some(always.copy(interval = 40))),
      4 -> Service(quantum = 1600),
      5 -> Service(quantum = 4800, codel = Some(always))
    )
    for ((q, service) <- services) bench.configure(q, service)
    bench.configurePort(shaper(10, 2000))
    val left = backlogged(bench, services.keys, 2500, 60)
    def bytes(q: Int) = left.filter(packet => packet.queue == q && packet.isSent).map(_.lenBytes).sum.toDouble
    val shares = services.map { case (q, s) => q -> bytes(q) / s.quantum }
    val dropped = left.filter(_.dropped).groupMapReduce(_.queue)(_ => 1)(_ + _)
    info(s"sent, in quanta: $shares; dropped: $dropped")
    // Shreedhar and Varghese: within a quantum and a packet, each.
    assert(shares.values.min > 60 && shares.values.max - shares.values.min < 3, shares)
    for (q <- Seq(2, 3, 5)) assert(left.count(packet => packet.queue == q && packet.dropped) > 5)
    bench.drain()
  }

  it should "wait after late drops alone" in simulate(new SeenEgressQueues(p)) { dut =>
    val bench = new EgressBench(dut, p, 26)
    bench.configure(1, shaper(400, 1000000).copy(codel = Some(Codel(0, 2000, mtu = 0))))
    bench.configurePort(Service())
    // The interval shrinks from 200 cycles to 14. A drop comes at most 5 cycles after it is due.
    for (_ <- 0 until 6000) {
      bench.clock(Option.when(bench.queued(1).size < 8)(1 -> 64))
      bench.now += 10240
    }
    val met = bench.verdicts.get.met
    val gaps = bench.left.zip(bench.left.tail).collect { case (one, next) if one.dropped => next.clock - one.clock }
    info(s"met: $met, cycles from a drop to the next departure: ${gaps.groupMapReduce(identity)(_ => 1)(_ + _)}")
    assert(gaps.size > 150 && gaps.take(100).forall(_ <= 6) && gaps.max == 14)
    bench.drain()
  }

  it should "let time jump only while every queue is settled" in simulate(new SeenEgressQueues(p)) { dut =>
    val bench = new EgressBench(dut, p, 27)
    bench.configure(1, Service(codel = Some(Codel(0, 20, mtu = 0))))
    bench.configurePort(shaper(1, 2000))
    // 512 ns for a packet, 20,480 for the interval. The bench jumps while the port is closed; the reference looks at each jump.
    for (_ <- 0 until 8000) bench.clockOfFour(Option.when(bench.queued(1).size < 8)(1 -> 64))
    val dropped = bench.left.count(_.dropped)
    info(s"$dropped of ${bench.left.size} dropped in ${bench.now / 1000} us, ${bench.verdicts.get.jumped} jumps")
    assert(dropped > 30 && bench.verdicts.get.jumped > 300)
    bench.drain()
  }

  /** Frames of a length on a wire of 100 Gbit/s: the packets that left with their drops, and the cycles in which the wire was idle. */
  private def onTheWire(services: Seq[Service], lenBytes: Int): (Seq[Left], Int) = {
    val wide = LaneParams(queues = 64, cells = 4096, codel = true)
    var result: (Seq[Left], Int) = (Seq.empty, 0)
    simulate(new SeenEgressQueues(wide)) { dut =>
      val bench = new EgressBench(dut, wide, 25)
      for ((service, q) <- services.zipWithIndex) bench.configure(q, service)
      bench.configurePort(Service())
      def comes() = Option.when(bench.free.size > 8)(bench.random.nextInt(services.size) -> lenBytes)
      for (_ <- 0 until 2000) bench.clockOfFour(comes(), ready = false)
      // The wire takes a frame of 64 bytes in 1.68 cycles; a cycle in which it could take one and gets none is idle.
      val perCycle = 50.0 / (lenBytes + 20)
      var credit = 0.0
      def idle(cycles: Int): Int = (0 until cycles).count { _ =>
        credit = (credit + perCycle).min(1 + perCycle)
        val (takes, had) = (credit >= 1, bench.forwarded)
        bench.clockOfFour(comes(), ready = takes)
        val sends = bench.forwarded != had
        if (takes && sends) credit -= 1
        takes && !sends
      }
      val idleBefore = idle(10000) // until drops are frequent
      val from = bench.left.size
      val idleAfter = idle(20000)
      result = (bench.left.drop(from).toSeq, idleBefore + idleAfter)
    }
    val (left, idles) = result
    info(s"${left.count(_.dropped)} of ${left.size} dropped, the wire was idle in $idles of 30000 cycles")
    result
  }
  // After some drops every packet is due that finds its queue settled.
  private val often = Codel(0, 4, mtu = 0)

  for ((queues, what) <- Seq(64 -> "64 queues in turn", 1 -> "one queue"))
    it should s"leave no gap on a wire of 100 Gbit/s with frames of 64 bytes, of which a tenth is dropped from $what" in {
      val (left, idle) =
        onTheWire(Seq.fill(queues)(Service(strict = queues == 1, quantum = 1522, codel = Some(often))), 64)
      assert(left.count(_.dropped) * 10 >= left.size && idle == 0)
    }

  it should "leave no gap on that wire while queues with a rate drop" in {
    val plain = Service(quantum = 1522)
    val fast = shaper(90, 100000).copy(quantum = 1522, codel = Some(often))
    val (left, idle) = onTheWire(Seq.fill(6)(plain) ++ Seq.fill(2)(fast), 300)
    assert(left.count(packet => packet.dropped && packet.queue >= 6) > 200 && idle == 0)
  }
}
