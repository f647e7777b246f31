package vermilion.schedule

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** Strict priority and deficit round robin as the papers write them, on queues that are all filled before. */
class ReferenceScheduler(services: Seq[Service], queues: Seq[mutable.Queue[Int]], start: Int) {
  private val deficit = mutable.ArrayBuffer.fill(queues.size)(0)
  private var pointer = start
  private var credited = false

  def next(): Option[Int] = {
    val strict = queues.indices.filter(q => services(q).strict && queues(q).nonEmpty)
    if (strict.nonEmpty) Some(strict.maxBy(q => (services(q).priority, -q)))
    else if (queues.forall(_.isEmpty)) None
    else {
      while (true) {
        if (!services(pointer).strict && queues(pointer).nonEmpty) {
          if (!credited) deficit(pointer) += services(pointer).quantum
          credited = true
          if (deficit(pointer) >= queues(pointer).head) return Some(pointer)
        }
        pointer = (pointer + 1) % queues.size
        credited = false
      }
      None
    }
  }

  def sent(q: Int): Unit = {
    val len = queues(q).dequeue()
    if (!services(q).strict) deficit(q) = if (queues(q).isEmpty) 0 else deficit(q) - len
  }
}

class EgressQueuesTest extends AnyFlatSpec with ChiselSim {
  private val p = LaneParams(cells = 1024)

  behavior of "EgressQueues"

  private def followsReference(p: LaneParams): Unit =
    simulate(new EgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 3)
      val random = bench.random
      var lastOfRound = p.queues - 1
      for (round <- 0 until 4) {
        val services = Seq.tabulate(p.queues) { q =>
          if (round > 0 && random.nextInt(3) == 0) Service(strict = true, priority = random.nextInt(4))
          else Service(quantum = if (round == 3) 100 + random.nextInt(900) else 1600 * (1 + q % 4))
        }
        services.zipWithIndex.foreach { case (s, q) => bench.configure(q, s) }
        // The port is closed while the queues fill: a packet that costs 0.3 s.
        bench.configurePort(Service(costMant = 200000))
        bench.clock(Some(0 -> 1500))
        for (_ <- 0 until 100) bench.clock()
        assert(bench.left.size == 1)
        bench.left.clear()
        val lengths = Seq.fill(p.queues)(mutable.Queue.empty[Int])
        for (_ <- 0 until 700) {
          val q = if (round == 0) random.nextInt(4) else random.nextInt(p.queues)
          val len = 64 + random.nextInt(1455)
          lengths(q).enqueue(len)
          bench.clock(Some(q -> len))
        }
        for (_ <- 0 until 20) bench.clock()
        assert(bench.left.isEmpty)
        bench.configurePort(Service())
        bench.drain()
        assert(bench.left.size == 700)
        // The packet that closed the port emptied queue 0: if that is in the round, the round goes on behind it.
        if (!services.head.strict) lastOfRound = 0
        val reference = new ReferenceScheduler(services, lengths, (lastOfRound + 1) % p.queues)
        bench.left.zipWithIndex.foreach { case (departure, i) =>
          val expected = reference.next().get
          assert(departure.queue == expected, s"packet $i of round $round")
          if (!services(expected).strict) lastOfRound = expected
          reference.sent(expected)
        }
        val gaps = bench.left.zip(bench.left.tail).map { case (a, b) => b.clock - a.clock }
        assert(gaps.min == 4, "a grant every 4 clocks")
        bench.left.clear()
      }
    }

  it should "serve strict priorities first and share the rest by quantum, exactly as the reference" in
    followsReference(p)

  it should "do so with 40 queues, where the search has two levels" in followsReference(p.copy(queues = 40))

  it should "hold every shaper to its rate, to the nanosecond, from 64 kb/s to 200 Gb/s" in
    simulate(new EgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 4)
      val random = bench.random
      for (
        (rate, s) <- Seq(
          64e3 -> Service(costMant = 125000, burstNs = 1000000000L),
          1e9 -> Service(costMant = 131072, costShift = 14, burstNs = 5000),
          200e9 -> Service(costMant = 167772, costShift = 22, burstNs = 100)
        );
        port <- Seq(false, true)
      ) {
        bench.now += 100000000L
        bench.left.clear()
        bench.configure(5, if (port) Service() else s)
        bench.configurePort(if (port) s else Service())
        var clocks = 0
        while (bench.left.size < 300 && clocks < 100000) {
          clocks += 1
          val enqueue = Option.when(bench.queued(5).size < 3)(5 -> (64 + random.nextInt(1455)))
          bench.clockOrJump(enqueue)
        }
        bench.drain()
        // Every packet leaves at the first ns at which it may.
        val reference = new ReferenceShaper(s)
        for (d <- bench.left) {
          val may = reference.mayAt
          assert(
            BigInt(d.now) == may.max(bench.left.head.now),
            s"a packet left at ${d.now} ns, at $rate b/s it may at $may"
          )
          reference.sent(d.now, d.lenBytes)
        }
        // The long-run rate, the burst apart.
        val steady = bench.left.dropWhile(_.now == bench.left.head.now).dropRight(1)
        val bits = steady.init.map(_.lenBytes).sum * 8.0
        val measured = bits / (steady.last.now - steady.head.now) * 1e9
        assert((measured / rate - 1).abs < 1e-3, s"$measured b/s instead of $rate")
        bench.configure(5, Service())
        bench.configurePort(Service())
      }
    }

  it should "shape queues and port together, and leave a shaped queue's share to the others" in
    simulate(new EgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 5)
      val random = bench.random
      // Port 1 Gb/s; a strict queue held to 100 Mb/s, two queues that share the rest 1 : 3, one of 50 Mb/s.
      val services = Map(
        0 -> Service(strict = true, priority = 7, costMant = 80 << 10, costShift = 10, burstNs = 20000),
        3 -> Service(quantum = 1600),
        4 -> Service(quantum = 4800),
        9 -> Service(quantum = 1600, costMant = 160 << 10, costShift = 10, burstNs = 200000) // a round may take 80 us
      )
      services.foreach { case (q, s) => bench.configure(q, s) }
      val port = Service(costMant = 8 << 14, costShift = 14, burstNs = 2000)
      bench.configurePort(port)
      while (bench.left.size < 2500) {
        val hungry = services.keys.find(bench.queued(_).size < 6)
        bench.clockOrJump(hungry.map(_ -> (64 + random.nextInt(1455))))
      }
      val from = bench.left(100).now
      val span = (bench.left.last.now - from).toDouble
      def rate(q: Int) = bench.left.drop(100).filter(_.queue == q).map(_.lenBytes).sum * 8e3 / span // Mb/s
      val rates = services.keys.map(q => q -> rate(q)).toMap
      def near(q: Int, mbps: Double) =
        assert((rates(q) / mbps - 1).abs < 0.03, s"queue $q: ${rates(q)} Mb/s, not $mbps: $rates")
      near(0, 100)
      near(9, 50)
      near(3, 850 / 4.0)
      near(4, 850 * 3 / 4.0)
      // Nobody ever left before its time.
      for ((q, s) <- services.toSeq.filter(_._2.costMant != 0) :+ (-1 -> port)) {
        val reference = new ReferenceShaper(s)
        for (d <- bench.left if q < 0 || d.queue == q) {
          assert(d.now >= reference.mayAt, s"queue $q sent too early")
          reference.sent(d.now, d.lenBytes)
        }
      }
      bench.drain()
    }

  it should "lose and reorder nothing when packets and the way out come and go at random" in
    simulate(new EgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 6)
      val random = bench.random
      for (phase <- 0 until 8) {
        for (q <- 0 until p.queues)
          bench.configure(
            q,
            Service(
              random.nextInt(4) == 0,
              random.nextInt(16),
              512 << random.nextInt(5),
              random.nextInt(2) * 1000,
              8,
              random.nextInt(1000).toLong
            )
          )
        bench.configurePort(Service(costMant = random.nextInt(2) * 500, costShift = 10, burstNs = 100))
        val (arrive, ready) = (Seq(0.05, 0.2, 1.0)(phase % 3), Seq(1.0, 0.5, 0.1)(phase / 3))
        for (_ <- 0 until 1200) {
          bench.now += random.nextInt(8)
          val enqueue = Option.when(random.nextDouble() < arrive && bench.free.nonEmpty)(
            random.nextInt(p.queues) -> (1 + random.nextInt(3000))
          )
          bench.clock(enqueue, random.nextDouble() < ready)
        }
      }
      bench.drain()
      assert(bench.received > 1200)
    }

  it should "choose no further ahead than stated, and yet never keep the reader waiting for more than its own pace" in
    simulate(new EgressQueues(p)) { dut =>
      val seed = 7
      info(s"seed $seed")
      for (cells <- Seq(1, 2, 4, 5, 8, 11, 12, 24)) {
        val bench = new EgressBench(dut, p, seed)
        var reading, idle, clocks = 0
        while (bench.received < 200) {
          val ready = reading == 0
          val before = bench.received
          val enqueue = Option.when(bench.queued.map(_.size).sum < 30)(bench.random.nextInt(3) -> cells * 64)
          bench.clockOfFour(enqueue, ready)
          if (bench.received > before) reading = cells - 1
          else if (reading > 0) reading -= 1
          else if (bench.received >= 20) idle += 1
          assert(bench.leaving.size <= (if (cells < 12) 2 else 1), "chosen too far ahead")
          clocks += 1
        }
        // 4 clocks a choice, and 4 a visit's end, which comes every 2048 bytes; what is longer follows without a gap.
        val pace = 4 + 4 * cells * 64 / 2048.0
        val expected = (180 * (pace - cells)).max(0.0).toInt
        assert(
          idle <= expected + 4,
          s"packets of $cells cells: the reader was idle for $idle clocks, $expected is the pace"
        )
        bench.drain()
      }
    }
}
