package vermilion.stats

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.flatspec.AnyFlatSpec
import vermilion.lane.LaneParams

/** A packet departs in each of the clocks in which a clear is tidied up, and behind it. The block asserts that no record is read in the clock of its
  * write, which a RAM need not answer; simulated ones do.
  */
class StatisticsClearSpec extends AnyFlatSpec with ChiselSim {
  behavior of "Statistics"

  it should "read no record in the clock of its write, whenever a packet departs behind a clear, in turn" in {
    val p = LaneParams(queues = 2, slotClocks = 8)
    val slots = new CounterPlaces(searched = false).slots
    simulate(Statistics(p)) { dut =>
      def pulse(port: Bool): Unit = {
        port.poke(true.B)
        dut.clock.step()
        port.poke(false.B)
      }
      dut.reset.poke(true.B)
      dut.clock.step(2)
      dut.reset.poke(false.B)
      while (!dut.io.ready.peek().litToBoolean) dut.clock.step()
      dut.io.departed.bits.queue.poke(1.U)
      dut.io.departed.bits.lenBytes.poke(60.U)
      var tidied = 0
      for (clocks <- 0 to p.queues * slots + 10) {
        pulse(dut.io.window.clear)
        dut.clock.step(clocks)
        if (dut.io.window.clearing.peek().litToBoolean) tidied += 1
        pulse(dut.io.departed.valid)
        while (dut.io.window.clearing.peek().litToBoolean) dut.clock.step()
        dut.clock.step(20)
      }
      assert(tidied > p.queues * slots / 2, "most packets departed behind the tidying: little is tested")
    }
  }
}
