package vermilion.stream

import chisel3._
import chisel3.util._
import org.scalatest.funsuite.AnyFunSuite
import vermilion.Simulation
import vermilion.control.{AxiLite, AxiLiteSlave}

/** A bus behind a held reset, as a lane's. */
private class BusBehindReset extends Module {
  val axi = IO(new AxiLite(4))
  val written = IO(Valid(UInt(32.W)))
  private val held = HeldReset(clock, reset)
  private val slave = withReset(held) { Module(new AxiLiteSlave(4)) }
  slave.io.axi.takeUnless(held, axi)
  slave.io.hold := false.B
  slave.io.readData := 77.U
  written.valid := slave.io.write.valid && !held
  written.bits := slave.io.write.bits.data
}

class HeldResetSpec extends AnyFunSuite with Simulation {
  test("an access that begins in the clock behind a reset of any length is answered once, and none from before it") {
    simulate(new BusBehindReset) { dut =>
      def step(): Unit = dut.clock.step()
      def offer(on: Boolean): Unit = for (port <- Seq(dut.axi.aw.valid, dut.axi.w.valid, dut.axi.ar.valid))
        port.poke(on.B)
      dut.axi.w.bits.strb.poke(15.U)
      dut.axi.b.ready.poke(true.B)
      dut.axi.r.ready.poke(true.B)
      for (underWay <- 0 to 3; resetCycles <- 1 to 4) {
        // Something is on its way when the reset comes.
        dut.axi.w.bits.data.poke(1.U)
        offer(on = true)
        for (_ <- 0 until underWay) step()
        offer(on = false)
        dut.reset.poke(true.B)
        for (_ <- 0 until resetCycles) step()
        dut.reset.poke(false.B)
        dut.axi.w.bits.data.poke(2.U)
        offer(on = true)
        var (writes, answers, reads) = (0, 0, 0)
        for (_ <- 0 until 16) {
          val ports = Seq(dut.axi.aw, dut.axi.w, dut.axi.ar)
          val taken = ports.map(port => port.ready.peek().litToBoolean && port.valid.peek().litToBoolean)
          if (dut.written.valid.peek().litToBoolean) {
            dut.written.bits.expect(2.U)
            writes += 1
          }
          if (dut.axi.b.valid.peek().litToBoolean) answers += 1
          if (dut.axi.r.valid.peek().litToBoolean) reads += 1
          step()
          for ((port, was) <- ports.zip(taken) if was) port.valid.poke(false.B)
        }
        assert((writes, answers, reads) == (1, 1, 1), s"$underWay clocks under way, a reset of $resetCycles clocks")
      }
    }
  }
}
