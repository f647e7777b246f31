package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams
import vermilion.nic.{AppRegisterMap => R}

class AppRegistersSpec extends AnyFunSuite with Simulation {
  private val counters = 10
  private val start = (BigInt(3) << 32) - 250 // of the counters: their high halves change while they are read

  private class Bench(dut: AppRegisters, p: NicParams, seed: Int) {
    val random = new Random(seed)
    val host = new AxiLiteHost(dut.io.axi, random)
    host.pace = 0.7
    val events = Array.fill(p.ports, counters)(start)
    var busy = false
    var now = (BigInt(1) << 47) + 123
    def clock(): Unit = {
      now = (now + 4) & ((BigInt(1) << 48) - 1)
      dut.io.now.poke(now.U)
      for ((status, port) <- dut.io.status.zipWithIndex; (event, i) <- status.counted.zipWithIndex) {
        val on = busy && random.nextInt(10) <= i
        event.poke(on.B)
        if (on) events(port)(i) += 1
      }
      host.clock()
      dut.clock.step()
    }
    private def until(done: => Boolean): Unit = {
      var clocks = 0
      while (!done) {
        clock()
        clocks += 1
        assert(clocks < 1000, "hangs")
      }
    }
    def write(address: Int, word: BigInt, strb: Int = 15): Unit = {
      val before = host.written
      host.write(address, word, strb)
      until(host.written > before)
    }
    def read(address: Int): BigInt = {
      val before = host.answers.size
      host.reads += address
      until(host.answers.size > before)
      host.answers.last
    }
  }

  private def run(p: NicParams, seed: Int): Unit = simulate(new AppRegisters(p, start)) { dut =>
    println(s"AppRegistersSpec ${p.ports} ports, host lanes ${p.hasHost}, seed $seed")
    val bench = new Bench(dut, p, seed)
    import bench._
    StreamBench.reset(dut.clock, dut.reset)
    dut.io.ptpLocked.poke(true.B)
    for ((status, i) <- dut.io.status.zipWithIndex) {
      status.txByLane.poke((i % 2 == 1).B)
      status.rxRoute.poke((i % 4).U)
      status.waits.poke((i % 2 == 0).B)
    }
    clock()

    // What is built, and what a reset leaves.
    def ways(i: Int): BigInt = // lane and egress to the wire, and to the host; 0xff: none
      if (i >= p.ports) 0
      else if (p.shared.isDefined) (2 * i << 8) + (BigInt(2 * i + 1) << 24)
      else if (p.hasHost) 2 * i + (BigInt(2 * i + 1) << 16)
      else i + (BigInt(0xffff) << 16)
    val expected = Seq(
      R.BlockType() -> BigInt("564d0002", 16),
      R.Version() -> BigInt("10001", 16),
      R.NextBlock() -> BigInt(0x10000),
      R.Ports() -> BigInt(p.ports),
      R.Lanes() -> BigInt(p.lanes.size),
      R.DataBits() -> BigInt(64),
      R.Features() -> BigInt(
        (if (p.hasHost) 1 else 0) + (if (p.timestamps) 2 else 0) + (if (p.ptpTime) 4 else 0)
      ),
      R.ClockNum() -> BigInt(10),
      R.ClockDenom() -> BigInt(3),
      R.StatIds() -> BigInt(16),
      R.Control() -> BigInt(0),
      R.Status() -> BigInt(1),
      R.Statistics() -> BigInt(0x10040)
    ) ++ (0 until 8).flatMap { i =>
      val here = i < p.ports
      Seq(
        R.PortRoute(i) -> BigInt(0),
        R.PortCompletion(i) -> BigInt(if (here) 1 else 0),
        R.PortWays(i) -> ways(i),
        R.PortRouteInEffect(i) -> BigInt(if (here) (i % 2) + (i % 4 << 8) + (1 - i % 2 << 16) else 0)
      )
    }
    for ((address, value) <- expected) assert(read(address) == value, f"0x$address%x")
    for (address <- Seq(0x0c, 0x2c, 0x3c, 0x54, 0xfc, 0x160, 0x17c, 0x500, 0x8100, 0xfffc))
      assert(read(address) == 0, f"0x$address%x")

    // Settings, with strobes; constants do not change.
    for ((address, _) <- expected if !Seq(R.Control(), R.Statistics()).contains(address)) write(address, 0)
    for ((address, value) <- expected.take(9)) assert(read(address) == value)
    write(R.Statistics(), BigInt("ffffffff", 16), strb = 2)
    assert(read(R.Statistics()) == 0x10f40)
    write(R.Statistics(), 0x123)
    assert(read(R.Statistics()) == 0x123 && dut.io.control.statBase.peek().litValue == 0x123)
    assert(!dut.io.control.statEnable.peek().litToBoolean)
    write(R.Control(), 3)
    assert(read(R.Control()) == (if (p.ptpTime) 1 else 0))
    assert(dut.io.control.usePtp.peek().litToBoolean == p.ptpTime)
    for (_ <- 0 until 100) {
      val i = random.nextInt(p.ports)
      val (tx, rx) = (random.nextInt(2), random.nextInt(4))
      val taken = if (rx == RxRoute.HostLane && !p.hasHost) RxRoute.Bypass else rx
      write(R.PortRoute(i), BigInt(random.nextInt(1 << 22)) << 10 | (rx << 8) | (random.nextInt(128) << 1) | tx)
      assert(read(R.PortRoute(i)) == (taken << 8 | tx), s"route $rx of RX")
      val port = dut.io.port(i)
      assert(port.rxRoute.peek().litValue == taken && port.txByLane.peek().litValue == tx)
      write(R.PortCompletion(i), tx)
      assert(port.completeAtEnqueue.peek().litValue == tx)
    }

    // Counters: a pair of words is one count, of a moment between its read and 20 clocks before.
    busy = true
    def total(i: Int, k: Int): BigInt = {
      val low = read(R.PortTakenLow(i) + 8 * k)
      for (_ <- 0 until 40) clock()
      read(R.PortTakenHigh(i) + 8 * k) << 32 | low
    }
    val fastest = counters - 1 // counts in every clock; its high half is to change between the reads of its halves
    while (events(0)(fastest) < (BigInt(3) << 32) - 20) clock()
    for (n <- 0 until 200) {
      val (i, k) = if (n == 0) (0, fastest) else (random.nextInt(p.ports), random.nextInt(counters))
      val before = events(i)(k)
      val value = total(i, k)
      assert(
        value >= before - 24 && value <= events(i)(k),
        s"counter $k of port $i: $value, $before to ${events(i)(k)}"
      )
    }
    busy = false
    for (_ <- 0 until 40) clock()
    for (i <- 0 until p.ports; k <- 0 until counters) assert(total(i, k) == events(i)(k), s"counter $k of port $i")
    assert(events.flatten.forall(_ >= (BigInt(3) << 32)), "not all high halves have changed")

    // The time's high half is that of its low half.
    for (start <- Seq(now, (BigInt(5) << 32) - 30)) {
      now = start
      val low = read(R.NowLow())
      val at = now
      for (_ <- 0 until 100) clock()
      val time = read(R.NowHigh()) << 32 | low
      assert(time <= at && time >= at - 400, s"$time, not $at")
    }
  }

  test("registers of a block with host lanes") {
    val wire = LaneParams.nic10g
    run(
      NicParams(2, wire, Some(wire.copy(inputs = 1, stallable = Seq(false))), clockNum = 10, clockDenom = 3),
      seed = 4701
    )
  }

  test("registers of a block with one lane for all ways") {
    run(NicParams(2, shared = Some(LaneParams.forBenches("card-2x10g")), clockNum = 10, clockDenom = 3), seed = 4703)
  }

  test("without host lanes and PTP time, what is not built cannot be chosen") {
    run(
      NicParams(3, LaneParams.nic10g, timestamps = false, ptpTime = false, clockNum = 10, clockDenom = 3),
      seed = 4702
    )
  }
}
