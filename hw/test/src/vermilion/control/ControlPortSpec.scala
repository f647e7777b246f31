package vermilion.control

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.control.{RegisterMap => R}
import vermilion.lane.LaneParams

/** AXI4-Lite with random stalls on all five channels; the lane's side takes a commit when told, and answers a host read some clocks later. */
class ControlPortSpec extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 10, inputs = 2, stallable = Seq(false, true), protect = true)

  private class Host(dut: ControlPort, stall: Double) {
    val random = new Random(7)
    var takeCommit, takeHostRead = true
    val commits, services, classes, seeds, ports, snapshots = mutable.ArrayBuffer.empty[BigInt]
    var clears = 0
    private var answer = -1 // clocks until the averages come
    val losses = mutable.Queue.empty[(Int, Int)] // input and length of frames to lose, one a clock
    val lost = Array.fill(p.inputs)((BigInt(0), BigInt(0))) // frames and bytes
    private def value(x: Data): BigInt = x.peek().litValue

    /** What the lane sees in this clock. */
    def clock(): Unit = {
      val lane = dut.io.lane
      dut.io.lost.foreach(_.valid.poke(false.B))
      if (losses.nonEmpty) {
        val (input, lenBytes) = losses.dequeue()
        dut.io.lost(input).valid.poke(true.B)
        dut.io.lost(input).bits.poke(lenBytes.U)
        lost(input) = (lost(input)._1 + 1, lost(input)._2 + lenBytes)
      }
      lane.commit.ready.poke((takeCommit && random.nextDouble() >= stall).B)
      if (value(lane.commit.valid) == 1 && value(lane.commit.ready) == 1) commits += value(lane.commit.bits.queue)
      if (value(lane.service.valid) == 1) services += value(lane.service.bits.quantum)
      if (value(lane.classWrite.valid) == 1)
        classes += value(lane.classWrite.bits.address) * 100 + value(lane.classWrite.bits.entry.queue)
      if (value(lane.seed.valid) == 1) seeds ++= lane.seed.bits.elements.values.map(value)
      if (value(lane.portShaper.head.valid) == 1) ports += value(lane.portShaper.head.bits.burst)
      if (value(dut.io.statistics.clear) == 1) clears += 1
      lane.hostRead.ready.poke((takeHostRead && random.nextDouble() >= stall).B)
      lane.live.valid.poke((answer == 0).B)
      if (value(dut.io.statistics.snapshot.valid) == 1) snapshots += value(dut.io.statistics.snapshot.bits)
      if (answer >= 0) answer -= 1
      if (value(lane.hostRead.valid) == 1 && value(lane.hostRead.ready) == 1) {
        assert(answer < 0, "a host read was repeated")
        answer = 14
      }
      dut.clock.step()
    }

    /** Loses a frame in each of so many clocks, in which nothing else goes on and nothing else is looked at. */
    def loseAtOnce(input: Int, lenBytes: Int, frames: Int): Unit = {
      clock()
      dut.io.lost(input).valid.poke(true.B)
      dut.io.lost(input).bits.poke(lenBytes.U)
      dut.clock.step(frames)
      lost(input) = (lost(input)._1 + frames, lost(input)._2 + BigInt(lenBytes) * frames)
      clock()
    }

    /** Runs until all of the given channels have had their handshake; each begins after a stall of its own. */
    private def handshakes(limit: Int, each: (() => Boolean, Boolean => Unit)*): Boolean = {
      val open = each.to(mutable.ArrayBuffer)
      val waits = mutable.Map(each.map(_ -> (if (stall > 0) random.nextInt((stall * 12).toInt + 1) else 0)): _*)
      var clocks = 0
      while (open.nonEmpty && clocks < limit) {
        each.foreach { case e @ (_, drive) => drive(open.contains(e) && waits(e) == 0) }
        val fired = open.filter(e => waits(e) == 0 && e._1())
        clock()
        open --= fired
        each.foreach(e => if (waits(e) > 0) waits(e) -= 1)
        clocks += 1
      }
      each.foreach(_._2(false))
      open.isEmpty
    }

    /** True if answered within `limit` clocks. */
    def write(address: Int, data: BigInt, strb: Int = 15, limit: Int = 200): Boolean = {
      val axi = dut.io.axi
      axi.aw.bits.poke(address.U)
      axi.w.bits.data.poke((data & 0xffffffffL).U)
      axi.w.bits.strb.poke(strb.U)
      handshakes(
        limit,
        (() => value(axi.aw.ready) == 1, (on: Boolean) => axi.aw.valid.poke(on.B)),
        (() => value(axi.w.ready) == 1, (on: Boolean) => axi.w.valid.poke(on.B)),
        (() => value(axi.b.valid) == 1, (on: Boolean) => axi.b.ready.poke(on.B))
      )
    }
    def read(address: Int): BigInt = {
      val axi = dut.io.axi
      axi.ar.bits.poke(address.U)
      var data = BigInt(-1)
      assert(
        handshakes(
          200,
          (() => value(axi.ar.ready) == 1, (on: Boolean) => axi.ar.valid.poke(on.B)),
          (
            () => {
              val valid = value(axi.r.valid) == 1
              if (valid) data = value(axi.r.bits.data)
              valid
            },
            (on: Boolean) => axi.r.ready.poke(on.B)
          )
        ),
        s"no answer to a read of $address"
      )
      assert(value(axi.r.bits.resp) == 0)
      data
    }
  }

  private val loadCycles = 130 // from a commit to its offer, at most
  private val stored: Seq[(Int, BigInt)] =
    Seq(
      R.PortCost,
      R.PortBurstLow,
      R.PortBurstHigh,
      R.ClassAddress,
      R.ClassEntry,
      R.QueueSelect,
      R.TtlOption,
      R.ShadowDistance
    )
      .map(r => r() -> r.mask) ++
      Seq(R.ShadowFlags() -> (R.ShadowFlags.mask - (1 << R.ShadowFlags.markLate.low))) ++ // a build without codel
      Seq(R.ShadowLimit, R.ShadowLimitPackets, R.ShadowLambda, R.ShadowInvMeanLen, R.ShadowQuantum)
        .map(r => r() -> r.mask) ++
      Seq(R.ShadowCost, R.ShadowBurstLow, R.ShadowBurstHigh, R.ShadowIdleStepLow, R.ShadowIdleStepHigh)
        .map(r => r() -> r.mask) ++
      (0 until 6).map(i => R.ShadowWeight(i) -> R.ShadowWeight.mask) ++ (0 until 4).map(i =>
        R.Seed(i) -> R.Seed.mask
      ) ++
      (for {
        c <- 0 until 3
        k <- 0 until 2
        r <- Seq(
          R.ShadowColourCurveFlags,
          R.ShadowColourCurveMin,
          R.ShadowColourCurveMax,
          R.ShadowColourCurveEnd,
          R.ShadowColourCurveInv1,
          R.ShadowColourCurveSlope1,
          R.ShadowColourCurveInv2,
          R.ShadowColourCurveBase2,
          R.ShadowColourCurveSlope2,
          R.ShadowColourCurveSquare2
        )
      } yield r(c, k) -> r.mask) ++ (0 until 3).map(c => R.ShadowColourEcnOwn(c) -> R.ShadowColourEcnOwn.mask)

  behavior of "ControlPort"

  it should "keep what is written under any stalls and strobes, and commit the shadow as a whole" in
    simulate(new ControlPort(p)) { dut =>
      dut.reset.poke(true.B)
      dut.clock.step(2)
      dut.reset.poke(false.B)
      for (stall <- Seq(0.0, 0.6)) {
        val host = new Host(dut, stall)
        import host._
        if (stall == 0) assert(write(R.QueueSelect(), 0, limit = RegisterFile.Words + 10), "writes do not begin")
        assert(read(R.BlockType()) == 0x564d0001L && read(R.Version()) == 0x10007 && read(R.NextBlock()) == 0)
        assert(read(R.Queues()) == 10 && read(R.Cells()) == 4096 && read(R.DataBits()) == 64)
        assert(read(R.Inputs()) == 2 && read(R.EwmaStages()) == 6 && read(R.MaxFrameBytes()) == 9728)
        assert(read(R.Protect()) == 1 && read(R.Victims()) == 0 && read(R.Codel()) == 0)
        for (hole <- Seq(0x0c, 0x8c, 0x4fc, 0x5a8, 0xf00, 0x1600, 0xfffffc)) {
          assert(write(hole, 0xffffffffL))
          assert(read(hole) == 0, s"at $hole")
        }

        // random writes with random strobes against a map
        val expected = mutable.Map(stored.map { case (at, _) => at -> read(at) }: _*)
        for (_ <- 0 until 2; (at, mask) <- random.shuffle(stored)) {
          val data = BigInt(32, random)
          val strb = random.nextInt(16)
          assert(write(at, data, strb))
          val bits = (0 until 4).filter(i => ((strb >> i) & 1) == 1).map(i => BigInt(0xff) << (8 * i)).sum
          expected(at) = ((expected(at) & (BigInt("ffffffff", 16) ^ bits)) | (data & bits)) & mask
        }
        for ((at, value) <- expected) assert(read(at) == value, f"at 0x$at%x")
        assert(write(R.Status(), 0x100)) // some of the random class entries named missing queues
        assert(commits.isEmpty && services.isEmpty, "the shadow was shown without a commit")

        // commit: held back by the lane, later writes wait, the record is that of the commit
        assert(write(R.QueueSelect(), 9) && write(R.ShadowQuantum(), 1234) && write(R.ShadowLimit(), 777))
        takeCommit = false
        assert(write(R.Commit(), 1))
        assert((read(R.Status()) & 2) == 2, "pending commit not shown")
        assert(!write(R.ShadowLimit(), 888, limit = 40), "a write was answered while a commit was pending")
        for (_ <- 0 until loadCycles) clock()
        assert(dut.io.lane.commit.bits.config.decide.limit.peek().litValue == 777)
        takeCommit = true
        dut.io.axi.b.ready.poke(true.B)
        for (_ <- 0 until loadCycles) clock()
        dut.io.axi.b.ready.poke(false.B)
        assert(commits.toSeq == Seq(BigInt(9)) && services.toSeq == Seq(BigInt(1234)))
        assert(read(R.ShadowLimit()) == 888, "the waiting write was lost")
        assert((read(R.Status()) & 0x102) == 0)

        // every field reaches its place in the record, and not before the commit
        val lane = dut.io.lane.commit.bits.config
        def whileOffered(check: => Unit): Unit = {
          takeCommit = false
          assert(write(R.QueueSelect(), 9) && write(R.Commit(), 1))
          for (_ <- 0 until loadCycles) clock()
          assert(dut.io.lane.commit.valid.peek().litToBoolean)
          check
          takeCommit = true
          while (dut.io.lane.commit.valid.peek().litToBoolean) clock()
        }
        for (c <- 0 until 3; k <- 0 until 2) {
          assert(write(R.ShadowColourCurveFlags(c, k), 0x401) && write(R.ShadowColourCurveSlope2(c, k), 16 * c + k))
        }
        assert(write(R.ShadowWeight(5), (3 << 24) + 200) && write(R.ShadowLambda(), (41L << 24) + 65535))
        whileOffered {
          for (c <- 0 until 3; k <- 0 until 2) {
            val curve = if (k == 0) lane.colours(c).drop else lane.colours(c).ecn
            assert(curve.shape.slope2.peek().litValue == (BigInt(1) << 32) + 16 * c + k)
            assert(curve.shape.on.peek().litValue == 1)
          }
          val (weight, lambda) = (lane.average.weight(5), lane.average.lambda)
          assert(weight.mant.peek().litValue == 200 && weight.shift.peek().litValue == 3)
          assert(lambda.mant.peek().litValue == 65535 && lambda.shift.peek().litValue == 41)
        }
        // Each word of the record has values of its own: the whole record against what was written.
        val written = stored
          .filter(_._1 >= R.ShadowFlags())
          .map { case (at, mask) =>
            val data = BigInt(32, random) & mask
            assert(write(at, data))
            at -> data
          }
          .toMap
        whileOffered {
          for (c <- 0 until 3; k <- 0 until 2) {
            val curve = if (k == 0) lane.colours(c).drop else lane.colours(c).ecn
            def wide(of: R.Register, bit: Int) =
              written(of(c, k)) + (written(R.ShadowColourCurveFlags(c, k)) >> bit & 1) * (BigInt(1) << 32)
            assert(curve.shape.min.peek().litValue == written(R.ShadowColourCurveMin(c, k)))
            assert(curve.shape.max.peek().litValue == written(R.ShadowColourCurveMax(c, k)))
            assert(curve.shape.end.peek().litValue == written(R.ShadowColourCurveEnd(c, k)))
            assert(curve.shape.slope1.peek().litValue == wide(R.ShadowColourCurveSlope1, 8))
            assert(curve.shape.base2.peek().litValue == wide(R.ShadowColourCurveBase2, 9))
            assert(curve.shape.slope2.peek().litValue == wide(R.ShadowColourCurveSlope2, 10))
            for (
              (of, r) <- Seq(
                curve.shape.square2 -> R.ShadowColourCurveSquare2,
                curve.inverses(0) -> R.ShadowColourCurveInv1,
                curve.inverses(1) -> R.ShadowColourCurveInv2
              )
            ) assert(of.mant.peek().litValue + (of.shift.peek().litValue << 24) == written(r(c, k)))
          }
          for (c <- 0 until 3) assert(lane.colours(c).ecnOwn.peek().litValue == written(R.ShadowColourEcnOwn(c)))
          assert(lane.decide.limit.peek().litValue == written(R.ShadowLimit()))
          assert(lane.decide.limitPackets.peek().litValue == written(R.ShadowLimitPackets()))
          assert(dut.io.lane.service.bits.quantum.peek().litValue == written(R.ShadowQuantum()))
          val idleStep = written(R.ShadowIdleStepLow()) + (written(R.ShadowIdleStepHigh()) << 32)
          assert(lane.average.idleStep.peek().litValue == idleStep)
          for (i <- 0 until 6) {
            val weight = lane.average.weight(i)
            assert(weight.mant.peek().litValue + (weight.shift.peek().litValue << 24) == written(R.ShadowWeight(i)))
          }
        }
        commits.clear()

        // things past the build are ignored and flagged, until cleared
        assert(write(R.QueueSelect(), 10) && write(R.Commit(), 1) && write(R.Snapshot(), 1))
        assert((read(R.Status()) & 0x102) == 0x100 && commits.isEmpty && snapshots.isEmpty)
        assert(write(R.Status(), 0x100) && read(R.Status()) == 0)
        val before = classes.size
        assert(write(R.ClassAddress(), 46) && write(R.ClassEntry(), 10) && read(R.Status()) == 0x100)
        assert(write(R.Status(), 0x100) && write(R.ClassEntry(), 9))
        clock()
        assert(classes.drop(before).toSeq == Seq(BigInt(4609)))

        // lost frames: the lowest word takes the other three along, whatever is lost meanwhile
        def lostNow(i: Int) = {
          val low = read(R.LostFramesLow(i))
          val words = Seq(R.LostFramesHigh, R.LostBytesLow, R.LostBytesHigh).map(r => read(r(i)))
          (low + (words.head << 32), words(1) + (words(2) << 32))
        }
        for (_ <- 0 until 20) losses.enqueue((0, 65535), (1, 1 + random.nextInt(1518)))
        while (losses.nonEmpty) clock()
        for (i <- 0 until p.inputs) assert(lostNow(i) == lost(i), s"input $i")
        for (_ <- 0 until 10000) losses.enqueue((0, 65535))
        for (_ <- 0 until 20) {
          val (before, seen, after) = (lost(0), lostNow(0), lost(0))
          assert(seen._1 > before._1 && seen._1 <= after._1 && seen._1 < 10000, "the frames were not counted live")
          assert(seen._2 - before._2 == 65535 * (seen._1 - before._1), "frames and bytes are not of one clock")
        }
        while (losses.nonEmpty) clock()
        loseAtOnce(0, 65535, 60000) // bytes beyond 32 bits
        assert(lostNow(0) == lost(0) && lost(0)._2 > (BigInt(1) << 32) && lostNow(1) == lost(1))
        assert(read(R.LostFramesLow(2)) == 0, "an input that the build does not have")

        assert(write(R.TtlOption(), 0x1e9e) && write(R.ShadowDistance(), 0x105))
        val told = dut.io.lane.commit.bits.config
        whileOffered {
          assert(dut.io.lane.ttlOption.ip4.peek().litValue == 0x9e && dut.io.lane.ttlOption.ip6.peek().litValue == 0x1e)
          val distance = told.distance
          assert(distance.option.peek().litValue == 1 && distance.infer.peek().litValue == 0)
          assert(distance.share.peek().litValue == 1 && told.decide.ttlOption.peek().litValue == 1)
        }

        seeds.clear()
        for (i <- 0 until 4) assert(write(R.Seed(i), i + 1) && write(R.FlowSeed(i), i + 21))
        clock()
        assert(seeds.isEmpty, "a seed was applied before the last one was written")
        for (i <- 0 until 4) assert(write(R.MarkSeed(i), i + 11))
        clock()
        def words(first: Int) = (0 until 4).map(i => BigInt(first + i) << (32 * i)).sum
        assert(seeds.toSet == Set(words(1), words(11), words(21)) && seeds.size == 3)
        ports.clear()
        assert(write(R.PortBurstLow(), 5) && write(R.PortBurstHigh(), 1))
        clock()
        assert(ports.toSeq == Seq((BigInt(1) << 32) + 5))
        // A snapshot waits for the averages of the queue that was selected then, and shows that it does.
        takeHostRead = false
        assert(write(R.QueueSelect(), 3) && write(R.Snapshot(), 1) && write(R.QueueSelect(), 4))
        assert((read(R.Status()) & 4) == 4 && snapshots.isEmpty)
        takeHostRead = true
        for (_ <- 0 until 100) clock()
        assert(snapshots.toSeq == Seq(BigInt(3)) && (read(R.Status()) & 4) == 0)
        assert(write(R.Control(), 3))
        clock()
        assert(clears == 1 && read(R.Control()) == 1)
        for (i <- 0 until p.inputs) {
          lost(i) = (0, 0)
          assert(lostNow(i) == lost(i), "clear_statistics does not clear the lost frames")
        }

        val skipped = read(R.RefreshesSkipped())
        dut.io.lane.refreshSkipped.poke(true.B)
        for (_ <- 0 until 5) clock()
        dut.io.lane.refreshSkipped.poke(false.B)
        assert(read(R.RefreshesSkipped()) == skipped + 5)

        val upsets = dut.upsets.get
        for (
          (count, i) <- Seq(upsets.corrected, upsets.repaired, upsets.uncorrectable, upsets.beyondRepair).zipWithIndex
        ) {
          val shown = BigInt(32, random)
          count.poke(shown.U)
          clock()
          assert(read(R.Upsets(i)) == shown && write(R.Upsets(i), 0) && read(R.Upsets(i)) == shown)
        }
        upsets.failed.poke(true.B)
        clock()
        assert((read(R.Status()) & 0x300) == 0x200, "a failed memory is not shown")
        upsets.failed.poke(false.B)
        clock()

        // After a reset every register is 0, at once and for good.
        assert(write(R.ShadowBurstLow(), 99) && write(R.ShadowColourCurveMin(2, 1), 98))
        dut.reset.poke(true.B)
        dut.clock.step()
        dut.reset.poke(false.B)
        lost.indices.foreach(i => lost(i) = (0, 0))
        def areZero() = for ((at, _) <- stored) assert(read(at) == 0, f"at 0x$at%x after a reset")
        areZero()
        assert(write(R.QueueSelect(), 0, limit = RegisterFile.Words + 10))
        areZero()
      }
    }

  it should "answer a write in the fifth cycle, when the lane sees it" in // as docs/waves/register.json shows
    simulate(new ControlPort(p)) { dut =>
      dut.reset.poke(true.B)
      dut.clock.step(2)
      dut.reset.poke(false.B)
      val host = new Host(dut, 0)
      assert(host.write(R.QueueSelect(), 0, limit = RegisterFile.Words + 10))
      host.clock()
      val axi = dut.io.axi
      axi.aw.bits.poke(R.Pause().U)
      axi.w.bits.data.poke(1.U)
      axi.w.bits.strb.poke(15.U)
      Seq(axi.aw.valid, axi.w.valid, axi.b.ready).foreach(_.poke(true.B))
      assert(axi.aw.ready.peek().litToBoolean && axi.w.ready.peek().litToBoolean)
      val seen = for (_ <- 0 to 6) yield {
        val now = (axi.b.valid.peek().litToBoolean, dut.io.lane.paused(0).peek().litToBoolean)
        dut.clock.step()
        Seq(axi.aw.valid, axi.w.valid).foreach(_.poke(false.B))
        now
      }
      assert(seen.map(_._1).indexOf(true) == 5 && seen.count(_._1) == 1, "the answer")
      assert(seen.map(_._2).indexOf(true) == 5, "the register")
    }
}
