package vermilion.schedule

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random
import vermilion.lane.LaneParams

/** What one egress of several does to the others: nothing. */
class EgressesTest extends AnyFlatSpec with ChiselSim {
  private val p = LaneParams(cells = 1024, queues = 32, egresses = 4)
  private val share = p.queues / p.egresses
  private val clocks = 3000

  /** Packets a clock: some queue of some egress, or none. */
  private def arrivals(seed: Int): Seq[Option[(Int, Int)]] = {
    val random = new Random(seed)
    Seq.fill(clocks)(Option.when(random.nextInt(8) == 0)(random.nextInt(p.queues) -> (64 + random.nextInt(1455))))
  }

  /** The packets that left, with their clocks. `takes` says in which clock which egress's descriptors are taken. */
  private def left(comes: Seq[Option[(Int, Int)]], takes: (Int, Int) => Boolean, paused: Set[Int] = Set.empty)(
      egresses: Int => Boolean
  ): Seq[Left] = {
    var result = Seq.empty[Left]
    simulate(new EgressQueues(p)) { dut =>
      val bench = new EgressBench(dut, p, 1)
      for (queue <- 0 until p.queues)
        bench.configure(queue, Service(strict = queue % 3 == 0, priority = queue % 5, quantum = 500 + 100 * queue))
      paused.foreach(bench.pause(_, on = true))
      for ((packet, clock) <- comes.zipWithIndex)
        bench.clock(packet.filter(_ => bench.free.nonEmpty), takes = takes(_, clock))
      for (clock <- clocks until clocks + 2000) bench.clock(takes = takes(_, clock))
      result = bench.left.filter(packet => egresses(bench.egressOf(packet.queue))).toSeq
      if (paused.nonEmpty) {
        assert(!bench.busy, "a paused egress keeps the block busy")
        paused.foreach(bench.pause(_, on = false))
        bench.drain()
      }
    }
    result
  }

  private def steady(egress: Int, clock: Int): Boolean = (clock + egress) % 3 != 0

  behavior of "An egress"

  it should "send nothing while it is paused, and change no other's packet by a clock" in {
    val (seed, paused) = (11, 1)
    info(s"seed $seed")
    val comes = arrivals(seed)
    val alone = left(comes.map(_.filter(_._1 / share != paused)), steady)(_ != paused)
    assert(alone.size > 200)
    assert(left(comes, steady, Set(paused))(_ != paused) == alone)
    assert(left(comes, steady, Set(paused))(_ == paused).isEmpty)
  }

  it should "change no other's packet by a clock when nobody takes what it sends" in {
    val (seed, stuck) = (12, 2)
    info(s"seed $seed")
    val comes = arrivals(seed).map(_.filter(_._1 / share != stuck)).zipWithIndex.map { case (packet, clock) =>
      if (clock < 40) Some((stuck * share + clock % share) -> 1500) else packet
    }
    def takes(egress: Int, clock: Int) = egress != stuck && steady(egress, clock)
    val alone = left(comes.map(_.filter(_._1 / share != stuck)), takes)(_ != stuck)
    assert(alone.size > 200)
    assert(left(comes, takes)(_ != stuck) == alone)
  }
}
