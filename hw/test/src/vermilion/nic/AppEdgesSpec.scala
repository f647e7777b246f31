package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.nic.StreamBench._

/** The clock and the way in of RX side by side, so that one build serves both. */
class AppEdges(num: Int, denom: Int) extends Module {
  val clocks = Module(new AppClock(num, denom, ptpTime = true))
  val entry = Module(new RxEntry(beat))
  val time = IO(chiselTypeOf(clocks.io))
  val rx = IO(chiselTypeOf(entry.io))
  time <> clocks.io
  rx <> entry.io
}

class AppEdgesSpec extends AnyFunSuite with Simulation {
  test(
    "the clock counts whole periods exactly and can be the PTP clock; RX passes all but the rest of a frame that a reset cut"
  ) {
    val (num, denom) = (10, 3)
    simulate(new AppEdges(num, denom)) { dut =>
      val seed = 4801
      println(s"AppEdgesSpec seed $seed")
      val random = new Random(seed)
      poke(dut.rx.in.bits, NamedBeat(0, 0, last = true))
      dut.rx.in.valid.poke(true.B) // what outlives resets begins at random in this simulation; in an FPGA it is 0
      reset(dut.clock, dut.reset)
      dut.rx.in.valid.poke(false.B)

      // After n clocks the counter is at n periods; `now` shows it, or PTP, a clock later.
      var shown = BigInt(0)
      for (n <- 0 until 2000) {
        val ptp = BigInt(64, random)
        val usePtp = random.nextInt(4) == 0
        dut.time.ptp.poke(ptp.U)
        dut.time.usePtp.poke(usePtp.B)
        assert(dut.time.now.peek().litValue == shown, s"clock $n")
        shown = if (usePtp) ptp >> 16 else BigInt(n) * num / denom
        dut.clock.step()
      }

      // Frames with pauses, resets anywhere.
      val expected, came = mutable.ArrayBuffer.empty[NamedBeat]
      val waiting = mutable.Queue.empty[NamedBeat]
      var number, cuts, leftOut, told = 0
      var inside, cut = false
      for (_ <- 0 until 6000) {
        if (waiting.size < 8) {
          number += 1; waiting ++= NamedBeat.frame(number, 1 + random.nextInt(6), number & 0xffff)
        }
        val resets = random.nextInt(25) == 0
        dut.reset.poke(resets.B)
        val beatNow = Option.when(random.nextInt(4) != 0)(waiting.dequeue())
        dut.rx.in.valid.poke(beatNow.isDefined.B)
        beatNow.foreach(poke(dut.rx.in.bits, _))
        if (dut.rx.out.valid.peek().litToBoolean) came += peek(dut.rx.out.bits)
        if (dut.rx.lost.peek().litToBoolean) told += 1
        for (b <- beatNow) {
          if (!cut && !resets) expected += b
          inside = !b.last
          if (cut && b.last && !resets) leftOut += 1
          if (b.last) cut = false
        }
        if (resets) {
          if (inside) { if (!cut) cuts += 1 }
          cut = inside
        }
        dut.clock.step()
      }
      dut.reset.poke(false.B)
      dut.rx.in.valid.poke(false.B)
      if (dut.rx.out.valid.peek().litToBoolean) came += peek(dut.rx.out.bits)
      if (dut.rx.lost.peek().litToBoolean) told += 1
      assert(came == expected)
      assert(told == leftOut && told > 50)
      assert(cuts > 50)
      println(s"  $number frames, $cuts cut by a reset, ${came.count(_.place == 0)} began")
    }
  }
}
