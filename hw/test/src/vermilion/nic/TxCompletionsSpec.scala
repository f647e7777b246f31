package vermilion.nic

import chisel3._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.nic.StreamBench.{reset => resetDut}

class TxCompletionsSpec extends AnyFunSuite with Simulation {
  private val asksBit = 0x8000

  /** A frame in the lane that stands for the real one; `kept` is the tag that the block told it to keep. */
  private case class Frame(tag: Int, forwarded: Boolean, var kept: Int = 0)

  private case class Phase(
      name: String,
      clocks: Int,
      arrivals: Double = 0.8,
      decisions: Double = 0.8,
      leaves: Double = 0.5,
      ready: Double = 0.8,
      admitted: Double = 0.6,
      evictions: Double = 0.2,
      toggles: Double = 0.05
  )
  private val phases = Seq(
    Phase("mixed", 4000),
    Phase("the engine does not take completions", 1500, ready = 0.0),
    Phase("it takes them again", 3000, ready = 1.0),
    Phase("all is dropped, one a clock", 2000, arrivals = 1.0, decisions = 1.0, admitted = 0.0, ready = 0.6),
    Phase(
      "evictions beside drops",
      4000,
      arrivals = 1.0,
      decisions = 1.0,
      admitted = 0.5,
      evictions = 0.9,
      leaves = 0.1,
      ready = 0.9
    ),
    Phase("nothing leaves", 1500, leaves = 0.0, evictions = 0.0, admitted = 1.0),
    Phase("switch at every clock", 4000, toggles = 1.0, ready = 0.5)
  )

  test(
    "every frame that asks gets exactly one completion, of the right kind, whatever happens to it and to the switch"
  ) {
    simulate(new TxCompletions) { dut =>
      val seed = 4401
      println(s"TxCompletionsSpec seed $seed")
      val random = new Random(seed)
      val io = dut.io
      val decide, queue = mutable.Queue.empty[Frame]
      val macOwes = mutable.Queue.empty[(Int, BigInt)]
      val macGave = mutable.Map.empty[BigInt, Int]
      val due = mutable.Map.empty[Int, String] // by tag: what kind of completion is owed by now
      val inside = mutable.Set.empty[Int] // tags that ask and are not completed
      var next, toggles, ours, ofMac, atTheLimit = 0
      val kinds = mutable.Map.empty[String, Int].withDefaultValue(0)
      var atEnqueue = true
      var macOffer = Option.empty[(Int, BigInt)]
      var arrival = Option.empty[Frame]
      var evicting = Option.empty[Frame]
      var lose = Option.empty[Int] // clocks until the first frame is lost
      var held = Option.empty[(BigInt, Int)]
      var tookOne = false // the engine would have taken a completion in the last clock
      val counted = mutable.Map.empty[String, Int].withDefaultValue(0)

      def freshTag(): Int = {
        val asks = random.nextInt(8) != 0
        next = (next + 1) & 0x7fff
        while (inside(asksBit | next)) next = (next + 1) & 0x7fff
        next | (if (asks) asksBit else 0)
      }
      def kind(name: String): Unit = kinds(name) += 1

      def clock(p: Phase): Unit = {
        if (random.nextDouble() < p.toggles) { atEnqueue = !atEnqueue; toggles += 1 }
        io.atEnqueue.poke(atEnqueue.B)

        // A host's frame, offered until it is taken.
        if (arrival.isEmpty && random.nextDouble() < p.arrivals) arrival = Some(Frame(freshTag(), forwarded = false))
        val mayTake = random.nextInt(4) != 0
        arrival.foreach(f => io.tag.poke(f.tag.U))
        val may = io.mayBegin.peek().litToBoolean
        val owed = inside.size
        for (f <- arrival) {
          if ((f.tag & asksBit) == 0) assert(may, "a frame that does not ask waits")
          else if (!may) { atTheLimit += 1; assert(owed >= TxCompletions.Credits - 2, s"$owed owed, and it waits") }
        }
        val begins = arrival.isDefined && may && mayTake
        io.begins.poke(begins.B)
        if (begins) {
          if ((arrival.get.tag & asksBit) != 0) inside += arrival.get.tag
          decide += arrival.get
          arrival = None
          if (random.nextInt(3) == 0) decide += Frame(0, forwarded = true)
        }

        // A verdict of the oldest, and an eviction of any in the queue.
        val fate = io.report.fate
        val deciding = decide.size > 1 && random.nextDouble() < p.decisions
        val forwarded = deciding && decide.head.forwarded // nobody reports those; they leave with tag 0
        fate.valid.poke((deciding && !forwarded).B)
        if (forwarded) queue += decide.dequeue()
        else if (deciding) {
          val f = decide.dequeue()
          val admitted = random.nextDouble() < p.admitted
          val ptp = random.nextInt(4) == 0
          fate.bits.tag.poke(f.tag.U)
          fate.bits.ptpEvent.poke(ptp.B)
          fate.bits.admitted.poke(admitted.B)
          f.kept = io.report.keep.peek().litValue.toInt
          assert((f.kept & 0x7fff) == (f.tag & 0x7fff))
          val asks = (f.tag & asksBit) != 0
          val early = asks && admitted && atEnqueue && !ptp
          if (admitted) {
            assert((f.kept & asksBit) == (if (asks && !early) asksBit else 0), "the tag kept")
            queue += f
          }
          if (asks && !admitted) { due(f.tag) = "ours"; kind("drop") }
          if (early) { due(f.tag) = "ours"; kind("at enqueue") }
        }
        io.report.evicted.valid.poke(evicting.isDefined.B)
        for (f <- evicting) {
          io.report.evicted.bits.poke(f.kept.U)
          if ((f.kept & asksBit) != 0) { due(f.tag) = "ours"; kind("eviction") }
          else if ((f.tag & asksBit) != 0) kind("evicted behind its completion")
        }
        evicting = Option.when(queue.nonEmpty && deciding && random.nextDouble() < p.evictions) {
          val f = queue(random.nextInt(queue.size))
          queue -= f
          f
        }

        // One leaves.
        val leaves = queue.nonEmpty && random.nextDouble() < p.leaves
        io.leaves.valid.poke(leaves.B)
        if (leaves) {
          val f = queue.dequeue()
          io.leaves.bits.poke(f.kept.U)
          macOwes += ((f.kept, BigInt(95, random) + 1)) // it completes every frame
          if ((f.kept & asksBit) != 0) {
            due(f.tag) = "mac"
            kind("of the MAC")
          }
        }
        io.lost.poke(lose.contains(0).B)
        lose = lose.filter(_ > 0).map(_ - 1)

        // The MAC's, and what comes out.
        if (macOffer.isEmpty && macOwes.nonEmpty && random.nextBoolean()) macOffer = Some(macOwes.dequeue())
        io.mac.valid.poke(macOffer.isDefined.B)
        macOffer.foreach { case (tag, ts) => io.mac.bits.tag.poke(tag.U); io.mac.bits.ts.poke(ts.U) }
        // What goes out was taken in the last clock, so there is room: the MAC's goes in, however many of ours wait.
        if (macOffer.isDefined && tookOne) assert(io.mac.ready.peek().litToBoolean, "the MAC's waits for ours")
        if (macOffer.isDefined && io.mac.ready.peek().litToBoolean) {
          macGave(macOffer.get._2) = macOffer.get._1
          macOffer = None
        }
        val ready = random.nextDouble() < p.ready
        io.out.ready.poke(ready.B)
        tookOne = ready
        val offer = Option.when(io.out.valid.peek().litToBoolean)(
          (io.out.bits.ts.peek().litValue, io.out.bits.tag.peek().litValue.toInt)
        )
        assert(held.isEmpty || offer == held, "an offered completion changed")
        held = if (ready) None else offer
        for ((ts, tag) <- offer if ready) {
          assert(inside(tag), f"a completion of 0x$tag%x, which was completed or did not ask")
          if (ts == 0) {
            assert(due.get(tag).contains("ours"), f"0x$tag%x: ${due.get(tag)}")
            ours += 1
          } else {
            assert(due.get(tag).contains("mac") && macGave(ts) == tag)
            ofMac += 1
          }
          inside -= tag
          due -= tag
        }
        val e = io.events
        for (
          (name, port) <- Seq(
            "drop" -> e.forDrop,
            "at enqueue" -> e.atEnqueue,
            "eviction" -> e.forEviction,
            "of the MAC" -> e.ofMac,
            "ours" -> e.ours
          )
        )
          if (port.peek().litToBoolean) counted(name) += 1
        dut.clock.step()
      }
      def drain(): Unit = {
        val end = Phase("end", 0, arrivals = 0.0, decisions = 1.0, leaves = 1.0, ready = 1.0, evictions = 0.0)
        decide += Frame(0, forwarded = true) // no verdict is given to the youngest
        for (_ <- 0 until 600) clock(end)
        assert(inside.isEmpty && queue.isEmpty, s"never completed: ${inside.map(_.toHexString)}")
        decide.clear()
      }

      resetDut(dut.clock, dut.reset)
      for (p <- phases) {
        for (_ <- 0 until p.clocks) clock(p)
        println(
          s"  ${p.name}: $ours ours, $ofMac of the MAC, ${inside.size} owed, $atTheLimit clocks at the limit so far"
        )
      }
      arrival = None
      drain()
      println(s"  $kinds, switched $toggles times")
      assert(kinds.size == 5 && kinds.values.forall(_ > 100) && atTheLimit > 1000, kinds)
      for (name <- Seq("drop", "at enqueue", "eviction", "of the MAC")) assert(counted(name) == kinds(name), name)
      assert(counted("ours") == ours)

      // A reset; the lane loses the first frame behind it, which may ask or not.
      for (asks <- Seq(true, false, true)) {
        resetDut(dut.clock, dut.reset)
        held = None
        val first = Frame(freshTag() & 0x7fff | (if (asks) asksBit else 0), forwarded = false)
        io.tag.poke(first.tag.U)
        io.begins.poke(true.B)
        for (quiet <- Seq(io.report.fate.valid, io.report.evicted.valid, io.leaves.valid, io.mac.valid, io.lost))
          quiet.poke(false.B)
        dut.clock.step()
        io.begins.poke(false.B)
        if (asks) { inside += first.tag; due(first.tag) = "ours" }
        lose = Some(5)
        for (_ <- 0 until 300) clock(phases.head)
        arrival = None
        drain()
      }
    }
  }
}
