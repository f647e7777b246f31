package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation

class StatPortSpec extends AnyFunSuite with Simulation {
  private val lanes = 3

  /** @param counts of 1000 clocks in which an event of a kind happens
    * @param ready  probability that the stream takes a beat
    */
  private case class Phase(
      name: String,
      clocks: Int,
      counts: Int,
      ready: Double,
      every: Int = 1,
      enable: Boolean = true
  )
  private val phases = Seq(
    Phase("mixed", 1500, 300, 0.7),
    Phase("every event in every clock", 1500, 1000, 1.0),
    Phase("the stream stalls until increments do not fit in 24 bits", 1500, 1000, 0.0),
    Phase("it takes a beat in 16 clocks, always in the same one", 3000, 1000, 1.0, every = 16),
    Phase("it takes a beat in 48 clocks", 3000, 100, 1.0, every = 48),
    Phase("not enabled", 500, 500, 0.7, enable = false),
    Phase("rare", 1500, 5, 0.5)
  )

  test("what comes out is what happened, by lane and counter, over stalls, large sums, another base and a reset") {
    simulate(new StatPort(lanes)) { dut =>
      val seed = 4501
      println(s"StatPortSpec seed $seed")
      val random = new Random(seed)
      val io = dut.io
      for (round <- 0 until 2) {
        StreamBench.reset(dut.clock, dut.reset)
        val happened, came = Array.fill(lanes * NicParams.StatIds)(BigInt(0))
        var base, clocks, large = 0
        var held = Option.empty[(BigInt, BigInt)]
        val bases = mutable.Set.empty[Int]

        def clock(p: Phase, quiet: Boolean): Unit = {
          io.enable.poke(p.enable.B)
          io.base.poke(base.U)
          for ((e, lane) <- io.events.zipWithIndex) {
            def happens() = !quiet && random.nextInt(1000) < p.counts
            def add(counter: Int, amount: Int): Unit =
              if (p.enable) happened(lane * NicParams.StatIds + counter) += amount
            def flag(port: Bool, counter: Int): Unit = {
              val on = happens()
              port.poke(on.B)
              if (on) add(counter, 1)
            }
            val verdict = random.nextInt(8)
            e.verdict.bits.poke(verdict.U)
            flag(e.verdict.valid, verdict)
            val evicted = if (happens()) 1 + random.nextInt(2) else 0
            e.evicted.poke(evicted.U)
            add(8, evicted)
            val lost = if (happens()) 1 + random.nextInt(2) else 0
            e.lost.poke(lost.U)
            add(9, lost)
            val bytes = random.nextInt(65536)
            e.sent.bits.poke(bytes.U)
            val sends = happens()
            e.sent.valid.poke(sends.B)
            if (sends) { add(10, 1); add(11, bytes) }
            val dropped = if (happens()) random.nextInt(1 << 18) else 0
            e.droppedBytes.poke(dropped.U)
            add(12, dropped)
            flag(e.ceWritten, 13)
            flag(e.completion, 14)
            flag(e.ptp, 15)
          }
          val ready = clocks % p.every == 0 && random.nextDouble() < p.ready
          io.out.ready.poke(ready.B)
          val beat =
            Option
              .when(io.out.valid.peek().litToBoolean)(io.out.bits.id.peek().litValue, io.out.bits.data.peek().litValue)
          assert(held.isEmpty || beat == held, s"${p.name}: an offered beat changed")
          held = if (ready) None else beat
          for ((id, data) <- beat if ready) {
            assert(data > 0)
            if (data == 0xffffff) large += 1
            came((id.toInt - base) & 0xfff) += data
          }
          dut.clock.step()
          clocks += 1
        }
        def drain(name: String): Unit = {
          for (_ <- 0 until 40 * 16 * lanes) clock(Phase("drain", 0, 0, 1.0), quiet = true)
          assert(!io.out.valid.peek().litToBoolean)
          for (i <- happened.indices)
            assert(came(i) == happened(i), s"$name: lane ${i / 16}, counter ${i % 16}")
        }
        for (p <- phases) {
          base = random.nextInt(4096)
          bases += base
          val before = came.clone()
          for (_ <- 0 until p.clocks) clock(p, quiet = false)
          if (p.every > 1)
            assert(came.zip(before).forall { case (x, y) => x > y }, s"${p.name}: a counter never came to its turn")
          drain(p.name)
        }
        assert(happened.forall(_ > 100) && large > 0)
        println(s"  round $round: ${happened.sum} in ${happened.length} counters, $large full increments")
      }
    }
  }
}
