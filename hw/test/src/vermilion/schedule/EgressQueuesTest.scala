package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import vermilion.{Nightly, Simulation}
import vermilion.lane.LaneParams

/** Strict priority and deficit round robin as the papers write them; the round is a list of active queues. */
class ReferenceScheduler(services: Seq[Service]) {
  private val packets = services.map(_ => mutable.Queue.empty[Int])
  private val lists = Seq.fill(9)(mutable.Queue.empty[Int])
  private val deficit = mutable.ArrayBuffer.fill(services.size)(0)
  private def level(q: Int) = if (services(q).strict) 7 - services(q).priority.min(7) else 8

  def enqueue(q: Int, lenBytes: Int): Unit = {
    if (packets(q).isEmpty) {
      lists(level(q)).enqueue(q)
      deficit(q) = services(q).quantum
    }
    packets(q).enqueue(lenBytes)
  }

  /** The queue that sends next, one packet. */
  def send(): Int = {
    val list = lists.find(_.nonEmpty).get
    while (!services(list.head).strict && deficit(list.head) < packets(list.head).head) {
      val q = list.dequeue()
      deficit(q) += services(q).quantum
      list.enqueue(q)
    }
    val q = list.head
    deficit(q) -= packets(q).dequeue()
    if (packets(q).isEmpty) list.dequeue()
    q
  }
}

class EgressQueuesTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 1024)

  behavior of "EgressQueues"

  private def followsReference(p: LaneParams): Unit =
    simulate(new SeenEgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 3)
      val random = bench.random
      for (round <- 0 until 4) {
        val services = Seq.tabulate(p.queues) { q =>
          if (round > 0 && random.nextInt(3) == 0) Service(strict = true, priority = random.nextInt(4))
          else Service(quantum = if (round == 3) 100 + random.nextInt(900) else 1600 * (1 + q % 4))
        }
        services.zipWithIndex.foreach { case (s, q) => bench.configure(q, s) }
        // The port is closed while the queues fill: a packet that costs 0.3 s.
        val share = p.queues / p.egresses
        for (egress <- 0 until p.egresses) {
          bench.configurePort(Service(costMant = 200000), egress)
          bench.clock(Some(egress * share -> 1500))
        }
        for (_ <- 0 until 100) bench.clock()
        assert(bench.left.size == p.egresses)
        bench.left.clear()
        val references = services.grouped(share).map(new ReferenceScheduler(_)).toSeq
        for (_ <- 0 until 700) {
          val q = if (round == 0) random.nextInt(4) else random.nextInt(p.queues)
          val len = 64 + random.nextInt(1455)
          references(q / share).enqueue(q % share, len)
          bench.clock(Some(q -> len))
        }
        for (_ <- 0 until 20) bench.clock()
        assert(bench.left.isEmpty)
        for (egress <- 0 until p.egresses) bench.configurePort(Service(), egress)
        bench.drain()
        assert(bench.left.size == 700)
        bench.left.zipWithIndex.foreach { case (departure, i) =>
          val egress = bench.egressOf(departure.queue)
          assert(departure.queue == egress * share + references(egress).send(), s"packet $i of round $round")
        }
        bench.left.clear()
      }
    }

  it should "serve strict priorities first and share the rest by quantum, packet by packet as the reference" in
    followsReference(p)

  it should "do so with 40 queues" in followsReference(p.copy(queues = 40))

  for (egresses <- if (Nightly.is) Seq(2, 4, 8) else Seq(2, 8))
    it should s"do so for each of $egresses egresses" in followsReference(p.copy(queues = 32, egresses = egresses))

  it should "hold every shaper to its rate, to the nanosecond, from 64 kb/s to 200 Gb/s" in
    simulate(new SeenEgressQueues(p)) { dut =>
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
    simulate(new SeenEgressQueues(p)) { dut =>
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
    simulate(new SeenEgressQueues(p)) { dut =>
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

  it should "choose no further ahead than stated, and yet leave the reader no gap" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 7
      info(s"seed $seed")
      for ((cells, i) <- Seq(1, 2, 3, 4, 5, 24).zipWithIndex) {
        val bench = new EgressBench(dut, p, seed, swept = i > 0)
        for (_ <- 0 until 100) bench.clockOfFour(Some(bench.random.nextInt(3) -> cells * 64), ready = false)
        var reading, idle = 0
        while (bench.received < 200) {
          val before = bench.received
          val hungry = Option.when(bench.queued.map(_.size).sum < 100)(bench.random.nextInt(3) -> cells * 64)
          bench.clockOfFour(hungry, ready = reading == 0)
          if (bench.received > before) reading = cells - 1
          else if (reading > 0) reading -= 1
          else idle += 1
          assert((bench.leaving.size - 1) * cells < 4, "chosen too far ahead")
        }
        // The end of a visit takes a clock, which shows with short packets; it comes every 2048 bytes.
        val visits = if (cells < 3) 200 * cells * 64 / 2048 else 0
        assert(
          idle <= 2 * visits + 6,
          s"packets of $cells cells: the reader was idle for $idle clocks in $visits visits"
        )
        bench.drain()
      }
    }

  for (queues <- Seq(16, 1024))
    it should s"send 64-byte packets at 148.81 Mpps, to one or all of $queues queues" in {
      val wide = LaneParams(queues = queues, cells = 4096)
      simulate(new SeenEgressQueues(wide)) { dut =>
        val seed = 8
        info(s"seed $seed")
        val bench = new EgressBench(dut, wide, seed)
        val random = bench.random
        // 100 Gb/s with 20 bytes between frames: the port costs 84 / 64 of a byte's time.
        val port = Service(costMant = 215040, costShift = 21, burstNs = 4L * DueTime.latenessCycles(queues))
        val shares = Seq[(String, Int => Service)](
          "all in one queue" -> (_ => Service(quantum = 1522)),
          "the round" -> (_ => Service(quantum = 1522)),
          "one strict level" -> (_ => Service(strict = true, priority = 3)),
          "all levels" -> (q => if (q % 3 == 0) Service(quantum = 1522) else Service(strict = true, priority = q % 8))
        )
        for ((name, service) <- shares; shaped <- Seq(false, true)) {
          for (q <- 0 until queues) bench.configure(q, service(q))
          bench.configurePort(if (shaped) port else Service())
          def target() = if (name.startsWith("all in")) 5 else random.nextInt(queues)
          var credit, most = 0.0
          val clocks = 3000
          for (_ <- 0 until clocks) {
            credit += 0.59524 // 148.81 Mpps at 250 MHz
            val arrives = credit >= 1
            if (arrives) credit -= 1
            bench.clockOfFour(Option.when(arrives)(target() -> 64))
            most = most.max(bench.queued.map(_.size).sum)
          }
          // With the port at exactly this pace, what came early waits; without, the queues stay short.
          assert(
            most < (if (shaped) 100 else 40),
            s"$name, port ${if (shaped) "shaped" else "open"}: $most packets wait"
          )
          bench.drain()
          // From full queues.
          for (_ <- 0 until 600) bench.clockOfFour(Some(target() -> 64), ready = false)
          val (before, from) = (bench.left.size, bench.clocks)
          while (bench.left.size < before + 500) bench.clockOfFour()
          val pace = 500.0 / (bench.clocks - from)
          assert(pace > (if (shaped) 0.594 else 0.9), s"$name, port ${if (shaped) "shaped" else "open"}: $pace a clock")
          bench.drain()
        }
      }
    }

  /** Runs in a build that chooses every clock, with room for full queues: `services` of the first queues, an open port. */
  private def withRoom(seed: Int, services: Seq[Service])(run: EgressBench => Unit): Unit = {
    val roomy = LaneParams(cells = 4096)
    simulate(new SeenEgressQueues(roomy)) { dut =>
      info(s"seed $seed")
      val bench = new EgressBench(dut, roomy, seed)
      for ((service, q) <- services.zipWithIndex) bench.configure(q, service)
      bench.configurePort(Service())
      run(bench)
    }
  }

  it should "keep the wire's pace while a strict queue's packets come one by one over full queues of the round" in
    withRoom(18, Service(strict = true) +: Seq.fill(15)(Service(quantum = 1522))) { bench =>
      for (every <- Seq(2, 3, 5)) {
        for (_ <- 0 until 900) bench.clockOfFour(Some(1 + bench.random.nextInt(15) -> 64), ready = false)
        val before = bench.left.size
        for (i <- 0 until 600) bench.clockOfFour(Option.when(i % every == 0)(0 -> 64))
        val pace = (bench.left.size - before) / 600.0
        assert(pace > 0.594, s"a strict packet every $every clocks: $pace a clock")
        bench.drain()
      }
    }

  // The lists' own assertions judge: no packet of a strict queue ever waits for a deficit.
  it should "send strict packets, long and short, whatever the round's deficit is when they come" in
    withRoom(19, Seq.fill(2)(Service(quantum = 2048)) ++ Seq.fill(2)(Service(strict = true, priority = 3))) { bench =>
      val random = bench.random
      for (_ <- 0 until 12) {
        for (i <- 0 until 200) bench.clockOfFour(Some(i % 2 -> 1024), ready = false)
        var (next, pair) = (0, false)
        for (i <- 0 until 600) {
          val comes = i >= next
          if (comes) { // often a second one two clocks behind the first
            next = i + (if (pair) 3 + random.nextInt(6) else 2)
            pair = !pair
          }
          val arrival = Option.when(comes)(2 + random.nextInt(2) -> (if (random.nextBoolean()) 64 else 1500))
          bench.clockOfFour(arrival)
        }
        bench.drain()
      }
    }

  it should "never let a higher level wait for more than what is chosen, and share fairly among those that have packets" in
    simulate(new SeenEgressQueues(p)) { dut =>
      val seed = 9
      info(s"seed $seed")
      for (round <- 0 until 3) {
        val bench = new EgressBench(dut, p, seed + round, swept = round > 0)
        val random = bench.random
        val services = Seq.tabulate(p.queues)(q =>
          if (q < 8) Service(strict = true, priority = q / 2) else Service(quantum = 1600 + random.nextInt(3000))
        )
        services.zipWithIndex.foreach { case (s, q) => bench.configure(q, s) }
        bench.configurePort(Service())
        def level(q: Int) = if (services(q).strict) 7 - services(q).priority else 8
        val heads = Array.fill[Option[Long]](p.queues)(None) // since when the queue has a packet to send
        val sent = Array.fill(p.queues)(0L)
        val longest = if (round == 0) 64 else 1500
        def length() = 64 + random.nextInt(longest - 63)
        def noted(enqueue: Option[(Int, Int)]) =
          enqueue.foreach { case (q, _) => if (heads(q).isEmpty) heads(q) = Some(bench.clocks) }
        // The queues of the round are filled while the way out waits, and never run empty then. Strict queues come and go.
        for (_ <- 0 until 6; q <- 8 until p.queues) {
          bench.clock(Some(q -> length()), ready = false)
          noted(Some(q -> 0))
        }
        val early = bench.left.size
        bench.left.foreach(d => heads(d.queue) = Some(bench.clocks))
        var checked = 0
        for (_ <- 0 until 6000) {
          val thirsty = (8 until p.queues).minBy(bench.queued(_).size)
          val to = if (bench.queued(thirsty).size < 5 || random.nextInt(6) > 0) thirsty else random.nextInt(8)
          val enqueue = Option.when(bench.free.size > 8 && bench.queued(to).size < 10)(to -> length())
          val before = bench.left.size
          bench.clock(enqueue, ready = random.nextInt(3) == 0)
          noted(enqueue)
          for (d <- bench.left.drop(before)) {
            for (q <- 0 until p.queues if level(q) < level(d.queue); since <- heads(q))
              assert(
                bench.clocks - since <= 8,
                s"queue ${d.queue} sends while $q waits since ${bench.clocks - since} clocks"
              )
            heads(d.queue) = Option.when(bench.queued(d.queue).nonEmpty)(bench.clocks)
            checked += 1
            // Shreedhar and Varghese: one that is backlogged is within a quantum and a packet of its share.
            if (level(d.queue) == 8) {
              assert(bench.queued(d.queue).nonEmpty, "a queue of the round ran empty, which the test is not for")
              if (before >= early) sent(d.queue) += d.lenBytes
            }
          }
          val rounds = (8 until p.queues).map(q =>
            (sent(q).toDouble / services(q).quantum, longest.toDouble / services(q).quantum)
          )
          val (most, least) = (rounds.maxBy(_._1), rounds.minBy(_._1))
          assert(most._1 - least._1 <= 1 + most._2 + least._2, s"rounds of each: ${rounds.map(_._1)}")
        }
        assert(checked > 500)
        bench.drain()
      }
    }
}
