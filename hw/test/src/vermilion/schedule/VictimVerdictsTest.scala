package vermilion.schedule

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams
import vermilion.victim.Action

/** CoDel's verdicts in a build with the victim search: the backlog counts the bodies of queues, without what is evicted from them. */
class VictimVerdictsTest extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 256, queues = 4, victims = 4, codel = true)
  private val Ahead = 3 // cycles from the search to the arrival
  private case class Packet(
      queue: Int,
      cell: Int,
      lenBytes: Int,
      distance: Int,
      action: Int,
      ect: Boolean,
      dsField: Int
  )
  private case class Arrived(packet: Packet, now: Long)

  behavior of "Verdicts with the victim search"

  it should "be those of CoDel for every packet, whatever is evicted" in simulate(new SeenEgressQueues(p)) { dut =>
    val seed = 31
    info(s"seed $seed")
    val random = new Random(seed)
    val ports = dut.pushOuts.get
    val verdicts = new ReferenceVerdicts(p)
    val free = mutable.Queue.from(0 until p.cells)
    val queued = Array.fill(p.queues)(mutable.ArrayBuffer.empty[Packet])
    val searched = mutable.Queue.fill(Ahead)(Option.empty[Packet])
    val deciding = mutable.Queue.empty[Arrived]
    val (leaving, discarding) = (mutable.Queue.empty[Int], mutable.Queue.empty[Int])
    var now, clocks = 0L
    var evicted, left, dropped = 0

    def outcome(): Unit = if (ports.outcome.valid.peek().litToBoolean) {
      val Arrived(packet, came) = deciding.dequeue()
      val o = ports.outcome.bits
      val queue = packet.queue
      if (o.enqueued.peek().litToBoolean) {
        queued(queue) += packet
        verdicts.comes(queue, packet.lenBytes, packet.dsField, came, clocks)
      }
      if (o.evicted.peek().litToBoolean) {
        val place = queued(queue).indexWhere(_.cell == o.victim.cell.peek().litValue.toInt)
        queued(queue).remove(place)
        verdicts.evicted(queue, place, clocks)
        evicted += 1
      }
    }
    def departure(): Unit = if (dut.io.departed.valid.peek().litToBoolean) {
      val d = dut.io.departed.bits
      val packet = queued(d.queue.peek().litValue.toInt).remove(0)
      d.lenBytes.expect(packet.lenBytes.U)
      val (drops, marks) = (d.dropped.get.peek().litToBoolean, d.marked.get.peek().litToBoolean)
      verdicts.check(Left(packet.queue, packet.lenBytes, now, clocks, dropped = drops, marked = marks))
      (if (drops) discarding else leaving).enqueue(packet.cell)
      left += 1
      if (drops) dropped += 1
    }
    def clock(next: Option[Packet], ready: Boolean): Unit = {
      dut.io.now.poke(now.U)
      verdicts.at(clocks, now)
      ports.ahead.valid.poke(next.isDefined.B)
      for (packet <- next) {
        ports.ahead.bits.queue.poke(packet.queue.U)
        ports.ahead.bits.lenBytes.poke(packet.lenBytes.U)
        ports.ahead.bits.distance.poke(packet.distance.U)
      }
      searched.enqueue(next)
      val arrives = searched.dequeue()
      ports.arrival.valid.poke(arrives.isDefined.B)
      for (packet <- arrives) {
        val b = ports.arrival.bits
        b.queueEntry.queue.poke(packet.queue.U)
        b.queueEntry.headCell.poke(packet.cell.U)
        b.queueEntry.cells.poke(((packet.lenBytes + 63) / 64).U)
        b.queueEntry.lenBytes.poke(packet.lenBytes.U)
        b.queueEntry.arrival.poke(now.U)
        b.queueEntry.isIp4.poke(true.B)
        b.queueEntry.dsField.get.poke(packet.dsField.U)
        b.distance.poke(packet.distance.U)
        b.ect.poke(packet.ect.B)
        b.action.poke(packet.action.U)
        deciding.enqueue(Arrived(packet, now))
      }
      dut.io.queueEntry.head.ready.poke(ready.B)
      outcome()
      if (ports.freed.valid.peek().litToBoolean) free.enqueue(ports.freed.bits.head.peek().litValue.toInt)
      departure()
      if (ready && dut.io.queueEntry.head.valid.peek().litToBoolean) {
        val cell = leaving.dequeue()
        dut.io.queueEntry.head.bits.headCell.expect(cell.U)
        free.enqueue(cell)
      }
      if (dut.io.discarded.valid.peek().litToBoolean) {
        val cell = discarding.dequeue()
        dut.io.discarded.bits.head.expect(cell.U)
        free.enqueue(cell)
      }
      dut.clock.step()
      clocks += 1
      now += random.nextInt(60)
    }

    dut.io.discarded.ready.poke(true.B)
    while (!ports.ready.peek().litToBoolean) dut.clock.step()
    for (queue <- 0 until p.queues) {
      val codel =
        Codel(target = 3, interval = Seq(2, 10)(queue % 2), mtu = Seq(3000, 6000)(queue / 2), ecn = queue == 3)
      val c = dut.io.configure
      c.valid.poke(true.B)
      c.bits.queue.poke(queue.U)
      c.bits.quantum.poke(1500.U)
      val to = c.bits.codel.get
      to.on.poke(true.B)
      to.target.poke(codel.target.U)
      to.interval.poke(codel.interval.U)
      to.ceThreshold.poke(codel.ceThreshold.U)
      to.mtu.poke(codel.mtu.U)
      to.ecn.poke(codel.ecn.B)
      verdicts.configure(queue, Some(codel), hasRate = false, clocks)
      clock(None, ready = false)
      c.valid.poke(false.B)
    }
    for (_ <- 0 until 4) clock(None, ready = true)
    for ((arrive, ready) <- Seq((0.3, 0.1), (0.6, 0.2), (0.2, 0.3)); _ <- 0 until 2500) {
      val comes = Option.when(random.nextDouble() < arrive && free.size > 8) {
        val queue = random.nextInt(p.queues)
        val long = queued(queue).size > 10
        val action = if (long && random.nextInt(3) > 0) Action.PushOut else Action.Admit
        val length = if (random.nextBoolean()) 64 else 1 + random.nextInt(1500)
        Packet(queue, free.dequeue(), length, random.nextInt(32), action, random.nextBoolean(), random.nextInt(256))
      }
      clock(comes, random.nextDouble() < ready)
    }
    var patience = 0
    while (
      queued.exists(
        _.nonEmpty
      ) || leaving.nonEmpty || discarding.nonEmpty || deciding.nonEmpty || searched.flatten.nonEmpty
    ) {
      clock(None, ready = true)
      patience += 1
      assert(patience < 5000, "packets stay")
    }
    for (_ <- 0 until 10) clock(None, ready = true)
    info(s"$left left, $dropped of them dropped, $evicted evicted; met: ${verdicts.met}")
    assert(free.toSet.size == p.cells && !dut.io.busy.peek().litToBoolean)
    assert(evicted > 100 && dropped > 50 && left - dropped > 300)
    for (what <- Seq("later drop", "mark")) assert(verdicts.met(what) > 5, what)
  }
}
