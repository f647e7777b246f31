package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import vermilion.{Nightly, Simulation}
import vermilion.fixed.MemoryKind
import vermilion.lane.LaneParams

/** Queues that hold flows, with a packet in every second or third cycle: they become empty, come first and get packets in the same cycle. */
class FlowQueuesTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 8, cells = 256, codel = true, fq = true)

  "queues with flows" should "lose and reorder nothing, while queues are configured anew" in run(p, 12)

  if (Nightly.is) {
    it should "do so in block RAM" in MemoryKind.lutDepth.withValue(0)(run(p, 13))

    it should "do so with two egresses" in run(p.copy(egresses = 2), 14)
  }

  private def run(p: LaneParams, seed: Int): Unit = simulate(new SeenEgressQueues(p)) { dut =>
    info(s"seed $seed")
    val bench = new EgressBench(dut, p, seed)
    val random = bench.random
    for (phase <- 0 until 16) {
      for (q <- 0 until p.queues) {
        val shaped = random.nextInt(8) == 0
        val service = Service(
          strict = random.nextInt(8) == 0,
          quantum = Seq(64, 64, 128, 1514)(random.nextInt(4)),
          costMant = if (shaped) 1000 else 0,
          costShift = 8,
          flows = random.nextInt(8) > 0
        )
        bench.configure(q, service)
        bench.clock()
      }
      val port = if (phase % 4 == 3) 2000 else 0
      for (e <- 0 until p.egresses) bench.configurePort(Service(costMant = port, costShift = 14), e)
      val queues = 2 + random.nextInt(p.queues - 1)
      val arrive = Seq(0.3, 0.4, 0.5)(phase % 3)
      for (_ <- 0 until 1500) {
        bench.now += 4
        if (random.nextInt(100) == 0) bench.pause(random.nextInt(p.egresses), random.nextInt(4) == 0)
        if (random.nextInt(100) == 0) bench.flush(random.nextInt(p.egresses), random.nextInt(8) == 0)
        if (random.nextInt(100) == 0) bench.flush(Option.when(random.nextInt(8) == 0)(random.nextInt(p.queues)))
        val comes = random.nextDouble() < arrive && bench.free.nonEmpty
        val enqueue = Option.when(comes)(random.nextInt(queues) -> Seq(64, 64, 128)(random.nextInt(3)))
        bench.clock(enqueue, ready = random.nextInt(10) > 0)
      }
    }
    for (e <- 0 until p.egresses) {
      bench.pause(e, on = false)
      bench.flush(e, on = false)
    }
    bench.flush(None)
    bench.drain()
    assert(bench.received > 4000)
  }
}
