package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import vermilion.Simulation
import vermilion.lane.LaneParams

/** Queues that are configured while packets wait in them: the new service counts from the queue's next turn on. */
class ReconfiguredTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 1024)
  private val (queues, packets, length) = (8, 40, 64)
  private val round = Service(quantum = 10 * length)
  private val shaped = round.copy(costMant = 50000, costShift = 4) // 64 bytes cost 64 x 50000 / 2^4 ns: 0.2 ms

  /** Runs of packets of one queue, as they left: queue and how many. */
  private def runs(left: Seq[Left]): Seq[(Int, Int)] =
    left.foldLeft(Seq.empty[(Int, Int)]) {
      case (rest :+ ((queue, count)), next) if queue == next.queue => rest :+ (queue, count + 1)
      case (rest, next)                                            => rest :+ (next.queue, 1)
    }

  /** What leaves when all queues were filled behind a closed port, with `before`, and then `changed` is configured with `after`. */
  private def departures(p: LaneParams, before: Int => Service, changed: Int, after: Service): Seq[Left] = {
    var left = Seq.empty[Left]
    simulate(new SeenEgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 1)
      for (q <- 0 until queues) bench.configure(q, before(q))
      bench.configurePort(Service(costMant = 200000)) // a packet costs 0.3 s
      bench.clock(Some((queues - 1) -> 1500))
      for (_ <- 0 until 100) bench.clock()
      assert(bench.left.size == 1)
      bench.left.clear()
      for (_ <- 0 until packets; q <- 0 until queues) bench.clock(Some(q -> length))
      for (_ <- 0 until 20) bench.clock()
      bench.configure(changed, after)
      bench.configurePort(Service())
      bench.drain()
      left = bench.left.toSeq
    }
    assert(left.size == queues * packets)
    left
  }

  behavior of "EgressQueues"

  it should "send all of a queue that was lifted to a strict level in one run, from its turn on" in {
    val found = runs(departures(p, _ => round, 3, Service(strict = true, priority = 7)))
    assert(
      found.count(_._1 == 3) == 1 && found.indexWhere(_._1 == 3) <= 4,
      found.take(8)
    ) // another goes while it joins
    assert(found.contains(3 -> packets))
  }

  it should "share the round with a queue that was strict" in {
    val found =
      runs(
        departures(
          p,
          q => if (q == 5) Service(strict = true, priority = 7) else round,
          5,
          Service(quantum = 2 * length)
        )
      )
    val shared = found.init.filter(_._1 == 5) // at last it is alone
    assert(found.head._1 != 5 && shared.size >= 3 && shared.forall(_._2 == 2), found.take(12))
  }

  it should "give a queue its new quantum" in {
    val found = runs(departures(p, _ => round, 2, Service(quantum = 3 * length))).filter(_._1 == 2).map(_._2)
    assert(found.tail.init.forall(_ == 3), found)
  }

  it should "hold a queue to the shaper that it was given" in {
    val sent = departures(p, _ => round, 4, shaped).filter(_.queue == 4)
    val gaps = sent.zip(sent.tail).map { case (one, next) => next.now - one.now }
    assert(gaps.forall(gap => gap >= 200000 && gap < 201000), gaps)
  }

  it should "send unshaped what waited when a queue's shaper is taken away" in {
    val sent = departures(p, q => if (q == 6) shaped else round, 6, round)
    assert(sent.last.now - sent.head.now < 1000000, s"${sent.last.now - sent.head.now} ns")
  }

  it should "let a queue go at once that was kept aside when its shaper is taken away" in simulate(
    new SeenEgressQueues(p)
  ) { dut =>
    val bench = new EgressBench(dut, p, 1)
    bench.configure(6, shaped)
    bench.configure(1, round)
    for (_ <- 0 until packets) bench.clock(Some(6 -> length))
    for (_ <- 0 until 100) bench.clock()
    assert(bench.left.size == 1 && !bench.busy)
    assert(dut.io.wake.valid.peek().litToBoolean) // only time can help, and time stands still
    bench.configure(6, round)
    bench.drain()
    assert(bench.left.size == packets && bench.left.forall(_.now == 0), bench.left.map(_.now))
  }

  it should "forget a charge if its queue is configured meanwhile, and only then" in simulate(
    new SeenEgressQueues(p)
  ) { dut =>
    val bench = new EgressBench(dut, p, 1)
    for (configured <- Seq(6, 1); wait <- 0 to 10) {
      bench.configure(6, round.copy(costMant = (1 << 18) - 1)) // the slowest: a byte costs 0.26 ms
      bench.left.clear()
      for (_ <- 0 until 2) bench.clock(Some(6 -> length))
      for (_ <- 0 until 100 if bench.left.isEmpty) bench.clock()
      for (_ <- 0 until wait) bench.clock()
      assert(bench.left.size == 1)
      bench.configure(configured, round)
      for (_ <- 0 until 100) bench.clock()
      val left = if (configured == 6) 2 else 1
      assert(bench.left.size == left, s"queue $configured was configured $wait cycles after a departure of queue 6")
      bench.configure(6, round)
      for (_ <- 0 until 100) bench.clock()
      assert(bench.left.size == 2)
    }
    bench.drain()
  }
}
