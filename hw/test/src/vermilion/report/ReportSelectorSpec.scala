package vermilion.report

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** Events of both kinds while cells are written: every event comes out in order, and is `gone` exactly if its cell was written in between. */
class ReportSelectorSpec extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 256, codel = true, reports = true)
  private val cells = 6
  private val earliest = 3 // cycles from an event's entry to `out`

  private case class Event(number: Int, cell: Int, from: Int) {
    var gone = false
  }

  private def start(dut: ReportSelector): Unit = {
    for (port <- Seq(dut.io.arrival, dut.io.departure)) port.valid.poke(false.B)
    dut.io.select.valid.poke(false.B)
    dut.io.written.valid.poke(false.B)
    dut.io.settings.every.poke(1.U)
    dut.io.settings.interval.poke(0.U)
    dut.io.settings.burst.poke(0.U)
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
    dut.io.select.valid.poke(true.B)
    dut.io.select.bits.queue.poke(0.U)
    dut.io.select.bits.reasons.poke(((1 << Reason.Count) - 1).U)
    dut.clock.step()
    dut.io.select.valid.poke(false.B)
    dut.clock.step(2)
  }

  behavior of "ReportSelector"

  it should "tell of each event whether its cell was written since it came" in
    simulate(new ReportSelector(p)) { dut =>
      val seed = 41
      info(s"seed $seed")
      val random = new Random(seed)
      start(dut)
      val inside = mutable.ArrayBuffer.empty[Event]
      var number, missed, gone, kept, longest = 0
      for (cycle <- 0 until 30000) {
        val (arrivals, departures, writes) =
          Seq((0.2, 0.2, 0.03), (0.3, 0.9, 0.02), (0.5, 0.4, 0.3))(cycle / 500 % 3)
        def happens(chance: Double) = random.nextDouble() < chance
        val written = Option.when(happens(writes))(random.nextInt(cells))
        dut.io.written.valid.poke(written.isDefined.B)
        dut.io.written.bits.poke(written.getOrElse(0).U)
        if (dut.io.missed.peek().litToBoolean) { // the arrival of the cycle before
          val last = inside.lastIndexWhere(event => event.from == cycle - 1 && event.number % 2 == 0)
          inside.remove(last)
          missed += 1
        }
        if (dut.io.out.valid.peek().litToBoolean) {
          val of = dut.io.out.bits.lenBytes.peek().litValue.toInt
          val at = inside.indexWhere(event => (event.number & 0xffff) == of)
          assert(at >= 0, s"event $of came out and never in, or twice")
          val event = inside.remove(at)
          assert(!inside.take(at).exists(_.number % 2 == event.number % 2), s"event $of overtook another")
          dut.io.out.bits.cell.expect(event.cell.U)
          dut.io.out.bits.gone.expect(event.gone.B, s"event $of in cycle $cycle, from ${event.from}")
          if (event.gone) gone += 1 else kept += 1
          longest = longest.max(cycle - event.from)
          assert(cycle - event.from >= earliest)
        }
        for ((port, chance, kind) <- Seq((dut.io.arrival, arrivals, 0), (dut.io.departure, departures, 1))) {
          val comes = happens(chance)
          val cell = if (happens(0.1)) written.getOrElse(0) else random.nextInt(cells)
          port.valid.poke(comes.B)
          if (comes) {
            val id = 2 * number + kind
            number += 1
            port.bits.lenBytes.poke((id & 0xffff).U)
            port.bits.cell.poke(cell.U)
            port.bits.gone.poke(false.B)
            port.bits.stored.poke(true.B)
            port.bits.queue.poke(0.U)
            port.bits.reason.poke((1 + random.nextInt(13)).U)
            inside += Event(id, cell, cycle)
          }
        }
        for (cell <- written; event <- inside if event.cell == cell) event.gone = true
        dut.clock.step()
      }
      info(s"$number events, $missed missed, $gone gone, $kept not, $longest cycles at most")
      assert(missed > 500 && gone > 500 && kept > 500 && longest > 100)
    }

  it should "sample at once by a smaller `every`" in
    simulate(new ReportSelector(p)) { dut =>
      start(dut)
      def sampled(events: Int): Seq[Int] = (0 until events).filter { _ =>
        dut.io.departure.valid.poke(true.B)
        dut.io.departure.bits.reason.poke(Reason.DepartureDropped.U)
        dut.io.departure.bits.queue.poke(0.U)
        dut.clock.step()
        dut.io.departure.valid.poke(false.B)
        dut.clock.step(earliest - 1)
        val found = dut.io.out.valid.peek().litToBoolean
        dut.clock.step()
        found
      }
      for (
        (every, expected) <- Seq((1, Seq(0, 1, 2)), (65535, Seq(0)), (3, Seq(0, 3)), (0, Seq(0, 1)), (2, Seq(0, 2)))
      ) {
        dut.io.settings.every.poke(every.U)
        assert(sampled(expected.last + 1) == expected, s"every $every")
      }
      // A larger one applies from the next sampled event on: two events ago was the last.
      dut.io.settings.every.poke(3.U)
      assert(sampled(6) == Seq(1, 4))
    }
}
