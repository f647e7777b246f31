package vermilion.schedule

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** What a test asks of one queue. */
case class Service(
    strict: Boolean = false,
    priority: Int = 0,
    quantum: Int = 2000,
    costMant: Int = 0,
    costShift: Int = 0,
    burstNs: Long = 0
)

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

  private case class Left(queue: Int, lenBytes: Int, now: Long, clock: Long)

  private class Bench(dut: EgressQueues, p: LaneParams, seed: Int) {
    val random = new Random(seed)
    val free = mutable.Queue.from(0 until p.cells)
    val queued = Array.fill(p.queues)(mutable.Queue.empty[(Int, Int)]) // cell, length
    val leaving = mutable.Queue.empty[Int] // cells in the order of departure
    val left = mutable.ArrayBuffer.empty[Left]
    var now, clocks = 0L
    var sent, received = 0
    dut.io.descriptor.ready.poke(true.B)

    def configure(queue: Int, s: Service): Unit = {
      val c = dut.io.configure
      c.valid.poke(true.B)
      c.bits.queue.poke(queue.U)
      c.bits.strict.poke(s.strict.B)
      c.bits.priority.poke(s.priority.U)
      c.bits.quantum.poke(s.quantum.U)
      shaper(c.bits.shaper, s)
      clock()
      c.valid.poke(false.B)
    }

    def configurePort(s: Service): Unit = {
      dut.io.configurePort.valid.poke(true.B)
      shaper(dut.io.configurePort.bits, s)
      clock()
      dut.io.configurePort.valid.poke(false.B)
    }

    private def shaper(c: ShaperConfig, s: Service): Unit = {
      c.costMant.poke(s.costMant.U)
      c.costShift.poke(s.costShift.U)
      c.burstNs.poke(s.burstNs.U)
    }

    def clock(enqueue: Option[(Int, Int)] = None, ready: Boolean = true): Unit = {
      dut.io.now.poke(now.U)
      dut.io.enqueue.valid.poke(enqueue.isDefined.B)
      enqueue.foreach { case (q, len) =>
        val cell = free.dequeue()
        sent += 1
        queued(q).enqueue(cell -> len)
        dut.io.enqueue.bits.queue.poke(q.U)
        dut.io.enqueue.bits.descriptor.headCell.poke(cell.U)
        dut.io.enqueue.bits.descriptor.lenBytes.poke(len.U)
        dut.io.enqueue.bits.descriptor.cells.poke(((len + 63) / 64).U)
      }
      dut.io.descriptor.ready.poke(ready.B)
      if (dut.io.departed.valid.peek().litToBoolean) {
        val q = dut.io.departed.bits.queue.peek().litValue.toInt
        val (cell, len) = queued(q).dequeue()
        dut.io.departed.bits.lenBytes.expect(len.U)
        leaving.enqueue(cell)
        left.append(Left(q, len, now, clocks))
      }
      if (ready && dut.io.descriptor.valid.peek().litToBoolean) {
        val cell = leaving.dequeue()
        dut.io.descriptor.bits.headCell.expect(cell.U)
        free.enqueue(cell)
        received += 1
      }
      dut.clock.step()
      clocks += 1
    }

    def busy: Boolean = dut.io.busy.peek().litToBoolean

    /** A clock in which time stands still, or, when only time can help, a jump to where it does. */
    def clockOrJump(enqueue: Option[(Int, Int)] = None): Unit = {
      if (enqueue.isEmpty && !busy && dut.io.wake.valid.peek().litToBoolean) {
        val wake = dut.io.wake.bits.peek().litValue.toLong
        assert(wake > now, s"wake at $wake, but it is $now")
        now = wake
      }
      clock(enqueue)
    }

    def drain(): Unit = {
      var patience = 0
      while (received < sent) {
        val before = received
        clockOrJump()
        patience = if (received == before) patience + 1 else 0
        assert(patience < 3000, s"nothing leaves, ${sent - received} packets stay")
      }
      for (_ <- 0 until 10) clock()
      assert(!busy && queued.forall(_.isEmpty) && free.size == p.cells)
    }
  }

  behavior of "EgressQueues"

  private def followsReference(p: LaneParams): Unit =
    simulate(new EgressQueues(p)) { dut =>
      val bench = new Bench(dut, p, 3)
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
      val bench = new Bench(dut, p, 4)
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
        var next = BigInt(0)
        for (d <- bench.left) {
          val may = (next + 65535) >> 16
          assert(
            BigInt(d.now) == may.max(bench.left.head.now),
            s"a packet left at ${d.now} ns, at $rate b/s it may at $may"
          )
          next = next
            .max(BigInt((d.now - s.burstNs).max(0)) << 16) + ((BigInt(d.lenBytes) * s.costMant << 16) >> s.costShift)
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
      val bench = new Bench(dut, p, 5)
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
        var next = BigInt(0)
        for (d <- bench.left if q < 0 || d.queue == q) {
          assert((BigInt(d.now) << 16) >= next, s"queue $q sent too early")
          next = next
            .max(BigInt((d.now - s.burstNs).max(0)) << 16) + ((BigInt(d.lenBytes) * s.costMant << 16) >> s.costShift)
        }
      }
      bench.drain()
    }

  it should "lose and reorder nothing when packets and the way out come and go at random" in
    simulate(new EgressQueues(p)) { dut =>
      val bench = new Bench(dut, p, 6)
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
}
