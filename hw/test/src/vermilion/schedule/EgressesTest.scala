package vermilion.schedule

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** What one egress of several does to the others: nothing, and how many packets each sends. */
class EgressesTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 1024, queues = 32, egresses = 4)
  private val share = p.queues / p.egresses
  private val clocks = 3000

  /** Packets a clock: some queue of some egress, or none. */
  private def arrivals(seed: Int, longest: Int = 1518): Seq[Option[(Int, Int)]] = {
    val random = new Random(seed)
    def length() = 64 + random.nextInt(longest - 63)
    Seq.fill(clocks)(Option.when(random.nextInt(8) == 0)(random.nextInt(p.queues) -> length()))
  }

  /** What `gbps` Gbit/s cost, with a burst. */
  private def shaper(gbps: Double, burstNs: Int = 1000) =
    Service(costMant = (8 * 4096 / gbps).round.toInt, costShift = 12, burstNs = burstNs)

  /** What happens in a run. `takes` says in which clock which egress's queue entries are taken, `pauses` when an egress is paused, `flushes` when it is flushed. */
  private case class Run(
      comes: Seq[Option[(Int, Int)]],
      takes: (Int, Int) => Boolean,
      pauses: (Int, Int) => Boolean = (_, _) => false,
      flushes: (Int, Int) => Boolean = (_, _) => false,
      shaped: Boolean = false
  )

  /** For two runs, each behind a reset, the packets that left, with their clocks. */
  private def left(one: Run, other: Run): (Seq[Left], Seq[Left]) = {
    var results = Seq.empty[Seq[Left]]
    simulate(new SeenEgressQueues(p)) { dut =>
      results = Seq(one, other).map { run =>
        dut.reset.poke(true.B)
        dut.clock.step()
        dut.reset.poke(false.B)
        left(new EgressBench(dut, p, 1), run)
      }
    }
    (results.head, results.last)
  }

  private def left(bench: EgressBench, run: Run): Seq[Left] = {
    for (queue <- 0 until p.queues) {
      val rate = if (run.shaped && queue % 4 != 0) shaper(2) else Service()
      bench.configure(queue, rate.copy(strict = queue % 3 == 0, priority = queue % 5, quantum = 500 + 100 * queue))
    }
    if (run.shaped) for (egress <- 0 until p.egresses) bench.configurePort(shaper(10), egress)
    val begun = bench.clocks
    for (clock <- 0 until clocks + 2000) {
      for (egress <- 0 until p.egresses) {
        bench.pause(egress, run.pauses(egress, clock))
        bench.flush(egress, run.flushes(egress, clock))
      }
      bench.clock(run.comes.lift(clock).flatten.filter(_ => bench.free.nonEmpty), takes = run.takes(_, clock))
      if (run.shaped) bench.now += 4
    }
    val result = bench.left.map(packet => packet.copy(clock = packet.clock - begun)).toSeq
    val last = clocks + 2000
    if ((0 until p.egresses).exists(run.pauses(_, last))) {
      assert(!bench.busy, "a paused egress keeps the block busy")
      (0 until p.egresses).foreach(bench.pause(_, on = false))
      bench.drain()
    }
    result
  }

  private def of(packets: Seq[Left], egresses: Int => Boolean): Seq[Left] =
    packets.filter(packet => egresses(packet.queue / share))
  private def steady(egress: Int, clock: Int): Boolean = (clock + egress) % 3 != 0

  behavior of "An egress"

  it should "send nothing while it is paused, and change no other's packet by a clock" in {
    val (seed, paused) = (11, 1)
    info(s"seed $seed")
    val comes = arrivals(seed)
    val (without, all) = left(
      Run(comes.map(_.filter(_._1 / share != paused)), steady),
      Run(comes, steady, (egress, _) => egress == paused)
    )
    val alone = of(without, _ != paused)
    assert(alone.size > 200)
    assert(of(all, _ != paused) == alone)
    assert(of(all, _ == paused).isEmpty)
  }

  it should "send nothing in any of many pauses that come at any clock, and change no other's packet by a clock" in {
    val (seed, paused) = (13, 3)
    info(s"seed $seed")
    val (random, comes) = (new Random(seed), arrivals(seed))
    val edges = Iterator.iterate(0)(_ + 1 + random.nextInt(120)).takeWhile(_ < clocks).toSet
    val on = (0 until clocks + 2001).scanLeft(false)((now, clock) => now != edges(clock) && clock < clocks).tail
    val (without, all) = left(Run(comes, steady), Run(comes, steady, (egress, clock) => egress == paused && on(clock)))
    assert(of(all, _ != paused) == of(without, _ != paused))
    val (here, before) = (of(all, _ == paused), of(without, _ == paused))
    assert(here.map(_.queue).sorted == before.map(_.queue).sorted, "a pause lost a packet")
    assert(here != before && here.size > 50)
    for (packet <- here) assert(!on(packet.clock.toInt), s"a packet departed in clock ${packet.clock} of a pause")
  }

  it should "change no other's packet by a clock when nobody takes what it sends" in {
    val (seed, stuck) = (12, 2)
    info(s"seed $seed")
    val comes = arrivals(seed).map(_.filter(_._1 / share != stuck)).zipWithIndex.map { case (packet, clock) =>
      if (clock < 40) Some((stuck * share + clock % share) -> 1500) else packet
    }
    def takes(egress: Int, clock: Int) = egress != stuck && steady(egress, clock)
    val (without, all) = left(Run(comes.map(_.filter(_._1 / share != stuck)), takes), Run(comes, takes))
    val alone = of(without, _ != stuck)
    assert(alone.size > 200)
    assert(of(all, _ != stuck) == alone)
  }

  it should "change no other's packet by a clock when all ports and most queues are shaped" in {
    val (seed, paused) = (17, 1)
    info(s"seed $seed")
    val comes = arrivals(seed, longest = 163)
    val (without, all) = left(
      Run(comes.map(_.filter(_._1 / share != paused)), steady, shaped = true),
      Run(comes, steady, (egress, clock) => egress == paused && clock % 1000 < 500, shaped = true)
    )
    val alone = of(without, _ != paused)
    assert(alone.size == comes.flatten.count(_._1 / share != paused) && of(all, _ == paused).size > 80)
    assert(of(all, _ != paused) == alone)
    // The shapers do something: no queue and no port is ahead of its rate by more than its burst.
    def check(sent: Seq[Left], gbps: Double): Unit = {
      val reference = new ReferenceShaper(shaper(gbps))
      for (packet <- sent) {
        assert(packet.now >= reference.mayAt)
        reference.sent(packet.now, packet.lenBytes)
      }
    }
    for (queue <- 0 until p.queues if queue % 4 != 0) check(all.filter(_.queue == queue), 2)
    for (egress <- 0 until p.egresses) check(of(all, _ == egress), 10)
  }

  it should "discard what it holds when it is flushed in a pause, and change no other's packet by a clock" in {
    val (seed, flushed, begin, end) = (14, 1, 1500, 1800)
    info(s"seed $seed")
    val comes = arrivals(seed)
    def during(egress: Int, clock: Int) = egress == flushed && clock >= begin && clock < end
    val (without, all) = left(
      Run(comes.map(_.filter(_._1 / share != flushed)), steady),
      Run(comes, steady, (egress, clock) => egress == flushed && clock < end, during)
    )
    assert(of(all, _ != flushed) == of(without, _ != flushed))
    val (discarded, sent) = of(all, _ == flushed).partition(_.flushed)
    val came = comes.flatten.count(_._1 / share == flushed)
    assert(discarded.size + sent.size == came && discarded.size > 40 && sent.size > 20)
    assert(discarded.head.clock > begin && discarded.last.clock <= end && sent.head.clock >= end)
    val before = comes.take(begin).flatten.count(_._1 / share == flushed)
    val clocks = discarded(before - 1).clock - begin
    assert(clocks <= 2 * p.egresses * before, s"$before packets take $clocks clocks")
  }

  it should "discard what it holds though its port and a queue wait for their shapers, leap over no time and charge nothing" in {
    val one = LaneParams(cells = 1024)
    simulate(new SeenEgressQueues(one)) { dut =>
      val bench = new EgressBench(dut, one, 1)
      val (slow, quick, nsAByte) = (3, 4, 1000)
      val shaped = Service(costMant = nsAByte, burstNs = 100)
      bench.configure(slow, shaped)
      bench.configure(quick, Service())
      bench.configurePort(shaped)
      for (_ <- 0 until 10) bench.clock(Some(slow -> 100))
      for (_ <- 0 until 40) { bench.clock(); bench.now += 4 }
      for (_ <- 0 until 10) bench.clock(Some(quick -> 100))
      for (_ <- 0 until 40) { bench.clock(); bench.now += 4 }
      assert(
        bench.left.map(_.queue) == Seq(slow),
        "the first packet has closed the port, and the queue waits for its shaper"
      )
      val (sentAt, now) = (bench.left.head.now, bench.now)
      bench.flush(0, on = true)
      for (_ <- 0 until 200) bench.clockOrJump()
      assert(bench.now == now, "time was leapt over while packets could be discarded")
      assert(bench.left.count(_.flushed) == 19)
      bench.flush(0, on = false)
      // The port opens when the packet that was sent has been paid for, and not later.
      bench.clock(Some(quick -> 100))
      bench.drain()
      val waited = bench.left.last.now - sentAt
      assert(!bench.left.last.flushed && waited >= 100 * nsAByte - 100 && waited <= 100 * nsAByte + 400)
    }
  }

  it should "discard the packets of a flushed queue alone, whatever its shaper says, and charge it nothing" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 1)
      val (slow, quick, nsAByte) = (3, 4, 1000)
      bench.configure(slow, Service(costMant = nsAByte, burstNs = 100))
      bench.configure(quick, Service())
      for (packet <- 0 until 40) bench.clock(Some((if (packet % 2 == 0) slow else quick) -> 100))
      def clock(arrival: Option[(Int, Int)] = None): Unit = { bench.clock(arrival); bench.now += 4 }
      for (_ <- 0 until 400) clock()
      assert(bench.left.count(_.queue == quick) == 20 && bench.left.count(_.queue == slow) == 1)
      bench.flush(Some(slow))
      for (_ <- 0 until 400) clock(Option.when(bench.queued(quick).size < 2)(quick -> 100))
      bench.flush(None)
      val (flushed, sent) = bench.left.partition(_.flushed)
      assert(flushed.map(_.queue) == Seq.fill(19)(slow) && sent.count(_.queue == slow) == 1)
      // The shaper is where it was: what comes now waits for the packet that was sent before the flush, and for no other.
      for (_ <- 0 until 5) clock(Some(slow -> 100))
      while (bench.received < bench.sent) bench.clockOfFour()
      val times = bench.left.filter(packet => packet.queue == slow && !packet.flushed).map(_.now)
      val gaps = times.zip(times.tail).map { case (one, next) => next - one }
      assert(gaps.size == 5 && gaps.forall(gap => gap >= 100 * nsAByte - 100 && gap <= 100 * nsAByte + 400))
    }

  for ((egresses, quantum) <- Seq(2 -> 2000, 4 -> 64, 4 -> 2000, 8 -> 64))
    it should s"send a packet in each of its turns, of $egresses, while packets wait, with a quantum of $quantum bytes" in {
      val each = LaneParams(cells = 1024, queues = 8 * egresses, egresses = egresses)
      simulate(new SeenEgressQueues(each)) { dut =>
        val bench = new EgressBench(dut, each, 1)
        for (queue <- 0 until each.queues) bench.configure(queue, Service(quantum = quantum))
        (0 until egresses).foreach(bench.pause(_, on = true))
        for (packet <- 0 until 960) bench.clock(Some(packet % each.queues -> 64))
        (0 until egresses).foreach(bench.pause(_, on = false))
        bench.drain()
        for (egress <- 0 until egresses) {
          val sent = bench.left.filter(packet => bench.egressOf(packet.queue) == egress).map(_.clock)
          val gaps = sent.zip(sent.tail).map { case (one, next) => next - one }
          assert(sent.size == 960 / egresses)
          // While all of its queues hold packets: the last of each go at the end.
          assert(gaps.dropRight(8).forall(_ == egresses), s"egress $egress: clocks between packets $gaps")
        }
      }
    }

  it should "send the packet of a shaped queue that becomes backlogged without waiting for a round of all queues, and put off no queue that waits for its time" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 18
      info(s"seed $seed")
      val bench = new EgressBench(dut, p, seed)
      val least = 4 * DueTime.latenessCycles(p.queues)
      for (queue <- 0 until p.queues) bench.configure(queue, shaper(1, least))
      def clock(arrival: Option[(Int, Int)] = None): Unit = { bench.clock(arrival); bench.now += 4 }
      for (_ <- 0 until 40) {
        for (_ <- 0 until 600) clock() // so that its burst is full, and nobody is parked
        val (queue, at) = (bench.random.nextInt(p.queues), bench.clocks)
        clock(Some(queue -> 64))
        while (bench.received < bench.sent) clock()
        val took = bench.left.last.clock - at
        assert(bench.left.last.queue == queue && took <= 10 + 2 * p.egresses, s"queue $queue: $took clocks")
      }
      // Queue 5 waits for its time behind each packet, while others of its egress become backlogged in nearly each of its turns.
      bench.left.clear()
      val others = Seq(0, 1, 2, 3, 4, 6, 7)
      for (queue <- others) bench.configure(queue, shaper(100, 100000))
      for (turn <- 0 until 1500) {
        clock(Option.when(bench.queued(5).size < 2)(5 -> 64))
        for (_ <- 0 until 2) clock()
        val other = others(turn % others.size)
        clock(Option.when(bench.queued(other).isEmpty)(other -> 64))
      }
      val reference = new ReferenceShaper(shaper(1, least))
      val left = bench.left.filter(_.queue == 5)
      assert(left.size > 40 && bench.left.size > 1000)
      for (packet <- left) {
        val late = packet.now - reference.mayAt
        if (packet != left.head) assert(late >= 0 && late <= least, s"a packet of queue 5 leaves $late ns late")
        reference.sent(packet.now, packet.lenBytes)
      }
    }

  for (egresses <- Seq(1, 2, 4, 8))
    it should s"send a shaped queue's packet every four clocks, or in each of its turns, and queues and ports at their rates, of $egresses" in {
      val each = LaneParams(cells = 1024, queues = 8 * egresses, egresses = egresses)
      simulate(new SeenEgressQueues(each)) { dut =>
        val bench = new EgressBench(dut, each, 1)
        def send(services: Map[Int, Service], packets: Int, lenBytes: Int = 64): Seq[Left] = {
          for ((queue, service) <- services) bench.configure(queue, service.copy(quantum = 20000))
          (0 until egresses).foreach(bench.pause(_, on = true))
          def clock(arrival: Option[(Int, Int)] = None): Unit = { bench.clock(arrival); bench.now += 4 }
          for (_ <- 0 until packets; queue <- services.keys) clock(Some(queue -> lenBytes))
          (0 until egresses).foreach(bench.pause(_, on = false))
          bench.left.clear()
          while (bench.received < bench.sent) clock()
          for ((queue, service) <- services if service.costMant != 0) {
            val reference = new ReferenceShaper(service)
            for (packet <- bench.left if packet.queue == queue) {
              assert(packet.now >= reference.mayAt, s"queue $queue sends too early")
              reference.sent(packet.now, packet.lenBytes)
            }
          }
          bench.left.toSeq
        }
        // One queue of each egress, which is never blocked.
        val quick = send((0 until egresses).map(8 * _ + 3 -> shaper(150, burstNs = 40000)).toMap, 60)
        for (egress <- 0 until egresses) {
          val clocks = quick.filter(packet => bench.egressOf(packet.queue) == egress).map(_.clock).drop(8)
          val gaps = clocks.zip(clocks.tail).map { case (one, next) => next - one }
          assert(gaps.forall(_ == egresses.max(4)), s"egress $egress: clocks between packets $gaps")
        }
        // Ports, with the least burst. What a turn every 8 clocks can carry is no more than 16 Gbit/s of 64 bytes.
        for ((gbps, lenBytes) <- Seq(10.0 -> 64, 90.0 -> 513)) {
          val burst = 4 * DueTime.latenessCycles(each.queues)
          (0 until egresses).foreach(bench.configurePort(shaper(gbps, burst), _))
          val sent = send((0 until egresses).map(8 * _ + 3 -> Service()).toMap, 80, lenBytes)
          for (egress <- 0 until egresses) {
            val left = sent.filter(packet => bench.egressOf(packet.queue) == egress)
            val reference = new ReferenceShaper(shaper(gbps, burst))
            for (packet <- left) {
              assert(packet.now >= reference.mayAt, s"egress $egress sends too early")
              reference.sent(packet.now, packet.lenBytes)
            }
            val (span, asked) =
              (left.last.now - left.head.now, 79 * lenBytes * 8 / gbps - burst) // the burst goes first
            assert(span <= asked + burst, s"egress $egress: ${left.size} packets in $span ns, not $asked")
          }
          (0 until egresses).foreach(bench.configurePort(Service(), _))
        }
        // All queues, which are blocked behind each packet.
        def rate(queue: Int) = 0.5 + 0.125 * (queue % 13)
        val least = 4 * DueTime.latenessCycles(each.queues)
        val slow = send((0 until each.queues).map(queue => queue -> shaper(rate(queue), least)).toMap, 14)
        for (queue <- 0 until each.queues) {
          val (first, last) = (slow.find(_.queue == queue).get.now, slow.findLast(_.queue == queue).get.now)
          val asked = 13 * 64 * 8 / rate(queue) - least // the burst goes first
          assert(
            last - first >= asked - 1 && last - first <= asked + least,
            s"queue $queue: ${last - first} ns, not $asked"
          )
        }
      }
    }
}
