package vermilion.schedule

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.fixed.MemoryKind
import vermilion.lane.LaneParams

/** Sets of queues, by what happened to each, beside the bits that stand for them. */
class KeptPlacesTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 16, cells = 256, codel = true, fq = true)

  "empty queues" should "keep their places until they come first or a packet arrives" in run()

  it should "do so in block RAM" in MemoryKind.lutDepth.withValue(0)(run())

  private def run(): Unit = simulate(new KeptPlaces(p)) { dut =>
    val seed = 8
    info(s"seed $seed")
    val random = new Random(seed)
    val io = dut.io
    val listed = mutable.LinkedHashMap.empty[Int, Boolean] // queues with a place, and the turn that was told
    val waiting = mutable.Queue.empty[Int]
    var inserting: Option[(Int, Boolean)] = None // the queue of the cycle before, and whether a packet arrived
    var waited = false
    var emptied: Option[Int] = None
    val seen = mutable.HashMap.empty[String, Int].withDefaultValue(0)
    dut.clock.step(p.queues + 2)
    for (_ <- 0 until 8000) {
      io.emptied.valid.poke(emptied.nonEmpty.B)
      io.emptied.bits.poke(emptied.getOrElse(0).U)
      val mayEnd = listed.keys.filter(queue => !inserting.exists(_._1 == queue)).toSeq
      val ends = Option.when(mayEnd.nonEmpty && random.nextInt(5) == 0)(mayEnd(random.nextInt(mayEnd.size)))
      io.ends.valid.poke(ends.nonEmpty.B)
      io.ends.bits.queue.poke(ends.getOrElse(0).U)
      io.ends.bits.turn.poke(ends.exists(listed).B)
      // The cycle after an arrival or an offer.
      val inserts = inserting.exists(!_._2) && random.nextInt(8) > 0
      val fills = inserting.exists { case (queue, arrives) => arrives && listed.contains(queue) }
      for ((queue, arrives) <- inserting) {
        io.isListed.expect(listed.contains(queue).B, s"queue $queue")
        if (arrives) io.waited.expect(waited.B, s"queue $queue")
        seen(if (!arrives) "inserted" else if (fills) "filled" else if (waited) "waited" else "new") += 1
      }
      val turn = io.turn.peek().litToBoolean
      io.inserts.poke(inserts.B)
      io.fills.poke(fills.B)
      // The next event.
      val busy = inserting.map(_._1).toSet ++ ends ++ emptied
      val queues = if (random.nextBoolean() && waiting.nonEmpty) waiting.toSeq else 0 until p.queues
      val arrival = Option.when(random.nextInt(3) == 0)(queues(random.nextInt(queues.size))).filter { queue =>
        !inserting.contains(queue -> true) // it has a packet; one that is just inserted without may get it
      }
      io.arrival.valid.poke(arrival.nonEmpty.B)
      io.arrival.bits.poke(arrival.getOrElse(0).U)
      val ready = arrival.isEmpty && random.nextBoolean()
      io.offer.ready.poke(ready.B)
      val offers = io.offer.valid.peek().litToBoolean
      if (offers) io.offer.bits.expect(waiting.head.U)
      val isIdle = io.isIdle.peek().litToBoolean
      if (isIdle) seen("idle") += 1
      assert(!isIdle || (emptied.isEmpty && waiting.isEmpty), "a queue is forgotten")
      val isFull = io.isFull.peek().litToBoolean
      if (isFull) seen("full") += 1
      // What the cycle has done.
      for ((queue, _) <- inserting if inserts) listed(queue) = turn
      for ((queue, _) <- inserting if fills) listed -= queue
      ends.foreach(listed -= _)
      waited = arrival.exists(queue => waiting.contains(queue) || emptied.contains(queue))
      inserting = arrival.map(_ -> true).orElse(Option.when(ready && offers)(waiting.head -> false))
      if (ready && offers) waiting.dequeue()
      for (queue <- arrival) waiting -= queue
      emptied.filterNot(arrival.contains).foreach(waiting.enqueue(_))
      emptied = Option.when(!isFull && random.nextBoolean())(random.nextInt(p.queues)).filter { queue =>
        !busy(queue) && !inserting.exists(_._1 == queue) && !waiting.contains(queue) && !listed.contains(queue)
      }
      dut.clock.step()
    }
    info(seen.toString)
    assert(Seq("inserted", "filled", "waited", "new", "full", "idle").forall(seen(_) > 50), seen)
  }
}
