package vermilion.victim

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.lane.LaneParams

/** Random packets eight clocks apart or a little more, in all forms, through the real scheduler, against the rule of docs/distance-drops.md by plain search: who
  * pays, each time; who is taken, and whether marked; and that all cells come back.
  */
class VictimQueuesInTurnTest extends AnyFlatSpec with ChiselSim {
  private case class Packet(
      queue: Int,
      cell: Int,
      lenBytes: Int,
      colour: Int,
      distance: Int,
      ect: Boolean,
      form: Form
  ) {
    val cells: Int = (lenBytes + 63) / 64
    var marked = false
    def slot: Int = 2 - (if (form.byColour) colour else 0)
  }

  /** A queue's switches, as they were when a packet came. */
  private case class Form(byColour: Boolean, last: Int)
  private case class Contest(packet: Packet, action: Int, mayMark: Boolean, asLong: Boolean)
  private case class Paid(enqueued: Boolean, marked: Boolean, victim: Option[Packet], victimMarked: Boolean)

  /** The rule. `queue` is oldest first; its first may not pay. */
  private def rule(queue: Seq[Packet], c: Contest, searched: Boolean): Paid = {
    val p = c.packet
    val mildest = 2 - (if (p.form.byColour) p.colour else 0)
    val mayPay = queue.zipWithIndex.collect {
      case (q, i)
          if searched && i > 0 && !q.marked && q.slot <= mildest && (q.form.last == 0) == (p.form.last == 0) &&
            (p.form.last == 0 || queue.size - i <= p.form.last) =>
        q
    }
    val nearest = mayPay.minByOption(q => (q.distance, q.slot)) // of equals the first, which is the oldest
    val mayMark = c.mayMark && p.form.last == 0
    nearest.filter(q => p.distance >= q.distance && !(c.asLong && q.lenBytes < p.lenBytes)) match {
      case Some(victim) => Paid(enqueued = true, marked = false, Some(victim), mayMark && victim.ect)
      case None         => Paid(mayMark && p.ect, mayMark && p.ect, None, victimMarked = false)
    }
  }

  private def runs(p: LaneParams): Unit =
    simulate(new VictimEgress(p)) { dut =>
      val seed = 20261123
      info(s"seed $seed")
      val random = new Random(seed)
      def chance(x: Double) = random.nextDouble() < x
      val free = mutable.Queue.from(random.shuffle((0 until p.cells).toList))
      val queues = Array.fill(p.queues)(mutable.ArrayBuffer.empty[Packet])
      val freed = mutable.Queue.empty[(Int, Int)]
      var forms = Array.fill(p.queues)(Form(byColour = false, 0))
      var evicted, there, arriving, refused, taken, tails, newest, second = 0
      var coming = Option.empty[(Contest, Int)] // and in how many clocks
      var since = 100
      var quiet = 0

      def clock(arrives: Boolean, room: Boolean, distances: Int, bound: Int): Unit = {
        if (since >= 8 && arrives && free.nonEmpty) {
          val full = random.nextInt(p.queues)
          val q = if (queues(full).size < bound) full else random.nextInt(p.queues)
          if (chance(0.01))
            forms(q) = Form(chance(0.5), if (chance(0.5)) 0 else Seq(1, 5, 16)(random.nextInt(3)))
          val packet = Packet(
            q,
            free.dequeue(),
            1 + random.nextInt(if (chance(0.5)) 100 else 1500),
            random.nextInt(3),
            random.nextInt(distances),
            chance(0.4),
            forms(q)
          )
          val action =
            if (queues(q).size >= bound) Action.Contest else if (chance(0.6)) Action.Contest else random.nextInt(2)
          val isTail = packet.form.last != 0
          coming = Some((Contest(packet, action, chance(0.6), isTail && chance(0.4)), SearchInTurn.Latency))
          since = 0
          val a = dut.ahead.get.bits
          a.queue.poke(packet.queue.U)
          a.lenBytes.poke(packet.lenBytes.U)
          a.colour.poke(packet.colour.U)
          a.distance.poke(packet.distance.U)
          a.byColour.poke(packet.form.byColour.B)
          a.last.poke(packet.form.last.U)
          dut.ahead.get.valid.poke(true.B)
        } else dut.ahead.get.valid.poke(false.B)
        val searching = coming.isDefined
        val decides = coming.exists(_._2 == 0)
        dut.io.arrival.valid.poke(decides.B)
        dut.io.room.poke((room && !searching).B)
        for ((c, _) <- coming if decides) {
          val b = dut.io.arrival.bits
          b.descriptor.queue.poke(c.packet.queue.U)
          b.descriptor.headCell.poke(c.packet.cell.U)
          b.descriptor.cells.poke(c.packet.cells.U)
          b.descriptor.lenBytes.poke(c.packet.lenBytes.U)
          b.descriptor.setCe.poke(false.B)
          b.ect.poke(c.packet.ect.B)
          b.action.poke(c.action.U)
          b.mayMark.poke(c.mayMark.B)
          b.asLong.poke(c.asLong.B)
        }
        // Who is shown as taken now was taken in the clock before, and so before who pays now.
        if (dut.io.taken.valid.peek().litToBoolean) {
          val packet = queues(dut.io.taken.bits.queue.peek().litValue.toInt).remove(0)
          val d = dut.io.taken.bits.descriptor
          d.headCell.expect(packet.cell.U)
          d.lenBytes.expect(packet.lenBytes.U)
          d.setCe.expect(packet.marked.B)
          free.append(packet.cell)
          taken += 1
        }
        dut.io.outcome.valid.expect(decides.B)
        dut.io.freed.valid.expect(freed.nonEmpty.B)
        for ((cell, cells) <- freed.removeHeadOption()) {
          dut.io.freed.bits.head.expect(cell.U)
          dut.io.freed.bits.cells.expect(cells.U)
          free.append(cell)
        }
        for ((c, _) <- coming if decides) {
          val queue = queues(c.packet.queue)
          val paid =
            if (c.action == Action.Contest) rule(queue.toSeq, c, c.packet.queue < p.victims)
            else Paid(c.action == Action.Admit, marked = false, None, victimMarked = false)
          val o = dut.io.outcome.bits
          o.enqueued.expect(paid.enqueued.B)
          o.marked.expect(paid.marked.B)
          o.evicted.expect((paid.victim.isDefined && !paid.victimMarked).B)
          o.victimMarked.expect(paid.victimMarked.B)
          for (v <- paid.victim) {
            o.victim.cell.expect(v.cell.U)
            o.victim.lenBytes.expect(v.lenBytes.U)
            o.victim.colour.expect(v.colour.U)
            o.victim.distance.expect(v.distance.U)
            if (queue.last eq v) newest += 1
            if (queue.size > 1 && (queue(1) eq v)) second += 1
            if (c.packet.form.last != 0) tails += 1
            if (paid.victimMarked) {
              v.marked = true
              there += 1
            } else {
              queue -= v
              freed.enqueue(v.cell -> v.cells)
              evicted += 1
            }
          }
          if (paid.enqueued) {
            c.packet.marked = paid.marked
            if (paid.marked) arriving += 1
            queue += c.packet
          } else {
            freed.enqueue(c.packet.cell -> c.packet.cells)
            refused += 1
          }
        }
        coming = coming.collect { case (c, left) if left > 0 => (c, left - 1) }
        since += 1
        dut.clock.step()
      }

      while (!dut.io.ready.peek().litToBoolean) dut.clock.step() // the sweeps
      // Loads: chance of a packet where one may come, of room; distances; what queues are held at.
      for (
        (arrive, take, distances, bound) <- Seq(
          (1.0, 0.0, 64, 40),
          (1.0, 0.3, 64, 30),
          (1.0, 1.0, 4, 20),
          (0.7, 0.2, 1, 12),
          (1.0, 0.05, 16, 3),
          (1.0, 1.0, 64, 2),
          (0.2, 0.6, 64, 8),
          (1.0, 0.1, 3, 60)
        );
        _ <- 0 until 4000
      ) clock(chance(arrive), chance(take), distances, bound)
      while (queues.exists(_.nonEmpty) || quiet < 12) {
        quiet = if (queues.exists(_.nonEmpty)) 0 else quiet + 1
        clock(arrives = false, room = true, 64, 1)
      }
      dut.io.busy.expect(false.B)
      assert(free.toSet.size == p.cells && free.size == p.cells)
      val seen =
        s"$evicted evicted, $there and $arriving marked, $refused lost, $taken sent; $tails in the tail-drop form, " +
          s"$newest the newest, $second the second"
      info(seen)
      assert(Seq(evicted, there, arriving, refused, taken, tails, newest, second).forall(_ > 20), seen)
    }

  behavior of "VictimQueuesInTurn"

  it should "take whom the rule names, keep the order of what stays, and give every cell back" in runs(
    LaneParams(cells = 256, queues = 4, victims = 4, slotClocks = 8)
  )

  it should "do so where only some queues have lists, and in memories of LUTs" in runs(
    LaneParams(cells = 256, queues = 3, victims = 2, slotClocks = 8)
  )
}
