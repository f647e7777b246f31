package vermilion.nic

import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import vermilion.Simulation
import vermilion.nic.StreamBench._

class FrameJoinSpec extends AnyFunSuite with Simulation {
  private val inputs = 3

  test("with `inOrder` a frame waits for those of earlier inputs alone, and for one that has begun") {
    simulate(new FrameJoin(beat, inputs, inOrder = true)) { dut =>
      val seed = 4202
      println(s"FrameJoinSpec seed $seed")
      val random = new Random(seed)
      reset(dut.clock, dut.reset)
      val sources = dut.io.in.map(new Source(_, random))
      val frames = Seq.tabulate(inputs)(i => Seq.fill(200)(NamedBeat.frame(100 * i, 1 + random.nextInt(6), i)))
      for ((source, i) <- sources.zipWithIndex) {
        source.pace = Seq(0.15, 0.5, 1.0)(i)
        source.waiting ++= frames(i).flatten
      }
      val sink = new Sink(dut.io.out, random)
      sink.pace = 0.8
      var under = Option.empty[Int] // the input whose frame has begun
      var (overtook, clocks) = (0, 0)
      while (sources.exists(_.waiting.nonEmpty)) {
        sources.foreach(_.drive())
        sink.drive()
        val offering = sources.indices.filter(sources(_).offered)
        if (under.isEmpty) under = offering.headOption
        val taken = sources.flatMap(_.taken())
        assert(taken == sink.take().toSeq)
        for (b <- taken) {
          assert(under.contains(b.user), s"input ${b.user} sends; $under has begun, $offering offer a frame")
          if (b.last) under = None
          if (b.user < 2 && offering.contains(2)) overtook += 1
        }
        dut.clock.step()
        clocks += 1
        assert(clocks < 100000, "hangs")
      }
      assert(overtook > 200)
      for (i <- 0 until inputs) assert(sink.frames.filter(_.head.user == i).size == 200, s"input $i")
    }
  }

  test(
    "frames come out whole, in order of their input, in turn where all ask, and without a gap that their input did not make"
  ) {
    simulate(new FrameJoin(beat, inputs)) { dut =>
      val seed = 4201
      println(s"FrameJoinSpec seed $seed")
      val random = new Random(seed)
      reset(dut.clock, dut.reset)
      val sources = dut.io.in.map(new Source(_, random))
      var number = 0
      for (
        (name, paces, out) <- Seq(
          ("full rate", Seq(1.0, 1.0, 1.0), 1.0),
          ("slow sink", Seq(1.0, 1.0, 1.0), 0.4),
          ("one alone", Seq(0.0, 1.0, 0.0), 0.7),
          ("pauses", Seq(0.3, 0.9, 0.5), 0.8),
          ("slow", Seq(0.1, 0.2, 0.3), 1.0)
        )
      ) {
        val sink = new Sink(dut.io.out, random)
        sink.pace = out
        val frames = Seq.tabulate(inputs)(i =>
          if (paces(i) == 0) Nil
          else
            Seq.fill(100) {
              number += 1
              NamedBeat.frame(number, 1 + random.nextInt(6), i)
            }
        )
        for (((source, pace), mine) <- sources.zip(paces).zip(frames)) {
          source.pace = pace
          source.waiting ++= mine.flatten
        }
        var clocks = 0
        var under = Option.empty[Int] // the input whose frame is under way
        while (sources.exists(_.waiting.nonEmpty)) {
          sources.foreach(_.drive())
          sink.drive()
          val anyone = under.map(sources(_).offered).getOrElse(sources.exists(_.offered))
          assert(dut.io.out.valid.peek().litToBoolean == anyone, s"$name: a gap that nobody made")
          val taken = sources.flatMap(_.taken())
          assert(taken == sink.take().toSeq, name)
          for (b <- taken) under = Option.when(!b.last)(b.user)
          dut.clock.step()
          clocks += 1
          assert(clocks < 100000, s"$name: hangs")
        }
        val came = sink.frames
        assert(came.flatten.size == sink.beats.size)
        for (i <- 0 until inputs) assert(came.filter(_.head.user == i) == frames(i), s"$name: input $i")
        if (name == "full rate") assert(clocks == frames.flatten.flatten.size, "a beat a clock")
        if (paces.forall(_ == 1.0)) {
          val turns = came.map(_.head.user)
          assert(turns.sliding(inputs).forall(_.toSet.size == inputs), s"$name: not in turn")
        }
      }
      println(s"  $number frames")
    }
  }
}
