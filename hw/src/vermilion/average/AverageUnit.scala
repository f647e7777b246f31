package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.control.Scaled
import vermilion.fixed.Arithmetic.saturate
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, ShiftDown, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** One refresh of a queue's averages. Estimator e is changed only where `update(e)`. */
class AverageRequest extends Bundle {
  val refresh = Bool() // at a departure: a length of 0 is averaged like any other
  val hostRead = Bool() // changes nothing: the average as it is, aged where length is 0
  val update = Vec(Colour.Count, Bool())
  val seen = Vec(Colour.Count, new Seen) // length, and how much to age where that is 0
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
}

/** From what an estimator sees and its base, in clock 1, to the new average, in clock 5. */
private[average] class AverageStep(
    s1Base: UInt,
    s1Weight: Scaled,
    seen: Seen,
    refresh: Bool,
    hostRead: Bool
) {
  import AverageStep._
  private val s1Idle = seen.length === 0.U && !refresh
  // Length less base or, where that is idle and so 0, base: one sum, its carry in from a place below.
  private val s1Minus = !s1Idle
  private val s1Added = s1Base.pad(AvgBits + 1) ^ Fill(AvgBits + 1, s1Minus)
  private val s1Left = Cat(0.U(1.W), seen.length, 0.U(AvgFrac.W), 1.U(1.W)) + Cat(s1Added, s1Minus)
  private val s2Left = Delay(s1Left(AvgBits + 1, 1).asSInt)
  // A factor of 1.0 is the only one of 18 bits: it is half of that, shifted by one place less.
  private val one = seen.factor(FactorBits)
  private val s1Factor = Cat(one || seen.factor(FactorBits - 1), seen.factor(FactorBits - 2, 0))
  private val s2Right = Delay(Mux(s1Idle, s1Factor, Mux(hostRead, 0.U, s1Weight.mant.pad(FactorBits))))
  // No shift is by less than eight places, so the product's lowest eight bits go nowhere.
  private val s2Shift =
    Delay(Mux(s1Idle, Mux(one, (16 - LeastShift).U, (17 - LeastShift).U) +& seen.halvings, s1Weight.shift.pad(7)))

  // -- clocks 2 to 4: multiply (operand, product and output registers), shift --
  // In two multipliers of 27 times 18 signed bits, one sum behind them.
  private val s3Low = Delay(s2Left(LowBits - 1, 0) * s2Right)
  private val s3High = Delay((s2Left >> LowBits) * s2Right.zext)
  private val s3Sum = s3High +& (s3Low >> LowBits).zext
  private val s4Product = Delay(Cat(s3Sum.asUInt, s3Low(LowBits - 1, LeastShift)).asSInt)
  private val s4Shift = Delay(saturate(Delay(s2Shift), 6)) // the product's bits are all gone by then
  private val s5Change = Delay(ShiftDown.signed(s4Product, s4Shift, AvgBits + 2).asSInt)
  private val s5Addend = Delay(Mux(s1Idle, 0.U, s1Base), 4)

  // -- clock 5: add --
  private val sum = Wire(SInt((AvgBits + 3).W))
  sum := s5Addend.zext +& s5Change

  /** The new average is 0, and `raised` means nothing. */
  val isNegative: Bool = sum < 0.S

  /** The new average, saturated. */
  val raised: UInt = saturate(sum.asUInt(AvgBits + 1, 0), AvgBits)
}

private object AverageStep {

  /** Bits of a factor below 1.0, and of the part of a difference that one multiplier takes. */
  private val FactorBits = 17
  private val LowBits = 26

  /** Places by which every product is shifted at least: 2^8 is a weight of 1.0 at exponent 0. */
  private val LeastShift = 8
}

/** The queue averages of all colours, one refresh a clock, the same queue back to back included.
  *
  * {{{
  *   length > 0:  avg <- avg + W[n] (length - avg),   W[n] = 1 - (1-w)^n
  *   length = 0:  avg <- avg (1-w)^(t/s)      (an arrival; at a departure the first line holds for 0 as well)
  * }}}
  * (Floyd and Jacobson 1993; P4 eq. 7.) The multiply takes longer than a clock, so refresh j starts from the newest
  * average that is written, which is n refreshes of the same queue and estimator ago, n = 1..6: a look-ahead of Floyd's loop
  * with the lengths between taken as the present one. Below one refresh in six clocks per queue n = 1 and the loop is Floyd's.
  * Where refreshes are under way, t reaches back to the one that gave the base ([[QueueStateLookup]]), so no idle spell is forgotten.
  *
  * RAM: one average per queue and estimator, U27.16. Rounding: the product is shifted right towards minus infinity, the sum
  * saturates (a weight above 1.0 can be written into its 9 bits, and overshoots).
  * {{{
  *   clock 0  queue: address the RAM; count who is under way     2, 3  multiply     5  add; `colour`
  *         1  request, base: operands                            4     shift        6  averages; `own`, that of `colour`; written
  * }}}
  * Not here: which colours count (masks), the unit of the length, what an idle spell takes away.
  */
class AverageUnit(p: LaneParams) extends Module {
  import AverageUnit._
  val io = IO(new Bundle {
    val queue = Input(UInt(p.queueBits.W)) // of the request
    val request = Flipped(Valid(new AverageRequest))
    val colour = Input(UInt(2.W)) // of the request
    val average = Output(Vec(Colour.Count, UInt(AvgBits.W)))
    val own = Output(UInt(AvgBits.W)) // of `colour`
    val ahead = Output(Vec(Colour.Count, UInt(3.W))) // n, for the trace
    val aheadNow = Output(Vec(Colour.Count, UInt(3.W))) // n, in the clock of the request
    val ready = Output(Bool())
  })
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done
  private val clearing = !sweep.done || reset.asBool // the register before the array is 0 then, by its reset

  /** The queue as it stands in each clock, and what is updated, from clock 1 on. */
  private val queue = Seq.iterate(io.queue, Latency + 1)(Delay(_))
  private val in = io.request.bits
  private val updates = Seq.iterate(VecInit(in.update.map(_ && io.request.valid)), Latency) { u =>
    val next = Delay(u)
    for (e <- 0 until Colour.Count) next(e) := u(e) && !reset.asBool
    next
  }
  private def updated(stage: Int, e: Int): Bool = updates(stage - 1)(e)
  private val sameQueue = (1 until Latency).map(k => queue(k) === queue(0))

  private val sums = Seq.tabulate(Colour.Count) { e =>
    val average = new ForwardingRam(p.queues, UInt(AvgBits.W))

    // -- clock 0: read, and count the refreshes that are on their way --
    val under = sameQueue.zipWithIndex.map { case (same, i) => same && updated(i + 1, e) }
    val s1Ahead = Delay((PopCount(under) +& 1.U).pad(3)(2, 0))
    val s1Base = average.read(queue(0))

    // -- clock 1: operands --
    val s1Weight = MuxLookup(s1Ahead, in.weight(0))((1 to EwmaStages).map(n => n.U -> in.weight(n - 1)))
    val s5Sum = new AverageStep(s1Base, s1Weight, in.seen(e), in.refresh, in.hostRead)

    // -- clock 6: write --
    val s6Average = Delay(Mux(clearing || s5Sum.isNegative, 0.U, s5Sum.raised))
    average.write(updated(Latency, e), queue(Latency), s6Average)
    average.write(!sweep.done, sweep.address, s6Average)

    io.average(e) := s6Average
    io.aheadNow(e) := s1Ahead
    io.ahead(e) := Delay(s1Ahead, Latency - 1)
    s5Sum
  }
  // 0 by its reset, as the averages are where they would be negative: what is chosen of them is without that.
  private def ofColour[T <: Data](of: AverageStep => T): T = VecInit(sums.map(of))(io.colour)
  io.own := Delay(Mux(ofColour(_.isNegative), 0.U, ofColour(_.raised)))
}

object AverageUnit {

  /** From queue to average; also the write of the average. */
  val Latency: Int = EwmaStages
}
