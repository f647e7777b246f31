package vermilion.victim

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation

/** Requests for places in heads, by themselves: packets come, are evicted and are taken at any density, and each packet that was not evicted becomes head in the end.
  *
  * Beside the block stand plain counts. Stages are those of [[VictimPipeline]], which this test stands for: a slot is a packet, a request in its stead, or neither.
  */
class HeadPlacesTest extends AnyFlatSpec with Simulation {
  private val queues = 2

  /** Stretches of traffic whose densities change every few clocks, each with none behind it until nothing is under way. */
  private def run(places: Int, seed: Int, stretches: Int): Unit =
    simulate(new HeadPlaces(VictimParams(queues, 64, queues, places = places))) { dut =>
      info(s"seed $seed")
      val random = new Random(seed)
      val (body, head) = (Array.fill(queues)(0), Array.fill(queues)(0))
      dut.io.issue.poke(false.B)
      dut.io.taken.valid.poke(false.B)
      while (!dut.io.ready.peek().litToBoolean) dut.clock.step()

      case class Slot(queue: Int, comes: Boolean, pushOut: Boolean)
      val nothing = Slot(0, comes = false, pushOut = false)
      var (s4, s5) = (nothing, nothing)
      var (s4Serves, s5Serves, s5Waits) = (false, false, false)
      var s4Queue, s5Queue = 0
      val arriving = mutable.Queue.empty[(Long, Int)] // made head: from which clock on the scheduler may take it
      var clock = 0L
      var only = Option.empty[Int] // all packets are of this queue
      def step(come: Double, pushOuts: Double, takes: Double): Unit = {
        // s3: a packet, or the next request
        val s3 =
          Slot(only.getOrElse(random.nextInt(queues)), random.nextDouble() < come, random.nextDouble() < pushOuts)
        val issue = !(s3.comes && s3.pushOut) && dut.io.next.valid.peek().litToBoolean
        val next = dut.io.next.bits.peek().litValue.toInt
        dut.io.issue.poke(issue.B)
        dut.io.queue.poke(s4.queue.U)
        // s5: who goes leaves before the request of the slot behind sees its queue
        val evicted = s5.comes && s5.pushOut && body(s5.queue) > 0
        val makesHead = s5Serves && s5Waits
        val enqueued =
          s5.comes && (!s5.pushOut || evicted || random.nextInt(8) == 0) // else it is lost; one of eight is marked
        dut.io.enqueued.poke(enqueued.B)
        dut.io.evicted.poke(evicted.B)
        dut.io.makesHead.poke(makesHead.B)
        dut.io.void.poke((s5Serves && !s5Waits).B)
        val waits = dut.io.waits.peek().litToBoolean
        while (arriving.headOption.exists(_._1 <= clock)) head(arriving.dequeue()._2) += 1
        val full = head.indices.filter(head(_) > 0)
        val taken = full.nonEmpty && random.nextDouble() < takes
        val from = if (taken) full(random.nextInt(full.size)) else 0
        dut.io.taken.valid.poke(taken.B)
        dut.io.taken.bits.poke(from.U)
        if (s5Serves) assert(dut.io.newHeadQueue.peek().litValue.toInt == s5Queue, s"clock $clock")
        if (taken) head(from) -= 1
        if (makesHead) {
          body(s5Queue) -= 1
          arriving += ((clock + 3, s5Queue))
          assert(body(s5Queue) >= 0 && head(s5Queue) + arriving.count(_._2 == s5Queue) <= places, s"clock $clock")
        }
        if (enqueued && !evicted) body(s5.queue) += 1
        s5Serves = s4Serves
        s5Waits = waits
        s5Queue = s4Queue
        s4Serves = issue
        s4Queue = next
        s5 = s4
        s4 = s3
        dut.clock.step()
        clock += 1
      }
      for (stretch <- 0 until stretches) {
        if (random.nextBoolean()) {
          only = if (random.nextInt(4) == 0) None else Some(random.nextInt(queues))
          for (_ <- 0 until random.between(3, 10)) {
            val (come, pushOuts, takes) =
              (Seq(0.0, 0.5, 1.0)(random.nextInt(3)), random.nextInt(2).toDouble, random.nextInt(2).toDouble)
            for (_ <- 0 until random.between(1, 6)) step(come, pushOuts, takes)
          }
        } else {
          // More requests than packets, as victims go whose requests wait; then a packet comes while these find nobody, and the head is emptied.
          only = Some(random.nextInt(queues))
          def steps(count: Int, come: Double, pushOuts: Double, takes: Double = 0.0): Unit =
            for (_ <- 0 until count) step(come, pushOuts, takes)
          for (_ <- 0 until random.between(0, places)) {
            steps(1, 1.0, 0.0)
            steps(6, 0.0, 0.0)
          }
          steps(1, 1.0, 0.0)
          steps(random.between(2, 9), 1.0, 1.0)
          for (_ <- 0 until random.between(0, 3)) {
            steps(1, 0.0, 0.0)
            steps(random.between(2, 9), 1.0, 1.0)
          }
          val taking = random.nextInt(6)
          for (i <- 0 until 8)
            step(if (i <= 3) 1.0 else 0.0, if (i < 3) 1.0 else 0.0, if (i >= taking) 1.0 else 0.0)
        }
        var left = 400
        while (left > 0 && (body.sum + head.sum + arriving.size > 0 || dut.io.busy.peek().litToBoolean)) {
          step(0.0, 0.0, 1.0)
          left -= 1
        }
        assert(
          left > 0,
          s"seed $seed, places $places, stretch $stretch: ${body.mkString(" and ")} packets wait in bodies, and nobody asks for them"
        )
      }
    }

  for (places <- Seq(4, 8, 16))
    s"Requests for $places places" should "leave no packet in a body" in {
      run(places, seed = 20261127, stretches = 2000)
    }
}
