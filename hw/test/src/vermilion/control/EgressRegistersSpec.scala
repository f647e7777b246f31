package vermilion.control

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random
import vermilion.Simulation
import vermilion.control.{RegisterMap => R}
import vermilion.lane.LaneParams

/** The registers of a build with several egresses: pauses, routes, the shaper of each port, and the pool of cells. */
class EgressRegistersSpec extends AnyFlatSpec with Simulation {
  private val p = LaneParams(
    queues = 32,
    inputs = 10,
    cells = 256,
    flows = 0,
    egresses = 4,
    stallable = Seq.fill(10)(true)
  )

  /** Reset, and a first write: those behind it are answered at once. */
  private def start(dut: ControlPort): Unit = {
    dut.reset.poke(true.B)
    dut.clock.step(2)
    dut.reset.poke(false.B)
    dut.io.lane.commit.ready.poke(true.B)
    write(dut, R.QueueSelect(), 0)(())
  }

  private def write(dut: ControlPort, address: Int, data: BigInt)(look: => Unit): Unit = {
    val axi = dut.io.axi
    axi.aw.bits.poke(address.U)
    axi.w.bits.data.poke(data.U)
    axi.w.bits.strb.poke(15.U)
    axi.aw.valid.poke(true.B)
    axi.w.valid.poke(true.B)
    axi.b.ready.poke(true.B)
    var (address0, data0, answered, clocks) = (false, false, false, 0)
    while (!answered) {
      val (addressTaken, dataTaken) = (axi.aw.ready.peek().litToBoolean, axi.w.ready.peek().litToBoolean)
      answered = axi.b.valid.peek().litToBoolean
      look
      dut.clock.step()
      address0 |= addressTaken
      data0 |= dataTaken
      axi.aw.valid.poke((!address0).B)
      axi.w.valid.poke((!data0).B)
      clocks += 1
      assert(clocks < RegisterFile.Words + 100, s"a write of $address is not answered")
    }
    for (_ <- 0 until 4) {
      look
      dut.clock.step()
    }
  }

  behavior of "The registers of several egresses"

  they should "pause each egress, route each input and set each port's shaper, and no other" in
    simulate(new ControlPort(p)) { dut =>
      val random = new Random(3)
      info("seed 3")
      start(dut)
      def paused = dut.io.lane.paused.map(_.peek().litToBoolean)
      def routes = dut.io.lane.routes.map(_.peek().litValue.toInt)
      assert(!paused.contains(true) && routes.forall(_ == 0), "pauses or routes behind a reset")
      for (_ <- 0 until 20) {
        val (bits, word) = (random.nextInt(256), random.nextInt(2))
        write(dut, R.Pause(), bits)(())
        assert(paused == (0 until p.egresses).map(e => (bits >> e & 1) == 1))
        val (flush, queue, on) = (random.nextInt(256), random.nextInt(40), random.nextBoolean())
        write(dut, R.Flush(), BigInt(flush) | BigInt(queue) << 16 | (if (on) BigInt(1) << 31 else 0))(())
        val flushed = dut.io.lane.flush
        assert(flushed.egresses.map(_.peek().litToBoolean) == (0 until p.egresses).map(e => (flush >> e & 1) == 1))
        assert(flushed.queue.valid.peek().litToBoolean == (on && queue < p.queues))
        if (on && queue < p.queues) assert(flushed.queue.bits.peek().litValue == queue)
        val (before, value) = (routes, BigInt(32, random))
        write(dut, R.Routes(word), value)(())
        for ((route, input) <- routes.zipWithIndex) {
          val wanted = if (input / 8 == word) (value >> (4 * (input % 8))).toInt & 3 else before(input)
          assert(route == wanted, s"input $input with the word $value")
        }
        val (egress, burst) = (random.nextInt(p.egresses), random.nextInt(1 << 20))
        var seen = Seq.empty[(Int, BigInt)]
        write(dut, R.PortEgress(), egress)(())
        write(dut, R.PortBurstLow(), burst)(())
        write(dut, R.PortBurstHigh(), 0) {
          for ((port, e) <- dut.io.lane.portShaper.zipWithIndex if port.valid.peek().litToBoolean)
            seen :+= e -> port.bits.burst.peek().litValue
        }
        assert(seen == Seq(egress -> BigInt(burst)))
      }
    }

  they should "set the pool, and show what of it is used and was at most" in simulate(new ControlPort(p)) { dut =>
    val random = new Random(4)
    info("seed 4")
    start(dut)
    val pool = dut.io.lane.pool
    def told = (pool.size +: (pool.reserve ++ pool.cap)).map(_.peek().litValue.toInt)
    assert(told.forall(_ == 0), "a pool behind a reset")
    val registers =
      R.PoolSize() +: ((0 until p.egresses).map(R.PoolReserve(_)) ++ (0 until p.egresses).map(R.PoolCap(_)))
    val values = Array.fill(registers.size)(0)
    for (_ <- 0 until 30) {
      val i = random.nextInt(registers.size)
      values(i) = random.nextInt(p.cells + 1)
      write(dut, registers(i), values(i))(())
      assert(told == values.toSeq)
    }
    var most = Array.fill(p.egresses + 1)(0)
    for (turn <- 0 until 30) {
      if (turn == 15) {
        for (port <- dut.io.lane.poolUsed) port.poke(0.U)
        dut.clock.step(2)
        write(dut, R.Control(), 2)(()) // clear_statistics
        most = Array.fill(p.egresses + 1)(0)
      }
      val used = Seq.fill(p.egresses)(random.nextInt(p.cells / p.egresses))
      for ((port, cells) <- dut.io.lane.poolUsed.zip(used)) port.poke(cells.U)
      dut.clock.step(4)
      for ((cells, e) <- (used :+ used.sum).zipWithIndex) {
        most(e) = most(e).max(cells)
        val (shown, greatest) =
          if (e < p.egresses) (R.PoolUsed(e), R.PoolMost(e)) else (R.PoolUsedTotal(), R.PoolMostTotal())
        assert(
          read(dut, shown) == cells && read(dut, greatest) == most(e),
          s"egress $e of $used, at most ${most.toSeq}"
        )
      }
    }
  }

  private def read(dut: ControlPort, address: Int): Int = {
    val axi = dut.io.axi
    axi.ar.bits.poke(address.U)
    axi.ar.valid.poke(true.B)
    axi.r.ready.poke(true.B)
    var (asked, clocks, data) = (false, 0, Option.empty[BigInt])
    while (data.isEmpty) {
      val taken = axi.ar.ready.peek().litToBoolean
      if (axi.r.valid.peek().litToBoolean) data = Some(axi.r.bits.data.peek().litValue)
      dut.clock.step()
      asked |= taken
      axi.ar.valid.poke((!asked).B)
      clocks += 1
      assert(clocks < 100, s"a read of $address is not answered")
    }
    data.get.toInt
  }
}
