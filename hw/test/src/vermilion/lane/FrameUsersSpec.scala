package vermilion.lane

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.stream.Verdict

class FrameUsersSpec extends AnyFunSuite with Simulation {
  private val p = LaneParams(queues = 4, cells = 256, victims = 4, flows = 0, userBits = 23, evictedBits = Some(9))

  /** What the headers say, and whether that is a PTP event. */
  private case class Kind(ptpType: Boolean, ports: Boolean, proto: Int, port: Int) {
    def event: Boolean = ptpType || ports && proto == 17 && port == 319
  }
  private case class Frame(user: Int, input: Int, kind: Kind, cell: Int)

  test("users come with their frame's fate, and go on as kept, to the way out, to evictions and to flushes") {
    simulate(new FrameUsers(p)) { dut =>
      val seed = 20261122L
      println(s"FrameUsersSpec seed $seed")
      val random = new Random(seed)
      def chance(probability: Double) = random.nextDouble() < probability
      def user() = random.nextInt(1 << p.userBits)
      val kinds = for {
        ptpType <- Seq(true, false, false); ports <- Seq(true, false); proto <- Seq(17, 6); port <- Seq(319, 320, 318)
      } yield Kind(ptpType, ports, proto, port)

      val deciding = mutable.Queue[Frame]() // between descriptor and decision
      val queued = mutable.LinkedHashMap[Int, Int]() // by head cell, the user as kept
      val onTheWay = mutable.Queue[Int]() // users of frames between the reader and the last beat
      var evictedNext = Option.empty[Int] // what the clock to come must show
      var (fates, evictions, flushed, departures, events) = (0, 0, 0, 0, 0)
      var freshCell = 0
      dut.reset.poke(true.B)
      dut.clock.step()
      dut.reset.poke(false.B)

      for (clock <- 0 until 20000) {
        val busy = if (clock / 500 % 2 == 0) 1.0 else 0.4
        // -- a descriptor --
        val comes = deciding.size < FrameUsers.Deciding && queued.size + deciding.size < p.cells && chance(busy)
        dut.io.descriptor.valid.poke(comes.B)
        val descriptor = dut.io.descriptor.bits
        while (queued.contains(freshCell) || deciding.exists(_.cell == freshCell)) freshCell = (freshCell + 1) % p.cells
        val kind = kinds(random.nextInt(kinds.size))
        val frame = Frame(user(), random.nextInt(p.inputs), kind, freshCell)
        descriptor.user.poke(frame.user.U)
        descriptor.headers.isPtpType.poke(kind.ptpType.B)
        descriptor.headers.hasPorts.poke(kind.ports.B)
        descriptor.headers.proto.poke(kind.proto.U)
        descriptor.headers.dstPort.poke(kind.port.U)

        // -- a decision, sometimes one of no packet --
        val decides = deciding.nonEmpty && chance(if (deciding.size > 50) 1.0 else busy)
        val refresh = !decides && chance(0.3)
        dut.io.decision.valid.poke((decides || refresh).B)
        val decision = dut.io.decision.bits
        val verdict = if (chance(0.6)) Verdict.Enqueue else random.nextInt(1 << Verdict.Bits)
        val victim = queued.keys.toSeq.filter(_ => decides && chance(0.05)).headOption
        decision.refresh.poke(refresh.B)
        decision.verdict.poke(verdict.U)
        decision.pushOut.poke((victim.nonEmpty || chance(0.3)).B)
        decision.outcome.evicted.poke(victim.nonEmpty.B)
        decision.outcome.victim.cell.poke(victim.getOrElse(random.nextInt(p.cells)).U)
        decision.headCell.poke(deciding.headOption.map(_.cell).getOrElse(random.nextInt(p.cells)).U)
        val keep = user()
        dut.io.report.keep.poke(keep.U)

        // -- a frame that is flushed, one that goes to the rewrite, a last beat --
        dut.io.mayDiscard.expect((victim.isEmpty || !decides).B)
        val discards = queued.keys.headOption.filter(_ => victim.isEmpty && chance(0.1))
        dut.io.discarded.valid.poke(discards.nonEmpty.B)
        dut.io.discarded.bits.poke(discards.getOrElse(random.nextInt(p.cells)).U)
        val leaves = queued.keys.headOption.filter(cell =>
          onTheWay.size < 3 && discards.isEmpty && !victim.contains(cell) && chance(0.5)
        )
        dut.io.leaving.head.valid.poke(leaves.nonEmpty.B)
        dut.io.leaving.head.bits.poke(leaves.getOrElse(random.nextInt(p.cells)).U)

        // -- what must be seen in this clock --
        dut.io.report.fate.valid.expect(decides.B)
        if (decides) {
          val due = deciding.dequeue()
          val admitted = verdict == Verdict.Enqueue || verdict == Verdict.Mark
          dut.io.report.fate.bits.user.expect(due.user.U)
          dut.io.report.fate.bits.ptpEvent.expect(due.kind.event.B)
          dut.io.report.fate.bits.admitted.expect(admitted.B)
          fates += 1
          if (due.kind.event) events += 1
          victim.foreach { cell =>
            evictions += 1
            evictedNext = Some(queued.remove(cell).get)
          }
          if (admitted) queued(due.cell) = keep
        }
        val sends = sentable.nonEmpty && chance(0.5)
        if (sentable.nonEmpty) dut.io.sent.head.expect(onTheWay.head.U)
        dut.io.sentLast.head.poke(sends.B)
        if (sends) { onTheWay.dequeue(); sentable.dequeue(); departures += 1 }
        discards.foreach { cell =>
          flushed += 1
          evictedNext = Some(queued.remove(cell).get)
        }
        leaves.foreach { cell => onTheWay.enqueue(queued.remove(cell).get) }
        if (comes) deciding.enqueue(frame)

        dut.clock.step()
        settle(leaves.nonEmpty)
        dut.io.report.evicted.valid.expect(evictedNext.nonEmpty.B)
        evictedNext.foreach(u => dut.io.report.evicted.bits.expect((u % (1 << 9)).U))
        evictedNext = None
      }
      println(s"$fates fates, $events PTP events, $evictions evictions, $flushed flushed, $departures departures")
      assert(fates > 5000 && events > 500 && evictions > 500 && flushed > 500 && departures > 2000)
    }
  }

  // A user stands at `sent` two clocks after its frame has left for the rewrite, as in the lane, where that takes three to the first beat.
  private val sentable = mutable.Queue[Unit]()
  private var onItsWay = false
  private def settle(left: Boolean): Unit = {
    if (onItsWay) sentable.enqueue(())
    onItsWay = left
  }
}
