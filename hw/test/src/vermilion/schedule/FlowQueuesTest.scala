package vermilion.schedule

import org.scalatest.flatspec.AnyFlatSpec
import vermilion.Simulation
import vermilion.lane.LaneParams

/** Queues that hold flows, with a packet in every second or third cycle: they become empty, come first and get packets in the same cycle. */
class FlowQueuesTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 8, cells = 256, codel = true, fq = true)

  "queues with flows" should "lose and reorder nothing, while queues are configured anew" in simulate(
    new SeenEgressQueues(p)
  ) { dut =>
    val seed = 12
    info(s"seed $seed")
    val bench = new EgressBench(dut, p, seed)
    val random = bench.random
    for (phase <- 0 until 24) {
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
      val queues = 2 + random.nextInt(p.queues - 1)
      val arrive = Seq(0.3, 0.4, 0.5)(phase % 3)
      for (_ <- 0 until 1500) {
        bench.now += 4
        val comes = random.nextDouble() < arrive && bench.free.nonEmpty
        val enqueue = Option.when(comes)(random.nextInt(queues) -> Seq(64, 64, 128)(random.nextInt(3)))
        bench.clock(enqueue, ready = random.nextInt(10) > 0)
      }
    }
    bench.drain()
    assert(bench.received > 8000)
  }
}
