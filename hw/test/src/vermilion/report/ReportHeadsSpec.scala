package vermilion.report

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams

/** A buffer of few cells, which are written again and again, and a read port that is seldom free. */
class ReportHeadsSpec extends AnyFlatSpec with Simulation {
  private val p = LaneParams(cells = 256, codel = true, reports = true)
  private val cells = 12

  /** An event, with what its cell held when it came. `overwritten`: the cell has been written since. */
  private case class Event(number: Int, lost: Int, cell: Int, stored: Boolean, head: BigInt) {
    var overwritten = !stored
  }

  behavior of "ReportHeads"

  it should "give each event the bytes that its cell had, or none if they were written over" in
    simulate(new ReportHeads(p)) { dut =>
      val seed = 31
      info(s"seed $seed")
      val random = new Random(seed)
      val memory = mutable.Map.from((0 until cells).map(_ -> BigInt(512, random)))
      val waiting = mutable.Queue.empty[Event] // without their head; then those with it
      var read = Option.empty[BigInt] // by the port, in the cycle before
      var number, lost, headless, withHead, counted = 0
      dut.io.in.valid.poke(false.B)
      dut.reset.poke(true.B)
      dut.clock.step(2)
      dut.reset.poke(false.B)
      for (cycle <- 0 until 30000) {
        val phase = cycle / 3000
        val (comes, writes, free, takes) =
          (0.3, Seq(0.05, 0.4)(phase % 2), Seq(0.9, 0.2, 0.02)(phase % 3), Seq(0.9, 0.1)(phase / 3 % 2))
        def happens(chance: Double) = random.nextDouble() < chance
        val written = Option.when(happens(writes))(random.nextInt(cells))
        val cell = Option.when(happens(comes))(if (happens(0.1)) written.getOrElse(0) else random.nextInt(cells))
        val stored = happens(0.9)
        val missed = happens(0.02)
        dut.io.written.valid.poke(written.isDefined.B)
        dut.io.written.bits.poke(written.getOrElse(0).U)
        dut.io.in.valid.poke(cell.isDefined.B)
        dut.io.in.bits.cell.poke(cell.getOrElse(0).U)
        dut.io.in.bits.stored.poke(stored.B)
        dut.io.in.bits.lenBytes.poke((number & 0xffff).U)
        dut.io.missed.poke(missed.B)
        dut.io.readData.poke(read.getOrElse(BigInt(512, random)).U)
        dut.io.out.ready.poke(happens(takes).B)
        val request = Option.when(dut.io.request.valid.peek().litToBoolean)(dut.io.request.bits.peek().litValue.toInt)
        val address = request.filter(_ => happens(free)).getOrElse(random.nextInt(cells))
        dut.io.readAddress.poke(address.U)
        val lostNow = dut.io.counts.lost.peek().litValue.toInt
        counted += lostNow
        if (dut.io.counts.headless.peek().litToBoolean) headless += 1
        if (dut.io.out.valid.peek().litToBoolean && dut.io.out.ready.peek().litToBoolean) {
          val out = dut.io.out.bits
          val of = out.number.peek().litValue.toInt
          while (waiting.nonEmpty && waiting.head.number < of) waiting.dequeue() // lost
          assert(waiting.nonEmpty, s"a report of number $of, which is of no event")
          val event = waiting.dequeue()
          assert(event.number == of && out.event.lenBytes.peek().litValue == (of & 0xffff))
          out.lost.expect(event.lost.U)
          if (out.hasHead.peek().litToBoolean) {
            assert(event.stored, "bytes of a packet that has none")
            out.head.expect(event.head.U)
            withHead += 1
          } else assert(event.overwritten, s"no bytes, although cell ${event.cell} holds them")
        }
        // A read that meets a write gives anything.
        read = Option.unless(written.contains(address))(memory(address))
        for (of <- cell) {
          waiting.enqueue(Event(number, lost, of, stored, memory(of)))
          number += 1
        }
        for (of <- written) {
          memory(of) = BigInt(512, random)
          for (event <- waiting if event.cell == of) event.overwritten = true
        }
        lost += lostNow
        dut.clock.step()
      }
      info(s"$number events, $counted lost, $withHead with bytes, $headless without")
      assert(withHead > 1500 && headless > 300 && counted > 1000)
    }
}
