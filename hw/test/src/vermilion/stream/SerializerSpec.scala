package vermilion.stream

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Bits

class SerializerSpec extends AnyFunSuite with ChiselSim {
  private case class Beat(bytes: Seq[Int], last: Boolean)

  private def run(dataBits: Int, seed: Long): Unit = simulate(new Serializer(dataBits)) { dut =>
    println(s"SerializerSpec $dataBits bits, seed $seed")
    val random = new Random(seed)
    val beatBytes = dataBits / 8
    dut.reset.poke(true.B)
    dut.clock.step()
    dut.reset.poke(false.B)
    for (
      (name, source, sink) <- Seq(
        ("full rate", 1.0, 1.0),
        ("slow source", 0.3, 1.0),
        ("slow sink", 1.0, 0.5),
        ("both", 0.5, 0.5)
      )
    ) {
      val frames = Seq.fill(150)(Seq.fill(1 + random.nextInt(400))(random.nextInt(256)))
      val cells = mutable.Queue[(Seq[Int], Boolean, Boolean)]()
      val expected = mutable.Queue[Beat]()
      for (f <- frames) {
        val parts = f.grouped(64).toSeq
        for ((c, i) <- parts.zipWithIndex) cells.enqueue((c, i == 0, i == parts.size - 1))
        val beats = f.grouped(beatBytes).toSeq
        for ((b, i) <- beats.zipWithIndex) expected.enqueue(Beat(b, i == beats.size - 1))
      }
      val total = expected.size
      var offered = false
      var clock = 0
      while (expected.nonEmpty) {
        offered = cells.nonEmpty && (offered || random.nextDouble() < source)
        dut.io.in.valid.poke(offered.B)
        if (offered) {
          val (bytes, first, last) = cells.head
          dut.io.in.bits.data.poke(Bits.pack(bytes ++ Seq.fill(64 - bytes.size)(random.nextInt(256))).U)
          dut.io.in.bits.first.poke(first.B)
          dut.io.in.bits.last.poke(last.B)
          dut.io.in.bits.bytes.poke((if (last) bytes.size else random.nextInt(65)).U)
        }
        val ready = random.nextDouble() < sink
        dut.io.out.ready.poke(ready.B)
        if (ready && dut.io.out.valid.peek().litToBoolean) {
          val b = expected.dequeue()
          val out = dut.io.out.bits
          assert(out.keep.peek().litValue == (BigInt(1) << b.bytes.size) - 1, name)
          assert(Bits.unpack(out.data.peek().litValue, b.bytes.size) == b.bytes, name)
          assert(out.last.peek().litToBoolean == b.last, name)
          assert(!out.bad.peek().litToBoolean)
        }
        if (offered && dut.io.in.ready.peek().litToBoolean) { cells.dequeue(); offered = false }
        dut.clock.step()
        clock += 1
      }
      dut.io.in.valid.poke(false.B)
      dut.io.out.ready.poke(true.B)
      assert(!dut.io.out.valid.peek().litToBoolean, "nothing is left over")
      if (name == "full rate") assert(clock == total + 1, "a beat every clock, one clock of latency")
    }
  }

  for (bits <- Seq(64, 128, 512))
    test(s"$bits bits: cells in = bytes out, no gap at full rate, with random stalls and backpressure") {
      run(bits, seed = 2000 + bits)
    }
}
