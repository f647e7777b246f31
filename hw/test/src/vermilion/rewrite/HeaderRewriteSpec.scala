package vermilion.rewrite

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.Bits
import vermilion.lane.LaneParams

class HeaderRewriteSpec extends AnyFunSuite with Simulation {
  private def sum(words: Seq[Int]): Int = words.foldLeft(0) { (a, b) =>
    val s = a + b; (s & 0xffff) + (s >> 16)
  }
  private def words(bytes: Seq[Int]): Seq[Int] = bytes.grouped(2).map(p => p(0) * 256 + p(1)).toSeq

  private case class Job(
      bytes: Seq[Int],
      first: Boolean,
      version: Int,
      offset: Int,
      ce: Option[Unit],
      dscp: Option[Int],
      checksumOff: Int
  ) {

    /** Recomputed from scratch over the header (not incrementally), then wrong by as much as it was. */
    def expected: (Seq[Int], Boolean, Boolean) =
      if (!first || version == 0) (bytes, false, false)
      else {
        val traffic = if (version == 4) bytes(offset + 1) else (bytes(offset) % 16) * 16 + bytes(offset + 1) / 16
        val ect = traffic % 4 == 1 || traffic % 4 == 2
        val now = dscp.getOrElse(traffic / 4) * 4 + (if (ce.isDefined && ect) 3 else traffic % 4)
        if (now == traffic) (bytes, false, false)
        else {
          val out = bytes.toArray
          if (version == 4) {
            out(offset + 1) = now
            out(offset + 10) = 0
            out(offset + 11) = 0
            val right = 0xffff - sum(words(out.slice(offset, offset + 20).toSeq))
            val wrong = sum(Seq(right, checksumOff))
            out(offset + 10) = wrong >> 8
            out(offset + 11) = wrong & 255
          } else {
            out(offset) = out(offset) / 16 * 16 + now / 16
            out(offset + 1) = now % 16 * 16 + out(offset + 1) % 16
          }
          (out.toSeq, ce.isDefined && ect, now / 4 != traffic / 4)
        }
      }
  }

  private def job(random: Random): Job = {
    val bytes = Array.fill(64)(random.nextInt(256))
    val version = Seq(4, 4, 4, 6, 6, 0)(random.nextInt(6))
    val offset = Seq(14, 18, 22)(random.nextInt(3))
    val off = if (random.nextInt(3) == 0) random.nextInt(0xfffe) + 1 else 0
    if (version == 4) {
      bytes(offset) = 0x45
      bytes(offset + 10) = 0
      bytes(offset + 11) = 0
      val c = sum(Seq(0xffff - sum(words(bytes.slice(offset, offset + 20).toSeq)), off))
      bytes(offset + 10) = c >> 8
      bytes(offset + 11) = c & 255
    }
    val ce = if (random.nextBoolean()) Some(()) else None
    val dscp = if (random.nextBoolean()) Some(random.nextInt(64)) else None
    if (version == 4 && random.nextInt(8) == 0) {
      // Nothing to change: then even a checksum of 0xffff, which eqn. 3 alone would turn into 0, must stay.
      bytes(offset + 10) = 0xff
      bytes(offset + 11) = 0xff
      return Job(bytes.toSeq, true, version, offset, None, Some(bytes(offset + 1) / 4), 0)
    }
    Job(bytes.toSeq, random.nextInt(4) != 0, version, offset, ce, dscp, off)
  }

  test(
    "only the TOS word and its checksum change, a wrong checksum stays as wrong, CE only over ECT; with random stalls and at full rate"
  ) {
    simulate(new RewrittenCells(LaneParams.lab)) { dut =>
      val seed = 3168L
      println(s"HeaderRewriteSpec seed $seed")
      val random = new Random(seed)
      dut.reset.poke(true.B)
      dut.clock.step()
      dut.reset.poke(false.B)
      val in = dut.io.in.bits
      val out = dut.io.out.bits
      for (name <- Seq("full rate", "stalls")) {
        val jobs = Seq.fill(2500)(job(random))
        val waiting = mutable.Queue.from(jobs)
        val expected = mutable.Queue.from(jobs.map(_.expected))
        var holding = false
        var clocks = 0
        var marks = 0
        while (expected.nonEmpty) {
          val stalls = name == "stalls"
          holding = waiting.nonEmpty && (holding || !stalls || random.nextBoolean())
          dut.io.in.valid.poke(holding.B)
          if (holding) {
            val j = waiting.head
            in.cell.data.poke(Bits.pack(j.bytes).U)
            in.cell.first.poke(j.first.B)
            in.cell.last.poke(true.B)
            in.cell.bytes.poke(64.U)
            in.queueEntry.isIp4.poke((j.version == 4).B)
            in.queueEntry.isIp6.poke((j.version == 6).B)
            in.queueEntry.l3Offset.poke(j.offset.U)
            in.queueEntry.setCe.poke(j.ce.isDefined.B)
            in.queueEntry.setDscp.poke(j.dscp.isDefined.B)
            in.queueEntry.dscp.poke(j.dscp.getOrElse(random.nextInt(64)).U)
          }
          val ready = !stalls || random.nextBoolean()
          dut.io.out.ready.poke(ready.B)
          if (ready && dut.io.out.valid.peek().litToBoolean) {
            val (bytes, ce, dscp) = expected.dequeue()
            assert(Bits.unpack(out.cell.data.peek().litValue, 64) == bytes)
            assert(out.ceWritten.peek().litToBoolean == ce)
            assert(out.dscpWritten.peek().litToBoolean == dscp)
            if (ce) marks += 1
          }
          if (holding && dut.io.in.ready.peek().litToBoolean) { waiting.dequeue(); holding = false }
          dut.clock.step()
          clocks += 1
        }
        if (name == "full rate") assert(clocks == jobs.size + 2, "a cell a clock, two clocks of latency")
        assert(marks > 200)
      }
    }
  }
}
