package vermilion.queue

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** Random enqueues and takes, up to one of each a clock, against plain Scala queues. The bench knows a queue's first packet only from what
  * the block has said, as the scheduler does.
  */
class QueueManagerTest extends AnyFlatSpec with Simulation {
  private case class Packet(cell: Int, lenBytes: Int)

  private class Bench(dut: QueueManager, p: LaneParams, seed: Int) {
    val random = new Random(seed)
    val free = mutable.Queue.from(random.shuffle((0 until p.cells).toList))
    val model = Array.fill(p.queues)(mutable.Queue.empty[Packet]) // as of the clock before
    val backlogged = Array.fill(p.queues)(false)
    val first = Array.fill[Option[Packet]](p.queues)(None) // what may be taken, as the block said
    var entering: Option[(Int, Packet)] = None
    var taken: Option[(Int, Packet, Boolean)] = None // and whether it was thought the last
    var looked: Seq[Int] = Seq(0, 0)
    var asked: Option[(Int, Packet)] = None // whose successor, which is that packet
    val newest = Array.fill(p.queues)(-1)
    var sent, received, refills, becameIdle = 0

    private def arrival(packet: Packet) = packet.cell.toLong * 1000003L + packet.lenBytes
    private def expect(ref: PacketRef, packet: Packet): Unit = {
      ref.name.expect(packet.cell.U)
      ref.lenBytes.expect(packet.lenBytes.U)
    }

    def clock(enqueueTo: Option[Int], takeFrom: Option[Int]): Unit = {
      val offered =
        enqueueTo.filter(_ => free.nonEmpty).map(q => q -> Packet(free.dequeue(), 1 + random.nextInt(16000)))
      dut.io.enqueue.valid.poke(offered.isDefined.B)
      offered.foreach { case (q, packet) =>
        sent += 1
        dut.io.enqueue.bits.queue.poke(q.U)
        dut.io.enqueue.bits.queueEntry.headCell.poke(packet.cell.U)
        dut.io.enqueue.bits.queueEntry.lenBytes.poke(packet.lenBytes.U)
        dut.io.enqueue.bits.queueEntry.arrival.poke(arrival(packet).U)
        dut.io.enqueue.bits.queueEntry.cells.poke(((packet.lenBytes + 63) / 64).U)
      }

      // What was taken the clock before, and what stands behind it.
      dut.io.taken.valid.expect(taken.isDefined.B)
      var reactivated = false
      taken.foreach { case (q, packet, last) =>
        received += 1
        dut.io.taken.bits.queue.expect(q.U)
        dut.io.taken.bits.queueEntry.headCell.expect(packet.cell.U)
        dut.io.taken.bits.queueEntry.lenBytes.expect(packet.lenBytes.U)
        dut.io.taken.bits.queueEntry.arrival.expect(arrival(packet).U)
        dut.io.newestServed.head.expect(newest(q).U)
        first(q) = model(q).headOption
        if (last && first(q).isDefined) {
          reactivated = true
          refills += 1
          dut.io.reactivated.bits.queue.expect(q.U)
          expect(dut.io.reactivated.bits.packet, first(q).get)
        }
        if (last && first(q).isEmpty) {
          backlogged(q) = false
          becameIdle += 1
        }
        // The cell is reused soon, to provoke what a stale link would do.
        if (random.nextBoolean()) free.prepend(packet.cell) else free.append(packet.cell)
      }
      for ((q, packet) <- asked) {
        expect(dut.io.successor.head, packet)
        dut.io.newestServed.head.expect(newest(q).U)
      }
      dut.io.reactivated.valid.expect(reactivated.B)
      for (i <- 0 until 2 if newest(looked(i)) >= 0) dut.io.newest.head(i).expect(newest(looked(i)).U)

      // What came the cycle before: its queue becomes backlogged, or it follows others.
      val becomesBacklogged = entering.exists { case (q, _) => !backlogged(q) }
      dut.io.becameBacklogged.valid.expect(becomesBacklogged.B)
      dut.io.appended.valid.expect((entering.isDefined && !becomesBacklogged).B)
      entering.foreach { case (q, packet) =>
        if (becomesBacklogged) {
          dut.io.becameBacklogged.bits.queue.expect(q.U)
          expect(dut.io.becameBacklogged.bits.packet, packet)
        } else {
          dut.io.appended.bits.queue.expect(q.U)
          expect(dut.io.appended.bits.packet, packet)
        }
      }

      val takes = takeFrom.filter(q => first(q).isDefined)
      // Any packet that has had a successor for a clock; of the queue that is served, if one is.
      val askQueue = takes.getOrElse(random.nextInt(p.queues))
      val place =
        if (model(askQueue).size < 2) None
        else Some(if (random.nextBoolean()) 0 else random.nextInt(model(askQueue).size - 1))
      asked = place.map(i => askQueue -> model(askQueue)(i + 1))
      dut.io.askQueue.head.poke(askQueue.U)
      dut.io.ask.head.valid.poke(place.isDefined.B)
      place.foreach(i => dut.io.ask.head.bits.poke(model(askQueue)(i).cell.U))
      dut.io.take.poke(takes.isDefined.B)
      taken = takes.map { q =>
        val packet = model(q).dequeue()
        val last = model(q).isEmpty
        dut.io.serve.queue.poke(q.U)
        dut.io.serve.packet.name.poke(first(q).get.cell.U)
        dut.io.serve.packet.lenBytes.poke(first(q).get.lenBytes.U)
        dut.io.emptied.poke(last.B)
        assert(packet == first(q).get)
        first(q) = None
        (q, packet, last)
      }
      looked = Seq.fill(2)(random.nextInt(p.queues))
      for (i <- 0 until 2) dut.io.lookup.head(i).poke(looked(i).U)

      entering.foreach { case (q, packet) =>
        model(q).enqueue(packet)
        newest(q) = packet.cell
        if (becomesBacklogged) {
          backlogged(q) = true
          first(q) = Some(packet)
        }
      }
      entering = offered
      dut.clock.step()
    }
  }

  private def runs(p: LaneParams): Unit = simulate(new QueueManager(p)) { dut =>
    val seed = 1
    info(s"seed $seed")
    dut.clock.step(p.queues + 1) // the sweep
    val bench = new Bench(dut, p, seed)
    val random = bench.random
    // (chance of an enqueue, of a take, queues used): among them one queue at one of each a clock.
    val phases = Seq((1.0, 1.0, 1), (0.5, 1.0, 1), (0.9, 0.9, 2), (0.5, 0.7, p.queues), (1.0, 0.3, 3), (0.3, 0.9, 3))
    def some(chance: Double, queues: Int) = Option.when(random.nextDouble() < chance)(random.nextInt(queues))
    for ((enqueue, take, most) <- phases; queues = most.min(p.queues); _ <- 0 until 1200)
      bench.clock(some(enqueue, queues), some(take, queues))
    // Drain: nothing may stay, nothing may be lost.
    while (bench.received < bench.sent) bench.clock(None, Some(bench.first.indexWhere(_.isDefined)).filter(_ >= 0))
    for (_ <- 0 until 3) bench.clock(None, None)
    assert(bench.model.forall(_.isEmpty) && !bench.backlogged.contains(true))
    assert(bench.sent > 3000 && bench.refills > 50 && bench.becameIdle > 50)
    assert(bench.free.toSet.size == p.cells)
  }

  behavior of "QueueManager"

  it should "keep every packet once and in order, one in and one out a clock" in runs(LaneParams(cells = 256))

  it should "do so with 2 queues" in runs(LaneParams(cells = 256, queues = 2))
}
