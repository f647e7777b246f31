package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.nic.StreamBench._

class RxBypassSpec extends AnyFunSuite with Simulation {
  private val beats = 8

  test(
    "a frame comes out whole, or its beginning and one bad beat, or is lost; both are counted, and only where the store is full"
  ) {
    simulate(new RxBypass(beat, beats)) { dut =>
      val seed = 4301
      println(s"RxBypassSpec seed $seed")
      val random = new Random(seed)
      reset(dut.clock, dut.reset)
      var number, lostSeen, cutSeen, wholeSeen, fullToTheBrim = 0
      for (
        (name, in, out, longest) <- Seq(
          ("nobody stalls", 1.0, 1.0, 12),
          ("the host is slow", 0.9, 0.5, 12),
          ("host stalls long", 0.7, -1.0, 12),
          ("runts", 1.0, 0.6, 1),
          ("short frames", 1.0, 0.7, 4),
          ("long frames", 1.0, 0.9, 40),
          ("never ready in between", 1.0, 0.1, 6)
        )
      ) {
        val sink = new Sink(dut.io.out, random)
        val frames = mutable.Map.empty[Int, Seq[NamedBeat]]
        val lost, cut = mutable.Set.empty[Int]
        var clocks, held = 0
        var stalled = false
        val waiting = mutable.Queue.empty[NamedBeat]
        for (_ <- 0 until 300) {
          number += 1
          frames(number) = NamedBeat.frame(number, 1 + random.nextInt(longest), random.nextInt(65536))
          waiting ++= frames(number)
        }
        while (waiting.nonEmpty || held > 0) {
          if (random.nextInt(40) == 0) stalled = !stalled
          sink.pace = if (out >= 0) out else if (stalled) 0.0 else 1.0
          val beat = Option.when(waiting.nonEmpty && random.nextDouble() < in)(waiting.dequeue())
          dut.io.in.valid.poke(beat.isDefined.B)
          beat.foreach(poke(dut.io.in.bits, _))
          sink.drive()
          val (isLost, isCut) = (dut.io.lost.peek().litToBoolean, dut.io.cut.peek().litToBoolean)
          if (isLost) {
            assert(beat.exists(_.place == 0) && held >= beats - 1, s"$name: $held held")
            lost += beat.get.frame
          }
          if (isCut) {
            assert(beat.exists(_.place > 0) && held >= beats - 1, s"$name: $held held")
            cut += beat.get.frame
          }
          val enters = beat.exists(b => isCut || !lost(b.frame) && !cut(b.frame))
          if (held == beats) fullToTheBrim += 1
          held += (if (enters) 1 else 0) - sink.take().size
          assert(held <= beats)
          dut.clock.step()
          clocks += 1
          assert(clocks < 200000, s"$name: hangs")
        }
        val came = sink.frames
        assert(came.flatten.size == sink.beats.size, s"$name: a frame did not end")
        assert(came.map(_.head.frame) == frames.keys.toSeq.sorted.filterNot(lost), name)
        for (frame <- came) {
          val sent = frames(frame.head.frame)
          if (cut(frame.head.frame)) {
            assert(frame.init == sent.take(frame.size - 1) && frame.size <= sent.size, name)
            assert(frame.last.bad && frame.last.user == sent.head.user, name)
          } else assert(frame == sent, name)
        }
        assert((lost & cut).isEmpty)
        if (out == 1.0) assert(lost.isEmpty && cut.isEmpty, name)
        lostSeen += lost.size
        cutSeen += cut.size
        wholeSeen += came.size - cut.size
      }
      println(s"  $number frames: $wholeSeen whole, $cutSeen cut, $lostSeen lost, store full in $fullToTheBrim clocks")
      assert(lostSeen > 100 && cutSeen > 100 && wholeSeen > 500 && fullToTheBrim > 20)
    }
  }
}
