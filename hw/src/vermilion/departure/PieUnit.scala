package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats.{LenBits, PktLenBits}
import vermilion.lane.LaneParams

/** Settings of a queue's PIE. Times are in units of 64 ns. */
class PieConfig extends Bundle {
  val on = Bool() // if low, every packet passes
  val target, burst = UInt(PieUnit.DelayBits.W)
  val alpha, beta = UInt(PieUnit.GainBits.W) // probability for 64 ns of delay, unit 2^-56
  val mtu = UInt(PieUnit.MtuBits.W) // bytes, 1 and more
  val ecn = Bool() // mark while the probability is 0.1 or less
  val byteMode = Bool() // the probability is for packets of `mtu` bytes
}

/** A packet that arrives. */
class PieArrival(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val lenBytes = UInt(PktLenBits.W)
  val backlog = UInt(LenBits.W) // bytes queued before it
  val ect = Bool()
  val draw = UInt(32.W)
}

/** A packet that departs. */
class PieDeparture(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val now, enqueued = UInt(PieUnit.TimeBits.W) // unit: 64 ns
  val isLast = Bool() // nothing is queued behind it
}

/** PIE's verdict on a packet that arrives. */
class PieVerdict extends Bundle {
  val drop, mark = Bool() // at most one is high
}

/** A queue whose probability is updated. */
class PieUpdate(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val isEmpty = Bool()
  val begins = Bool() // a new state instead: probability 0, and a restart
  val config = new PieConfig
}

/** Decides by PIE (RFC 8033) whether an arriving packet passes, is marked CE or is dropped. One arrival and one departure per cycle, of any queues.
  *
  * The algorithm, its state and its arithmetic are those of `sim/model/pie.h`, which is bit-exact; that file lists the differences from Linux. The low 24
  * of a draw's 56 bits are 0. No request may come while `ready` is low.
  *
  * `update` takes one queue at a time, [[PieUnit.UpdateCycles]] cycles each. It reads the delay in the cycle of its request, and arrivals see its result
  * from the cycle in which `update.ready` is high again.
  *
  * An update can restart a queue: its burst allowance, and its accumulated probability. Those are written by departures and by arrivals. So the update only
  * counts restarts, modulo 4, and each of the two keeps the number of the last one that it has seen. It counts no further while that restart has not been seen,
  * unless a packet is under way that will have seen it.
  * {{{
  *   arrival    0 request   1 settings, state   2 gates   2-4 length x probability   5 probability   6 loop   7 result   8 sum written
  *   departure  0 request   1 sojourn time   2 loop
  * }}}
  * `config` is that of the queue, one cycle after its request, and so is `burst` for a departure. Departures of all queues are recorded, so that a queue whose PIE is
  * turned on has its delay.
  *
  * `lost` comes with the result: that packet is lost for another reason. The packet after it has both results, with and without that loss, and
  * a register of `lost` selects one of them. `ready` is low for `queues` cycles after a reset. Latency: [[PieUnit.Latency]] cycles.
  */
class PieUnit(p: LaneParams) extends Module {
  import PieUnit._

  val io = IO(new Bundle {
    val arrival = Flipped(Valid(new PieArrival(p)))
    val config = Input(new PieConfig)
    val lost = Input(Bool())
    val drop, mark = Output(Bool()) // at most one is high
    val probability = Output(UInt(32.W)) // with which the packet was decided, U0.32; 0 for a queue that is off
    val departure = Flipped(Valid(new PieDeparture(p)))
    val burst = Input(UInt(DelayBits.W))
    val update = Flipped(Decoupled(new PieUpdate(p)))
    val ready = Output(Bool())
  })

  private class Departed extends Bundle {
    val delay, burstLeft = UInt(DelayBits.W)
    val at = UInt(StampBits.W)
    val restart = UInt(RestartBits.W)
  }
  private class Accumulated extends Bundle {
    val sum = UInt(AccumulatorBits.W)
    val restart = UInt(RestartBits.W)
  }
  private val sweep = new SweepInit(p.queues)
  private val probability = new ForwardingRam(p.queues, UInt(ProbBits.W)).suggestName("probability")
  private val perByte = new ForwardingRam(p.queues, UInt(ProbBits.W)).suggestName("perByte")
  private val before = new ForwardingRam(p.queues, UInt(DelayBits.W)).suggestName("before")
  private val burstRestart = new ForwardingRam(p.queues, UInt(RestartBits.W)).suggestName("burstRestart")
  private val sumRestart = new ForwardingRam(p.queues, UInt(RestartBits.W)).suggestName("sumRestart")
  private val departed = new ForwardingRam(p.queues, new Departed).suggestName("departed")
  private val accumulated = new ForwardingRam(p.queues, new Accumulated).suggestName("accumulated")
  io.ready := sweep.done

  // -- departures --
  private val d0 = io.departure.bits
  private val d1Valid = RegNext(io.departure.valid, false.B)
  private val d1 = Delay(d0)
  private val d1Sojourn = Delay(d0.now - d0.enqueued)
  private val d1Restart = burstRestart.read(d0.queue)
  private val d2Valid = RegNext(d1Valid, false.B)
  private val d2 = Delay(d1)
  // A packet from the future, after the clock was set back, has no delay.
  private val d2Delay = Delay(Mux(d1.isLast || d1Sojourn(TimeBits - 1), 0.U, Arithmetic.saturate(d1Sojourn, DelayBits)))
  private val d2Restart = Delay(d1Restart)
  private val d2Burst = Delay(io.burst)
  private val leaving = Wire(new Departed)
  private val d1Again = d2Valid && d2.queue === d1.queue
  private val d2Old = Delay(Mux(d1Again, leaving, departed.read(d0.queue)))
  private val d2Same = d2Old.restart === d2Restart
  private val d2Stamp = d2.now(StampBits - 1, 0)
  private val d2Since = Mux(d2Same, d2Stamp - d2Old.at, 0.U)
  private val d2Left = Mux(d2Same, d2Old.burstLeft, d2Burst)
  leaving.delay := d2Delay
  leaving.burstLeft := Mux(d2Left > d2Since, d2Left - d2Since, 0.U)(DelayBits - 1, 0)
  leaving.at := d2Stamp
  leaving.restart := d2Restart
  departed.write(d2Valid, d2.queue, leaving)

  // -- arrivals: stages 1 to 5 --
  private val a0 = io.arrival.bits
  private val arrivals = Seq.iterate[Valid[PieArrival]](io.arrival, Latency + 1) { a =>
    val next = Delay(a)
    next.valid := a.valid && !reset.asBool
    next
  }
  private val a1 = arrivals(1).bits
  private val a1Config = io.config
  private val a1Probability = probability.read(a0.queue)
  private val a1PerByte = perByte.read(a0.queue)
  private val a1BurstRestart = burstRestart.read(a0.queue)
  private val a1SumRestart = sumRestart.read(a0.queue)
  private val a1Departed = departed.read(a0.queue)
  private val a1Left = Mux(a1Departed.restart === a1BurstRestart, a1Departed.burstLeft, a1Config.burst)
  private val a2NoBurst = Delay(a1Left === 0.U)
  private val a2Low = Delay(a1Departed.delay < (a1Config.target >> 1) && a1Probability < Fifth.U)
  private val a2Short = Delay(a1.backlog < (a1Config.mtu << 1))
  private val a2Gate = Delay(a1Config.on) && a2NoBurst && !a2Low && !a2Short
  private val a2Marks = Delay(a1Config.ecn && a1.ect && a1Probability <= Tenth.U)
  private val a2Scaled = Delay(a1Config.byteMode && a1.lenBytes <= a1Config.mtu)
  private val a5Product = Delay(Delay(Delay(Delay(a1PerByte) * arrivals(2).bits.lenBytes)))
  private val a5Probability = Mux(Delay(a2Scaled, 3), Arithmetic.saturate(a5Product, ProbBits), Delay(a1Probability, 4))
  private val a6Probability = Delay(a5Probability)
  private val a6Hit = Delay(Cat(arrivals(5).bits.draw, 0.U((ProbBits - 32).W)) < a5Probability)
  private val a6None = Delay(a5Probability === 0.U)
  private val a6Gate = Delay(a2Gate, 4)
  private val a6Marks = Delay(a2Marks, 4)
  private val a5Restart = Delay(a1SumRestart, 4)
  private val a6Restart = Delay(a5Restart)
  private val a6On = Delay(a1Config.on, 5)
  private val a6BeyondLeast = Delay(a5Probability.zext - Least.S) // of a sum that begins at 0

  // -- stage 6: the loop; 7: result; 8: the sum is written --
  // A sum comes from the packet before (`kept`; `lost` if the one before that was lost), from an earlier one (`old`), or begins at 0.
  private class Source extends Bundle {
    val kept, lost, none = Bool() // at most one; otherwise it is `old`
  }
  private val a6 = arrivals(Loop)
  private val a7 = arrivals(Latency)
  private val a8 = Delay(a7)
  private val changes = a6.valid && a6On
  private val a7Changes = RegNext(changes && !reset.asBool, false.B)
  private val a8Changes = RegNext(a7Changes && !reset.asBool, false.B)
  private val kept, lost = Wire(UInt(AccumulatorBits.W)) // sums after the packet, if the one before was kept, or lost
  private val a7Kept = Delay(kept)
  private val a7Lost = Delay(lost)
  private val a7Restart = Delay(a6Restart)

  private def follows(ahead: Valid[PieArrival], changes: Bool, behind: Valid[PieArrival]): Bool =
    ahead.valid && changes && ahead.bits.queue === behind.bits.queue
  private val a5 = arrivals(Loop - 1)
  private val a5Next = follows(a6, a6On, a5)
  private val a5Second = follows(a7, a7Changes, a5)
  private val a5Third = follows(a8, a8Changes, a5)
  private val again = Delay(a5Next)
  private val a7BeforeLost = Delay(again && io.lost) // the packet before was of the same queue, and lost
  private val a7Sum = Mux(a7BeforeLost, a7Lost, a7Kept)
  private val a8Lost = Delay(io.lost)
  private val a8Written = Wire(new Accumulated)
  a8Written.restart := Delay(a7Restart)
  a8Written.sum := Mux(a8Lost, 0.U, Delay(a7Sum))
  accumulated.write(a8Changes, a8.bits.queue, a8Written)

  private val a5Read = accumulated.read(arrivals(Loop - 2).bits.queue)
  private val old = Delay(Mux(a5Second, a7Sum, Mux(a5Third, a8Written.sum, a5Read.sum)))
  private val a5OldRestart = Mux(a5Second, a7Restart, Mux(a5Third, a8Written.restart, a5Read.restart))
  private val a5Source = Wire(new Source)
  a5Source.none := Mux(a5Next, a6Restart =/= a5Restart, a5OldRestart =/= a5Restart || (a5Second && io.lost))
  a5Source.lost := a5Next && a6Restart === a5Restart && again && io.lost
  a5Source.kept := a5Next && a6Restart === a5Restart && !(again && io.lost)
  private val source = Delay(a5Source)
  private val from = Mux1H(
    Seq(
      source.kept -> a7Kept,
      source.lost -> a7Lost,
      !(source.kept || source.lost || source.none) -> old
    )
  )
  private val sum = Arithmetic.wrap(a6Probability + from, AccumulatorBits)
  private val isLeast = (a6BeyondLeast +& from.zext) >= 0.S
  private val decides = a6Gate && !a6None
  private val isEarly = decides && (sum >= Most.U || (isLeast && a6Hit))
  private val isEarlyAlone = decides && a6BeyondLeast >= 0.S && a6Hit // a sum of one probability is below `Most`
  private val clears = a6Gate && a6None
  kept := Mux(isEarly || clears, 0.U, Mux(a6Gate, sum, from))
  lost := Mux(isEarlyAlone || !a6Gate, 0.U, a6Probability)
  private def result(marks: Bool): Bool = Mux(
    a7BeforeLost,
    RegNext(a6.valid && isEarlyAlone && a6Marks === marks, false.B),
    RegNext(a6.valid && isEarly && a6Marks === marks, false.B)
  )
  io.drop := result(false.B)
  io.mark := result(true.B)
  io.probability := Delay(Mux(a6On, Delay(a1Probability, Loop - 1)(ProbBits - 1, ProbBits - 32), 0.U))

  // -- updates --
  private val age = RegInit(0.U(log2Ceil(UpdateCycles + 1).W)) // cycles since the request; 0: none
  private val u = Reg(new PieUpdate(p))
  private val begins = io.update.fire
  private def in(cycle: Int): Bool = age === cycle.U
  io.update.ready := age === 0.U && sweep.done
  when(begins) {
    u := io.update.bits
    age := 1.U
  }.elsewhen(age =/= 0.U) { age := Mux(in(UpdateCycles - 1), 0.U, age + 1.U) }

  private val asked = io.update.bits.queue
  private def at[T <: Data](cycle: Int, x: T): T = RegEnable(x, in(cycle))
  private val uProbability = at(1, probability.read(asked))
  private val of = Mux(age === 0.U, asked, u.queue)
  private val uDeparted = departed.read(of)
  private val uDelay = at(1, uDeparted.delay)
  private val uBefore = at(1, before.read(asked))
  // How far the gains are scaled down, RFC 8033, section 4.2.
  private val scales = Scaled.map { case (below, _) => uProbability < below.U }
  private val shifts = Scaled.map { case (_, shift) => shift }
  private val uShift = at(2, MuxCase(0.U(4.W), scales.zip(shifts).map { case (is, shift) => is -> shift.U }.reverse))
  private val uBeyond = at(2, (uDelay -& u.config.target).asSInt)
  private val uGrown = at(2, (uDelay -& uBefore).asSInt)
  private def gain(x: UInt): SInt = at(3, (x >> uShift).zext)
  private val products = Seq(gain(u.config.alpha) * uBeyond, gain(u.config.beta) * uGrown).map(x => at(5, at(4, x)))
  private val uDelta = at(6, products(0) + products(1))
  private val capped = uProbability >= Tenth.U && uDelta > Fiftieth.S
  private val uCapped = at(7, Mux(capped, (2 * Hundredth).S(DeltaBits.W), uDelta.pad(DeltaBits)))
  private val uSteep = at(8, uCapped + Mux(uDelay > Steep.U, Fiftieth.S, 0.S))
  private val uSum = at(9, uSteep +& uProbability.zext)
  private val bounded = Mux(uSum < 0.S, 0.U, Arithmetic.saturate(uSum.asUInt(uSum.getWidth - 2, 0), ProbBits))
  private val uBounded = at(10, bounded)
  private val idle = uDelay === 0.U && uBefore === 0.U && u.isEmpty
  private val uNew = at(11, Mux(u.begins, 0.U, uBounded - Mux(idle, uBounded >> 6, 0.U)))
  private val half = u.config.target >> 1
  private val calm = u.begins || (uDelay < half && uBefore < half && uNew === 0.U)
  // The probability by the byte: a bit of the quotient in each cycle.
  private val quotient = Reg(UInt(ProbBits.W)) // above: bits of the dividend that remain; below: those of the quotient
  private val rest = Reg(UInt(MtuBits.W))
  private val shifted = Cat(rest, quotient(ProbBits - 1))
  private val fits = shifted >= u.config.mtu
  when(in(DivideFrom)) {
    quotient := uNew
    rest := 0.U
  }.elsewhen(age > DivideFrom.U) {
    quotient := Cat(quotient(ProbBits - 2, 0), fits)
    rest := Mux(fits, shifted - u.config.mtu, shifted)(MtuBits - 1, 0)
  }
  private val writes = in(UpdateCycles - 1)
  probability.write(writes, u.queue, uNew)
  perByte.write(writes, u.queue, quotient)
  before.write(writes, u.queue, uDelay)
  private def counted(number: UInt, seen: UInt, underWay: Seq[Valid[UInt]]): UInt =
    Mux(
      calm && (number === seen || VecInit(underWay.map(x => x.valid && x.bits === u.queue)).asUInt.orR),
      number + 1.U,
      number
    )
  private def queueOf(valid: Bool, queue: UInt): Valid[UInt] = {
    val x = Wire(Valid(UInt(p.queueBits.W)))
    x.valid := valid
    x.bits := queue
    x
  }
  // Only arrivals of queues that are on write what they have seen.
  private val inFlight = arrivals.zipWithIndex.tail.map { case (a, stage) =>
    queueOf(a.valid && Delay(a1Config.on, stage - 1), a.bits.queue)
  } :+ queueOf(a8Changes, a8.bits.queue)
  burstRestart.write(
    writes,
    u.queue,
    counted(burstRestart.read(u.queue), uDeparted.restart, Seq(queueOf(d1Valid, d1.queue), queueOf(d2Valid, d2.queue)))
  )
  sumRestart.write(writes, u.queue, counted(sumRestart.read(u.queue), accumulated.read(u.queue).restart, inFlight))

  // After a reset a queue restarts with its first packets.
  private val cleared = !sweep.done
  probability.write(cleared, sweep.address, 0.U)
  perByte.write(cleared, sweep.address, 0.U)
  before.write(cleared, sweep.address, 0.U)
  burstRestart.write(cleared, sweep.address, 1.U)
  sumRestart.write(cleared, sweep.address, 1.U)
  departed.write(cleared, sweep.address, 0.U.asTypeOf(new Departed))
  accumulated.write(cleared, sweep.address, 0.U.asTypeOf(new Accumulated))
}

object PieUnit {
  val ProbBits = 56
  val DelayBits = 26
  val TimeBits = 42
  val GainBits = 34
  val MtuBits = 18
  private val TimeShift = 6

  /** A time in ns, in PIE's unit of 64 ns. */
  def time(ns: UInt): UInt = ns(TimeShift + TimeBits - 1, TimeShift)
  private val StampBits = 32
  private val AccumulatorBits = 60
  private val RestartBits = 2
  private val DeltaBits = 63
  private val Loop = 6
  val Latency: Int = Loop + 1

  private val One = (BigInt(1) << ProbBits) - 1
  private val Fifth = One / 5
  private val Tenth = One / 10
  private val Fiftieth = One / 50
  private val Hundredth = One / 100
  private val Least = 85 * Hundredth
  private val Most = One / 2 * 17
  private val Steep = 1000000000 / 64 / 4 // 250 ms
  private val Scaled =
    (One / 10, 1) +: Seq(100, 1000, 10000, 100000, 1000000).zipWithIndex.map { case (part, i) =>
      (One / part, 3 + 2 * i)
    }
  private val DivideFrom = 12

  /** Cycles from the request of an update to that of the next. */
  val UpdateCycles: Int = DivideFrom + ProbBits + 2
}
