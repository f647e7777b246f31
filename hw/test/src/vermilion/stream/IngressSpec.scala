package vermilion.stream

import chisel3.simulator.{Randomization, Settings}
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import vermilion.{Nightly, Simulation}
import vermilion.lane.LaneParams
import vermilion.parse.RandomFrame

class IngressSpec extends AnyFunSuite with Simulation {

  /** What one phase does; probabilities of a clock's valid or ready. */
  private case class Phase(
      name: String,
      frames: Random => TestFrame,
      count: Int,
      source: Double = 1.0,
      descriptor: Double = 1.0,
      free: Double = 1.0,
      lineRate: Boolean = false
  )

  private def sized(n: Int)(r: Random): TestFrame = TestFrame(Array.fill(n)(r.nextInt(256)))
  private def mixed(r: Random): TestFrame = {
    val f = new RandomFrame(r).next(300)
    TestFrame(f, bad = r.nextInt(8) == 0, badKeep = r.nextInt(16) == 0)
  }
  private def long(r: Random): TestFrame =
    sized(Seq(1521, 1522, 1523, 1600, 1601, 3000, 16383, 65535, 70000)(r.nextInt(9)))(r)
  private def runt(r: Random): TestFrame = sized(1 + r.nextInt(20))(r)
  private def any(r: Random): TestFrame = if (r.nextBoolean()) mixed(r) else sized(1 + r.nextInt(700))(r)

  private def phases(p: LaneParams): Seq[Phase] = {
    val beatBytes = p.dataBits / 8
    val n = p.inputs
    Seq(
      Phase("64 B frames at line rate", sized(64), 300 * n, lineRate = true),
      Phase("frames of all sizes at line rate", r => sized(60 + r.nextInt(200))(r), 100 * n, lineRate = true),
      Phase("random frames, descriptors taken with pauses", mixed, 400, source = 0.6, descriptor = 0.6),
      Phase("random frames, no stalls", mixed, 300),
      Phase("runts", runt, 300, source = 0.9),
      Phase("runts, descriptors taken rarely", runt, 400 * n, descriptor = 0.2),
      Phase("cells run out", mixed, 300, source = 0.8, free = 0.8 * beatBytes / 64 / 2),
      Phase("longer than maxFrameBytes", long, 15)
    )
  }

  private def run(p: LaneParams, seed: Long): Unit = simulate(
    new IngressBench(p),
    settings = Settings.default[IngressBench].copy(randomization = Randomization.uninitialized)
  ) { dut =>
    println(s"IngressSpec ${p.dataBits} bits, stallable ${p.stallable.mkString(" ")}, seed $seed")
    val random = new Random(seed)
    val traffic = new IngressTraffic(dut, p, random)
    import traffic._
    reset = true
    clock()
    reset = false
    var seenLost, seenStarved = 0L
    for (phase <- phases(p)) {
      // Silence first, in which each ingress fills its little store of free cells.
      descriptorReady = 1.0; freeOffered = 1.0
      for (_ <- 0 until 4 * Ingress.CellsAhead * p.inputs) clock()
      source = phase.source; descriptorReady = phase.descriptor; freeOffered = phase.free
      // Runts take a cell and a descriptor a beat: two inputs that cannot be stalled bring more than one of each in a clock.
      val crowded = p.stallable.count(!_) > 1 && !phase.lineRate
      mayStarve = phase.free < 1 || crowded
      val (clocksBefore, descriptorsBefore, lostBefore) = (clocks, descriptors, lost)
      val (stallsBefore, starvedBefore) = (stalls, starved)
      val frames = Seq.fill(phase.count)(phase.frames(random))
      for ((f, k) <- frames.zipWithIndex) send(k % p.inputs, f)
      while (!idle) {
        clock()
        assert(clocks - clocksBefore < 400000, s"${phase.name}: hangs")
      }
      val took = clocks - clocksBefore
      assert(descriptors - descriptorsBefore + lost - lostBefore == frames.size, phase.name)
      if (phase.lineRate) {
        val perInput =
          (0 until p.inputs).map(i => frames.indices.filter(_ % p.inputs == i).map(beatsOf(p, frames, _)).sum)
        val writes = frames.map(f => (f.bytes.length + 63) / 64).sum
        assert(took <= writes.max(perInput.max) + 40, s"${phase.name}: $took clocks")
      }
      if (phase.descriptor > 0.5 && !crowded) assert(lost == lostBefore, phase.name)
      if (phase.descriptor < 0.5 && !p.stallable.head)
        assert(lost - lostBefore > 50, "too few descriptors were refused")
      if (phase.free < 1) assert(starved - starvedBefore > 20, "cells did not run out")
      seenLost += lost - lostBefore
      seenStarved += starved - starvedBefore
      println(
        s"  ${phase.name}: ${frames.size} frames, $took clocks, ${stalls - stallsBefore} stalls, " +
          s"${starved - starvedBefore} without cells, ${lost - lostBefore} lost, $unparsed not parsed so far"
      )
    }
    // Every cell is free again but for the few each ingress holds ready.
    assert(unread == 0 && cellsOut == Ingress.CellsAhead * p.inputs)
    assert(bytesIn == bytesOut)

    // Resets at any clock, the source going on; running again some clocks later.
    mayStarve = true
    val resets = 60
    val (lostBefore, descriptorsBefore) = (lost, descriptors)
    for (_ <- 0 until resets) {
      source = Seq(1.0, 0.5)(random.nextInt(2))
      descriptorReady = Seq(1.0, 0.1)(random.nextInt(2))
      for (i <- 0 until p.inputs; _ <- 0 until 12) send(i, any(random))
      for (_ <- 0 until random.nextInt(100)) clock()
      reset = true
      running = false
      for (_ <- 0 until 1 + random.nextInt(4)) clock()
      reset = false
      for (_ <- 0 until random.nextInt(30)) clock()
      running = true
      for (_ <- 0 until random.nextInt(300)) clock()
    }
    descriptorReady = 1.0; source = 1.0
    while (!idle) clock()
    for (_ <- 0 until 4 * Ingress.CellsAhead * p.inputs) clock()
    assert(unread == 0 && cellsOut == Ingress.CellsAhead * p.inputs)
    assert(bytesIn == bytesOut)
    assert(sent == descriptors + lost + vanished)
    assert(lost - lostBefore > resets / 3 && descriptors - descriptorsBefore > resets, "the resets met no frame")
    println(
      s"  $resets resets: ${descriptors - descriptorsBefore} descriptors, ${lost - lostBefore} lost, $vanished gone with a reset"
    )
  }

  private def beatsOf(p: LaneParams, frames: Seq[TestFrame], k: Int): Int =
    (frames(k).bytes.length + p.dataBits / 8 - 1) / (p.dataBits / 8)

  private val no = false
  private val yes = true
  private val builds = Seq((64, Seq(no)), (64, Seq(no, no, yes)), (512, Seq(no, yes, yes)))
  private val more = Seq((64, Seq(no, yes)), (128, Seq(no, no, yes)), (512, Seq(no)))
  for ((bits, stallable) <- if (Nightly.is) builds ++ more else builds)
    test(
      s"$bits bits, stallable ${stallable.mkString(", ")}: each frame gives one descriptor with its bytes or is counted as lost"
    ) {
      val p = LaneParams(
        dataBits = bits,
        inputs = stallable.size,
        stallable = stallable,
        cells = 256,
        maxFrameBytes = if (stallable.size == 2) 1522 else 1600 // no whole number of beats, and one
      )
      run(p, seed = 1000 + bits + stallable.size)
    }
  test("the number of entries in `stallable` must be that of the inputs") {
    val thrown = intercept[IllegalArgumentException](LaneParams(inputs = 2))
    assert(thrown.getMessage.contains("legal is one entry for each input"))
  }
}
