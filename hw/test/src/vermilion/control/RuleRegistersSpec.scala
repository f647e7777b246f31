package vermilion.control

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random
import vermilion.Simulation
import vermilion.control.{RegisterMap => R}
import vermilion.lane.LaneParams

/** The registers of rules: what the table of a lane gets, what is refused, and what is read. The table itself is the test. */
class RuleRegistersSpec extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 24, cells = 256, flows = 0, rules = 16, egresses = 1)

  private class Host(dut: ControlPort) {
    val rules = dut.io.lane.rules.get

    /** Of the writes to the table since the last one: (rule, word, data), (range, low, high), commits, snapshots. */
    var words, ranges = Seq.empty[Seq[BigInt]]
    var commits, snapshots = Seq.empty[BigInt]

    private def step(): Unit = {
      val (word, range) = (rules.write.bits, rules.range.bits)
      if (rules.write.valid.peek().litToBoolean) words :+= Seq(word.rule, word.word, word.data).map(_.peek().litValue)
      if (rules.range.valid.peek().litToBoolean)
        ranges :+= Seq(range.range, range.low, range.high).map(_.peek().litValue)
      if (rules.commit.peek().litToBoolean) commits :+= BigInt(1)
      if (rules.snapshot.valid.peek().litToBoolean) snapshots :+= rules.snapshot.bits.peek().litValue
      dut.clock.step()
    }

    def start(): Unit = {
      dut.reset.poke(true.B)
      dut.clock.step(2)
      dut.reset.poke(false.B)
      dut.io.axi.b.ready.poke(true.B)
      dut.io.axi.r.ready.poke(true.B)
      write(R.QueueSelect(), 0)
    }

    def write(address: Int, data: BigInt): Unit = {
      words = Nil
      ranges = Nil
      commits = Nil
      snapshots = Nil
      val axi = dut.io.axi
      axi.aw.bits.poke(address.U)
      axi.w.bits.data.poke(data.U)
      axi.w.bits.strb.poke(15.U)
      axi.aw.valid.poke(true.B)
      axi.w.valid.poke(true.B)
      var (hasAddress, hasData, clocks) = (true, true, 0)
      var answered = false
      while (!answered) {
        val (takesAddress, takesData) = (axi.aw.ready.peek().litToBoolean, axi.w.ready.peek().litToBoolean)
        answered = axi.b.valid.peek().litToBoolean
        step()
        hasAddress &&= !takesAddress
        hasData &&= !takesData
        axi.aw.valid.poke(hasAddress.B)
        axi.w.valid.poke(hasData.B)
        clocks += 1
        assert(clocks < RegisterFile.Words + 100, s"a write of $address is not answered")
      }
      for (_ <- 0 until 4) step()
    }

    def read(address: Int): BigInt = {
      val axi = dut.io.axi
      axi.ar.bits.poke(address.U)
      axi.ar.valid.poke(true.B)
      while (!axi.ar.ready.peek().litToBoolean) dut.clock.step()
      dut.clock.step()
      axi.ar.valid.poke(false.B)
      while (!axi.r.valid.peek().litToBoolean) dut.clock.step()
      val data = axi.r.bits.data.peek().litValue
      dut.clock.step()
      data
    }

    def isBad: Boolean = {
      val is = R.Status.badRule.low
      val found = (read(R.Status()) >> is & 1) == 1
      write(R.Status(), BigInt(1) << is)
      assert((read(R.Status()) >> is & 1) == 0, "bad_rule stays")
      found
    }
  }

  behavior of "The registers of rules"

  they should "give each word to the table once, and refuse what the build lacks or what comes during a commit" in
    simulate(new ControlPort(p)) { dut =>
      val random = new Random(11)
      info("seed 11")
      val host = new Host(dut)
      host.start()
      assert(host.read(R.Rules()) == 16)
      val setsQueue = BigInt(1) << R.RuleAction.setsQueue.low
      val setsMarker = BigInt(1) << R.RuleMarker.setsMarker.low
      for (turn <- 0 until 60) {
        val pending = turn % 3 == 2
        host.rules.pending.poke(pending.B)
        assert((host.read(R.Status()) >> R.Status.rulesPending.low & 1) == (if (pending) 1 else 0))
        val rule = random.nextInt(20)
        host.write(R.RuleSelect(), rule)
        assert(host.snapshots == (if (rule < 16) Seq(BigInt(rule)) else Nil))
        assert(host.isBad == (rule >= 16))

        val (value, mask, at) = (BigInt(32, random), BigInt(32, random), random.nextInt(11))
        val queue = random.nextInt(30)
        val action = BigInt(queue) | (if (random.nextBoolean()) setsQueue else 0) | BigInt(1) << 31
        val marker = BigInt(queue) | (if (random.nextBoolean()) setsMarker else 0)
        def lacks(word: BigInt, sets: BigInt): Boolean = (word & sets) != 0 && queue >= p.queues
        for (
          (address, number, data, isElsewhere) <- Seq(
            (R.RuleValue(at), at, value, false),
            (R.RuleMask(at), 16 + at, mask, false),
            (R.RuleAction(), 11, action, lacks(action, setsQueue)),
            (R.RuleMarker(), 27, marker, lacks(marker, setsMarker))
          )
        ) {
          host.write(address, data)
          val taken = rule < 16 && !pending && !isElsewhere
          assert(host.words == (if (taken) Seq(Seq[BigInt](rule, number, data)) else Nil), s"$address")
          assert(host.isBad == !taken)
          assert(host.read(address) == data, "a register reads as last written")
        }
        val (range, low, high) = (random.nextInt(16), random.nextInt(65536), random.nextInt(65536))
        host.write(R.PortRange(range), BigInt(high) << 16 | low)
        assert(host.ranges == (if (pending) Nil else Seq(Seq[BigInt](range, low, high))))
        assert(host.isBad == pending)
        host.write(R.RuleCommit(), 1)
        assert(host.commits.size == (if (pending) 0 else 1))
        assert(host.isBad == pending)
        host.write(R.QueueSelect(), 0)
        assert(host.words.isEmpty && host.ranges.isEmpty && host.commits.isEmpty && host.snapshots.isEmpty)

        val (packets, bytes) = (BigInt(64, random), BigInt(64, random))
        host.rules.counts.packets.poke(packets.U)
        host.rules.counts.bytes.poke(bytes.U)
        val low32 = (BigInt(1) << 32) - 1
        assert(host.read(R.RuleCountsPacketsLow()) == (packets & low32))
        assert(host.read(R.RuleCountsPacketsHigh()) == packets >> 32)
        assert(host.read(R.RuleCountsBytesLow()) == (bytes & low32))
        assert(host.read(R.RuleCountsBytesHigh()) == bytes >> 32)
      }
    }
}
