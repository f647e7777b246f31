package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.nic.StreamBench._

class FrameSwitchSpec extends AnyFunSuite with Simulation {
  private val routes = 3

  test(
    "every frame goes whole to the output that was wanted when it was offered, in order, whatever changes inside it"
  ) {
    simulate(new FrameSwitch(beat, routes)) { dut =>
      val seed = 4101
      println(s"FrameSwitchSpec seed $seed")
      val random = new Random(seed)
      reset(dut.clock, dut.reset)
      val source = new Source(dut.io.in, random)
      val sinks = dut.io.out.map(new Sink(_, random))
      val expected = Seq.fill(routes)(mutable.ArrayBuffer.empty[NamedBeat])
      var number, waited, refused = 0
      for (
        (name, in, out, change, begin) <- Seq(
          ("full rate", 1.0, 1.0, 0.0, 1.0),
          ("changes", 1.0, 1.0, 0.3, 1.0),
          ("stalls", 0.6, 0.5, 0.2, 1.0),
          ("not always allowed to begin", 0.8, 0.7, 0.3, 0.3),
          ("slow", 0.2, 0.2, 0.5, 0.5)
        )
      ) {
        source.pace = in
        sinks.foreach(_.pace = out)
        var wanted = 0
        var route = Option.empty[Int] // of the frame on the input, once it is offered
        val frames = Seq.fill(200) {
          number += 1; NamedBeat.frame(number, 1 + random.nextInt(6), random.nextInt(65536))
        }
        source.waiting ++= frames.flatten
        var clocks = 0
        while (source.waiting.nonEmpty) {
          if (random.nextDouble() < change) wanted = random.nextInt(routes)
          val may = Seq.fill(routes)(random.nextDouble() < begin)
          dut.io.wanted.poke(wanted.U)
          dut.io.mayBegin.zip(may).foreach { case (port, on) => port.poke(on.B) }
          source.drive()
          sinks.foreach(_.drive())
          assert(dut.io.inEffect.peek().litValue == route.getOrElse(wanted), name)
          assert(dut.io.waits.peek().litToBoolean == route.exists(_ != wanted), name)
          if (route.exists(_ != wanted)) waited += 1
          if (source.offered && route.isEmpty) { if (may(wanted)) route = Some(wanted) else refused += 1 }
          val begins = dut.io.begins.peek().litToBoolean
          val taken = source.taken()
          assert(begins == taken.exists(_.place == 0), name)
          sinks.foreach(_.take())
          for (b <- taken) {
            expected(route.get) += b
            if (b.last) route = None
          }
          dut.clock.step()
          clocks += 1
          assert(clocks < 100000, s"$name: hangs")
        }
        for ((sink, wantedBeats) <- sinks.zip(expected)) assert(sink.beats == wantedBeats, name)
        if (name == "full rate") assert(clocks == frames.flatten.size, "a beat a clock")
      }
      assert(waited > 100 && refused > 100 && sinks.forall(_.frames.size > 50), s"$waited $refused")
      println(s"  $number frames, ${sinks.map(_.frames.size).mkString(" ")} by output, $waited clocks a change waited")
    }
  }
}
