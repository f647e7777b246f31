package vermilion.stream

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.Bits

class SerializerSpec extends AnyFunSuite with Simulation {
  private case class Beat(bytes: Seq[Int], last: Boolean)

  /** What is written over a cell: bytes by place, and as the block is told. */
  private case class Edit(
      place: Int,
      traffic: Option[Int],
      checksum: Option[Int],
      padStart: Option[Int],
      isIp4: Boolean
  ) {
    private val at = CellEdit.Offsets(place)
    val bytes: Map[Int, Int] =
      padStart.toSeq
        .flatMap(start =>
          (if (isIp4) Seq(1, 1, 1, 1) else Seq(1, 2, 0, 0)).zipWithIndex.map { case (b, i) => start + i -> b }
        )
        .toMap ++
        traffic.toSeq.flatMap(t => Seq(at -> t / 256, at + 1 -> t % 256)) ++
        checksum.toSeq.flatMap(c => Seq(at + 10 -> c / 256, at + 11 -> c % 256))
  }
  private def anEdit(random: Random, isIp4: Boolean) = {
    def maybe(value: => Int) = Option.when(random.nextBoolean())(value)
    // The padding of a first cell, or that of a second, where it may have begun in the first; never over the words.
    def start = if (random.nextBoolean()) 34 + random.nextInt(39) else random.nextInt(12) - 3
    val pads = maybe(start)
    val words = pads.forall(_ >= 34)
    Edit(
      random.nextInt(3),
      maybe(random.nextInt(1 << 16)).filter(_ => words),
      maybe(random.nextInt(1 << 16)).filter(_ => words),
      pads,
      isIp4
    )
  }

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
      val cells = mutable.Queue[(Seq[Int], Boolean, Boolean, Edit)]()
      val expected = mutable.Queue[Beat]()
      for (f <- frames) {
        val parts = f.grouped(64).toSeq
        val isIp4 = random.nextBoolean()
        val sent = for ((c, i) <- parts.zipWithIndex) yield {
          val edit = anEdit(random, isIp4)
          cells.enqueue((c, i == 0, i == parts.size - 1, edit))
          c.zipWithIndex.map { case (byte, at) => edit.bytes.getOrElse(at, byte) }
        }
        val beats = sent.flatten.grouped(beatBytes).toSeq
        for ((b, i) <- beats.zipWithIndex) expected.enqueue(Beat(b, i == beats.size - 1))
      }
      val total = expected.size
      var offered = false
      var clock = 0
      while (expected.nonEmpty) {
        offered = cells.nonEmpty && (offered || random.nextDouble() < source)
        dut.io.in.valid.poke(offered.B)
        if (offered) {
          val (bytes, first, last, edit) = cells.head
          dut.io.in.bits.data.poke(Bits.pack(bytes ++ Seq.fill(64 - bytes.size)(random.nextInt(256))).U)
          val to = dut.io.in.bits.edit
          to.place.poke(edit.place.U)
          to.setsTraffic.poke(edit.traffic.isDefined.B)
          to.traffic.poke(edit.traffic.getOrElse(random.nextInt(1 << 16)).U)
          to.setsChecksum.poke(edit.checksum.isDefined.B)
          to.checksum.poke(edit.checksum.getOrElse(random.nextInt(1 << 16)).U)
          to.pads.poke(edit.padStart.isDefined.B)
          to.padStart.poke(((edit.padStart.getOrElse(random.nextInt(128)) + 128) % 128).U)
          to.isIp4.poke(edit.isIp4.B)
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
    test(s"$bits bits: cells in, edited, = bytes out, no gap at full rate, with random stalls and backpressure") {
      run(bits, seed = 2000 + bits)
    }
}
