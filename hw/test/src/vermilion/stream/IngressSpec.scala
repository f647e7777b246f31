package vermilion.stream

import chisel3._
import chisel3.simulator.scalatest.ChiselSim
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Bits
import vermilion.lane.LaneParams
import vermilion.parse.{HeaderReference, PeekHeaders, RandomFrame}

class IngressSpec extends AnyFunSuite with ChiselSim {
  private case class Frame(bytes: Array[Int], bad: Boolean = false, badKeep: Boolean = false)

  /** What one phase does; probabilities of a clock's valid or ready. */
  private case class Phase(
      name: String,
      frames: Random => Frame,
      count: Int,
      source: Double = 1.0,
      sink: Double = 1.0, // of `write` and `meta`
      free: Double = 1.0, // of `alloc`
      lineRate: Boolean = false,
      mayStarve: Boolean = false
  )

  private def sized(n: Int)(r: Random): Frame = Frame(Array.fill(n)(r.nextInt(256)))
  private def mixed(r: Random): Frame = {
    val f = new RandomFrame(r).next(300)
    Frame(f, bad = r.nextInt(8) == 0, badKeep = r.nextInt(16) == 0)
  }
  private def long(r: Random): Frame =
    sized(Seq(1521, 1522, 1523, 1600, 1601, 3000, 16383, 65535, 20000)(r.nextInt(9)))(r)

  private def run(p: LaneParams, seed: Long): Unit = simulate(new IngressBench(p)) { dut =>
    println(s"IngressSpec ${p.dataBits} bits, ${p.inputs} inputs, seed $seed")
    val random = new Random(seed)
    val beatBytes = p.dataBits / 8
    val full = (BigInt(1) << beatBytes) - 1
    val sink = if (p.inputs > 1) 0.6 else 1.0
    val phases = Seq(
      Phase("64 B frames at line rate", sized(64), 300 * p.inputs, lineRate = true),
      Phase("frames of all sizes at line rate", r => sized(60 + r.nextInt(200))(r), 100 * p.inputs, lineRate = true),
      Phase("random frames, random stalls", mixed, 400, source = 0.6, sink = sink),
      Phase("random frames, no stalls", mixed, 300),
      Phase("runts", r => sized(1 + r.nextInt(20))(r), 300, source = 0.9, sink = sink),
      Phase("cells run out", mixed, 300, source = 0.8, sink = sink, free = 0.8 * beatBytes / 64 / 2, mayStarve = true),
      Phase("longer than maxFrameBytes", long, 15, sink = sink)
    )
    dut.reset.poke(true.B)
    dut.clock.step()
    dut.reset.poke(false.B)

    val free = mutable.Queue.from(random.shuffle((0 until p.cells).toList))
    val held = mutable.Set[Int]() // given out, not yet returned
    val written = mutable.Map[Int, Seq[Int]]()
    val next = mutable.Map[Int, Int]()
    var allocOffered = false

    for (phase <- phases) {
      val frames = Seq.fill(phase.count)(phase.frames(random))
      val beats = Array.fill(p.inputs)(mutable.Queue[(Seq[Int], Boolean, Boolean, Boolean)]())
      val expected = Array.fill(p.inputs)(mutable.Queue[Frame]())
      for ((f, n) <- frames.zipWithIndex) {
        val groups = f.bytes.toSeq.grouped(beatBytes).toSeq
        for ((g, k) <- groups.zipWithIndex)
          beats(n % p.inputs).enqueue((g, k == groups.size - 1, f.bad, f.badKeep))
        expected(n % p.inputs).enqueue(f)
      }
      // Silence first, in which each ingress fills its little store of free cells.
      for (i <- 0 until p.inputs) dut.io.in(i).valid.poke(false.B)
      for (_ <- 0 until 2 * Ingress.CellsAhead * p.inputs if !phase.mayStarve) {
        dut.io.alloc.valid.poke(true.B)
        dut.io.alloc.bits.poke(free.head.U)
        if (dut.io.alloc.ready.peek().litToBoolean) held += free.dequeue()
        allocOffered = false
        dut.clock.step()
      }
      val beatsInAll = beats.map(_.size).max
      val offered = Array.fill(p.inputs)(false)
      var metas = 0
      var starved = 0
      var stalls = 0
      var clock = 0
      var quiet = 0
      while (metas < frames.size) {
        for (i <- 0 until p.inputs) {
          offered(i) = beats(i).nonEmpty && (offered(i) || random.nextDouble() < phase.source)
          val in = dut.io.in(i)
          in.valid.poke(offered(i).B)
          if (offered(i)) {
            val (bytes, last, bad, badKeep) = beats(i).head
            val ones = (BigInt(1) << bytes.size) - 1
            in.bits.data.poke(Bits.pack(bytes ++ Seq.fill(beatBytes - bytes.size)(random.nextInt(256))).U)
            // A hole below the top lane keeps the length what it was.
            in.bits.keep.poke((if (badKeep && last && bytes.size > 1) ones - 1 else if (last) ones else full).U)
            in.bits.last.poke(last.B)
            in.bits.bad.poke((if (last) bad else random.nextBoolean()).B)
          }
        }
        allocOffered = free.nonEmpty && (allocOffered || random.nextDouble() < phase.free)
        dut.io.alloc.valid.poke(allocOffered.B)
        if (allocOffered) dut.io.alloc.bits.poke(free.head.U)
        val writeReady = random.nextDouble() < phase.sink
        val metaReady = random.nextDouble() < phase.sink
        dut.io.write.ready.poke(writeReady.B)
        dut.io.meta.ready.poke(metaReady.B)

        if (metaReady && dut.io.meta.valid.peek().litToBoolean) {
          val m = dut.io.meta.bits
          val f = expected(m.input.peek().litValue.toInt).dequeue()
          val where = s"${phase.name}, frame $metas of ${f.bytes.length} bytes"
          val cells = m.cells.peek().litValue.toInt
          val noBuffer = m.noBuffer.peek().litToBoolean
          val needed = (f.bytes.length + 63) / 64
          assert(m.lenBytes.peek().litValue.toInt == f.bytes.length.min(65535), where)
          assert(m.bad.peek().litToBoolean == (f.bad || (f.badKeep && lastBeatSize(f, beatBytes) > 1)), where)
          assert(PeekHeaders(m.headers) == HeaderReference.parse(f.bytes), where)
          if (f.bytes.length > p.maxFrameBytes) {
            assert(noBuffer && cells <= p.maxFrameBytes / 64, where)
            if (!phase.mayStarve) assert(cells == p.maxFrameBytes / 64, where)
          } else {
            assert(noBuffer == (cells < needed) && cells <= needed, where)
            if (noBuffer) { assert(phase.mayStarve, s"$where: no buffer though cells were free"); starved += 1 }
          }
          var at = m.headCell.peek().litValue.toInt
          val stored = (0 until cells).flatMap { k =>
            val here = written.remove(at)
            assert(here.isDefined, s"$where: meta before its cell $k was written")
            assert(held.remove(at), where)
            free.enqueue(at)
            if (k < cells - 1) at = next(at)
            here.get
          }
          val comparable = f.bytes.length.min(cells * 64)
          assert(stored.take(comparable) == f.bytes.toSeq.take(comparable), where)
          metas += 1
          quiet = 0
        }
        if (writeReady && dut.io.write.valid.peek().litToBoolean) {
          val w = dut.io.write.bits
          val cell = w.cell.peek().litValue.toInt
          assert(held(cell) && !written.contains(cell), s"${phase.name}: cell $cell written without being taken")
          written(cell) = Bits.unpack(w.data.peek().litValue, 64)
          if (w.hasPrevious.peek().litToBoolean) next(w.previous.peek().litValue.toInt) = cell
        }
        for (i <- 0 until p.inputs if offered(i))
          if (dut.io.in(i).ready.peek().litToBoolean) { beats(i).dequeue(); offered(i) = false }
          else stalls += 1
        if (allocOffered && dut.io.alloc.ready.peek().litToBoolean) { held += free.dequeue(); allocOffered = false }
        dut.clock.step()
        clock += 1
        quiet += 1
        assert(quiet < 5000, s"${phase.name}: hangs")
      }
      assert(beats.forall(_.isEmpty) && expected.forall(_.isEmpty))
      // Two 512-bit inputs share one write port; all else must never be held.
      val writePort = if (phase.lineRate) frames.map(f => (f.bytes.length + 63) / 64).sum else 0
      if (p.inputs == 1) assert(stalls == 0, phase.name)
      if (phase.lineRate) {
        assert(clock <= writePort.max(beatsInAll) + 20, s"${phase.name}: $clock clocks")
        if (p.dataBits < 512) assert(stalls == 0, phase.name)
      }
      if (phase.mayStarve) assert(starved > 20 && starved < frames.size, s"starved $starved")
      println(s"  ${phase.name}: ${frames.size} frames, $clock clocks, $stalls stalls, $starved without cells")
    }
    // Every cell is free again but for the few each ingress holds ready.
    assert(written.isEmpty)
    assert(held.size <= Ingress.CellsAhead * p.inputs)
  }

  private def lastBeatSize(f: Frame, beatBytes: Int): Int = (f.bytes.length - 1) % beatBytes + 1

  private val what =
    "every frame gives one meta with its headers, bytes and verdict flags after its cells, and no cell is lost"
  for ((bits, inputs) <- Seq((64, 1), (128, 2), (512, 1), (512, 3)))
    test(s"$bits bits, $inputs inputs: $what") {
      run(LaneParams(dataBits = bits, inputs = inputs, cells = 256, maxFrameBytes = 1600), seed = 1000 + bits + inputs)
    }
}
