package vermilion.decide

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** The pool's rules, worked out from the whole history of admissions and departures for each packet, in exact arithmetic. */
class PoolLimitTest extends AnyFlatSpec with Simulation {
  private case class Event(clock: Int, queue: Int, cells: Int) // cells that are taken, or given back (negative)
  private case class Packet(clock: Int, queue: Int, lenBytes: Int, alpha: Int) { val cells: Int = (lenBytes + 63) / 64 }
  private case class Rules(size: Int, reserve: Seq[Int], cap: Seq[Int])

  /** Whether a packet is refused, where so many cells are held by each egress and by its queue. */
  private def refuses(rules: Rules, egress: Int, held: Seq[Int], ofQueue: Int, packet: Packet): Boolean = {
    val after = held(egress) + packet.cells
    val shared = (rules.size - rules.reserve.sum).max(0)
    val free = (shared - held.zip(rules.reserve).map { case (h, r) => (h - r).max(0) }.sum).max(0)
    val wanted = after - held(egress).max(rules.reserve(egress)) // of the shared part
    val threshold = BigDecimal(2).pow(packet.alpha) * free / 256
    rules.size > 0 && (
      (rules.cap(egress) > 0 && after > rules.cap(egress)) ||
        after > rules.reserve(egress) &&
        (wanted > free || (packet.alpha > 0 && ofQueue + packet.cells > threshold))
    )
  }

  private def run(p: LaneParams, seed: Int): Unit = simulate(new PoolLimit(p)) { dut =>
    info(s"seed $seed")
    val random = new Random(seed)
    val share = p.queues / p.egresses
    val egressOf = (queue: Int) => queue / share
    val events = mutable.ArrayBuffer.empty[Event]
    val inside = mutable.ArrayBuffer.empty[Packet]
    val under = mutable.Queue.empty[Packet] // asked about, without a verdict
    val io = dut.io
    var clock, refused, admitted = 0
    def rulesOf(): Rules = {
      val reserve = Seq.fill(p.egresses)(if (random.nextInt(3) == 0) 0 else random.nextInt(60))
      val cap = reserve.map(r => if (random.nextInt(3) == 0) r + 1 + random.nextInt(100) else 0)
      val size = if (random.nextInt(8) == 0) random.nextInt(40) else reserve.sum + random.nextInt(200)
      Rules(size, reserve, cap)
    }
    def tell(rules: Rules): Unit = {
      io.settings.size.poke(rules.size.U)
      for (e <- 0 until p.egresses) {
        io.settings.reserve(e).poke(rules.reserve(e).U)
        io.settings.cap(e).poke(rules.cap(e).U)
      }
    }
    def held(until: Int, in: Int => Boolean): Int =
      events.iterator.filter(e => e.clock <= until && in(e.queue)).map(_.cells).sum

    def step(asks: Boolean, leaves: Double, rules: Rules): Unit = {
      val asked = Option.when(asks) {
        val lenBytes = if (random.nextInt(2) == 0) 60 + random.nextInt(10) else 60 + random.nextInt(1460)
        Packet(clock, random.nextInt(p.queues), lenBytes, random.nextInt(12))
      }
      asked.foreach(under.enqueue(_))
      def at(age: Int) = under.find(_.clock == clock - age)
      io.queue.poke(at(0).fold(0)(_.queue).U)
      io.lenBytes.poke(at(1).fold(0)(_.lenBytes).U)
      io.alpha.poke(at(2).fold(0)(_.alpha).U)
      io.admit.poke(false.B)
      for (packet <- at(PoolLimit.Ahead)) {
        under.dequeue()
        val seen = clock - PoolLimit.Lag
        val egress = egressOf(packet.queue)
        val wanted = refuses(
          rules,
          egress,
          (0 until p.egresses).map(e => held(seen, egressOf(_) == e)),
          held(seen, _ == packet.queue),
          packet
        )
        io.over.expect(wanted.B, s"clock $clock, $packet, $rules")
        if (wanted) refused += 1
        // Others may refuse it too, and without a pool nothing bounds what is inside.
        if (!wanted && random.nextInt(8) != 0 && held(clock, _ => true) < p.cells / 2) {
          io.admit.poke(true.B)
          admitted += 1
          events += Event(clock, packet.queue, packet.cells)
          inside += packet
        }
      }
      def takes(port: chisel3.util.Valid[_], poke: Packet => Unit, share: Double): Unit = {
        val goes = inside.nonEmpty && random.nextDouble() < share && inside.exists(_.clock < clock - 12)
        port.valid.poke(goes.B)
        if (goes) {
          val old = inside.indices.filter(i => inside(i).clock < clock - 12)
          val packet = inside.remove(old(random.nextInt(old.size)))
          poke(packet)
          events += Event(clock, packet.queue, -packet.cells)
        }
      }
      takes(
        io.departed,
        packet => {
          io.departed.bits.queue.poke(packet.queue.U)
          io.departed.bits.lenBytes.poke(packet.lenBytes.U)
        },
        leaves
      )
      takes(
        io.lost,
        packet => {
          io.lost.bits.queue.poke(packet.queue.U)
          io.lost.bits.lenBytes.poke(packet.lenBytes.U)
        },
        if (p.victims > 0) leaves / 4 else 0
      )
      dut.clock.step()
      clock += 1
    }

    var rules = rulesOf()
    tell(rules)
    while (!io.ready.peek().litToBoolean) dut.clock.step()
    for (turn <- 0 until 40) {
      val (asks, leaves) = (Seq(1.0, 1.0, 0.3)(turn % 3), Seq(0.0, 0.1, 0.5, 1.0)(turn % 4))
      for (_ <- 0 until 120) step(random.nextDouble() < asks, leaves, rules)
      for (_ <- 0 until 8) step(asks = false, 0, rules)
      for (e <- 0 until p.egresses) io.used(e).expect(held(clock - 2, egressOf(_) == e).U)
      rules = rulesOf()
      tell(rules)
      for (_ <- 0 until 8) step(asks = false, 0, rules) // new rules count some clocks later
    }
    assert(refused > 300 && admitted > 300, s"$refused refused, $admitted admitted")
  }

  behavior of "The pool"

  it should "refuse what the rules refuse and nothing else, with four egresses and the victim search" in
    run(LaneParams(cells = 1024, queues = 16, egresses = 4, victims = 16), 1)

  it should "do so with one egress and any number of queues" in run(LaneParams(cells = 256, queues = 5), 2)
}
