package vermilion.schedule

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** RFC 8290's list of old flows with empty queues in it, beside the counts that stand for them. */
class NewFlowsTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(queues = 16, cells = 256, codel = true, fq = true)

  /** The list: a queue with packets is None, an empty one its number. An empty queue that comes first is removed. */
  private class Old {
    private val list = mutable.ArrayBuffer.empty[Option[Int]]
    var turns = 0
    def withPackets: Int = list.count(_.isEmpty)
    def has(queue: Int): Boolean = list.contains(Some(queue))
    def step(enters: Boolean, leaves: Boolean, emptied: Option[Int], waits: Boolean): Unit = {
      if (leaves) {
        list.remove(0)
        turns += 1
      }
      if (enters) list += None
      for (queue <- emptied) {
        list -= Some(queue)
        if (waits) list += Some(queue)
      }
      while (list.headOption.exists(_.nonEmpty)) list.remove(0)
    }
  }

  private def run(p: LaneParams, bits: Int): Unit = simulate(new NewFlows(p, bits)) { dut =>
    val random = new Random(bits)
    val (io, old) = (dut.io, new Old)
    val emptiedAt = mutable.HashMap.empty[Int, Int] // turns
    var asked: Option[(Int, Boolean)] = None
    var (news, olds) = (0, 0)
    dut.clock.step(p.queues + 2)
    for (_ <- 0 until 6000) {
      for ((queue, isNew) <- asked) {
        io.isNew.expect(isNew.B, s"queue $queue")
        if (isNew) news += 1 else olds += 1
      }
      val leaves = old.withPackets > 0 && random.nextBoolean()
      val enters = old.withPackets < 9
      val inDrr = leaves && random.nextBoolean() // the queue that leaves became empty
      val empties = inDrr || !leaves && random.nextInt(4) == 0
      val queue = random.nextInt(p.queues)
      val most = if (random.nextBoolean()) 9 else (1 << bits - 1) - 20
      val recent = emptiedAt.collect { case (queue, at) if old.turns - at < most => queue }.toSeq.sorted
      // A queue is inserted after the cycle in which it becomes empty.
      val query = recent.filter(_ != queue || !empties).lift(random.nextInt(recent.size.max(1)))
      io.entered.poke(enters.B)
      io.left.poke(leaves.B)
      io.emptied.valid.poke(empties.B)
      io.emptied.bits.queue.poke(queue.U)
      io.emptied.bits.wasNew.poke((!inDrr).B)
      io.queue.poke(query.getOrElse(0).U)
      old.step(enters, leaves, Option.when(empties)(queue), waits = !inDrr || p.victims > 0)
      if (empties) emptiedAt(queue) = old.turns
      asked = query.map(each => each -> !old.has(each))
      dut.clock.step()
    }
    assert(news > 500 && olds > 500 && old.turns > 1500, s"$news new, $olds old, ${old.turns} turns")
  }

  "a queue that becomes backlogged" should "be new when it is no longer in the list of the RFC, while counts wrap" in run(
    p,
    8
  )

  it should "wait after each turn with the victim search" in run(p.copy(victims = 16), 8)
}
