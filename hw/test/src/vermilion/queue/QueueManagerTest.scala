package vermilion.queue

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** Random enqueues and takes, up to one of each a clock, against plain Scala queues. */
class QueueManagerTest extends AnyFlatSpec with ChiselSim {
  private case class Packet(cell: Int, lenBytes: Int)

  private class Bench(dut: QueueManager, p: LaneParams, seed: Int) {
    val random = new Random(seed)
    val free = mutable.Queue.from(random.shuffle((0 until p.cells).toList))
    val model = Array.fill(p.queues)(mutable.Queue.empty[Packet])
    var entering: Option[(Int, Packet)] = None // visible in the model one clock after it was offered
    var peeked: Option[Int] = None
    var expected: Option[(Int, Packet)] = None
    var sent, received = 0

    def clock(enqueueTo: Option[Int], peek: Option[Int], mayTake: Boolean): Unit = {
      val offered =
        enqueueTo.filter(_ => free.nonEmpty).map(q => q -> Packet(free.dequeue(), 1 + random.nextInt(16000)))
      dut.io.enqueue.valid.poke(offered.isDefined.B)
      offered.foreach { case (q, packet) =>
        sent += 1
        dut.io.enqueue.bits.queue.poke(q.U)
        dut.io.enqueue.bits.descriptor.headCell.poke(packet.cell.U)
        dut.io.enqueue.bits.descriptor.lenBytes.poke(packet.lenBytes.U)
        dut.io.enqueue.bits.descriptor.arrival.poke((packet.cell.toLong * 1000003L + packet.lenBytes).U)
        dut.io.enqueue.bits.descriptor.cells.poke(((packet.lenBytes + 63) / 64).U)
      }
      dut.io.peek.valid.poke(peek.isDefined.B)
      peek.foreach(q => dut.io.peek.bits.poke(q.U))

      val nonEmpty = dut.io.nonEmpty.peek().litValue
      model.zipWithIndex.foreach { case (m, q) => assert(nonEmpty.testBit(q) == m.nonEmpty, s"nonEmpty of queue $q") }
      // What was taken the clock before.
      dut.io.taken.valid.expect(expected.isDefined.B)
      expected.foreach { case (q, packet) =>
        received += 1
        dut.io.taken.bits.queue.expect(q.U)
        dut.io.taken.bits.descriptor.headCell.expect(packet.cell.U)
        dut.io.taken.bits.descriptor.lenBytes.expect(packet.lenBytes.U)
        dut.io.taken.bits.descriptor.arrival.expect((packet.cell.toLong * 1000003L + packet.lenBytes).U)
        // The cell is reused at once, to provoke what a stale link would do.
        if (random.nextBoolean()) free.prepend(packet.cell) else free.append(packet.cell)
      }
      expected = None
      // What was peeked the clock before.
      val takes = peeked.exists { q =>
        val m = model(q)
        dut.io.head.valid.expect(m.nonEmpty.B)
        if (m.nonEmpty) {
          dut.io.head.lenBytes.expect(m.head.lenBytes.U)
          dut.io.head.last.expect((m.size == 1).B)
        }
        m.nonEmpty && mayTake
      }
      dut.io.take.poke(takes.B)
      if (takes) expected = Some(peeked.get -> model(peeked.get).dequeue())
      entering.foreach { case (q, packet) => model(q).enqueue(packet) }
      entering = offered
      peeked = peek
      dut.clock.step()
    }
  }

  private def runs(p: LaneParams): Unit = simulate(new QueueManager(p)) { dut =>
    val bench = new Bench(dut, p, 1)
    val random = bench.random
    // (chance of an enqueue, of a peek, of a take, queues used): among them one queue at one of each a clock.
    val phases =
      Seq(
        (1.0, 1.0, 1.0, 1),
        (0.5, 1.0, 1.0, 1),
        (0.9, 0.9, 0.9, 2),
        (0.5, 0.6, 0.7, p.queues),
        (1.0, 0.3, 1.0, 3),
        (0.3, 1.0, 0.9, 3)
      )
    def some(chance: Double, queues: Int) = Option.when(random.nextDouble() < chance)(random.nextInt(queues))
    for ((enqueue, peek, take, most) <- phases; queues = most.min(p.queues); _ <- 0 until 1200)
      bench.clock(some(enqueue, queues), some(peek, queues), random.nextDouble() < take)
    // Drain: nothing may stay, nothing may be lost.
    for (q <- 0 until p.queues; _ <- 0 until p.cells / p.queues.min(16) + 8) bench.clock(None, Some(q), mayTake = true)
    while (bench.model.exists(_.nonEmpty)) bench.clock(None, Some(bench.model.indexWhere(_.nonEmpty)), mayTake = true)
    bench.clock(None, None, mayTake = false)
    bench.clock(None, None, mayTake = false)
    assert(bench.sent == bench.received)
    assert(bench.sent > 3000)
    assert(bench.free.toSet.size == p.cells)
  }

  behavior of "QueueManager"

  it should "keep every packet once and in order, one in and one out a clock" in runs(LaneParams(cells = 256))

  it should "do so with 2 queues" in runs(LaneParams(cells = 256, queues = 2))
}
