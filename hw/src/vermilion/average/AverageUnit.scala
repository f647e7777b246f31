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

/** One refresh of a queue's averages. Only estimators e with `update(e)` change. */
class AverageRequest extends Bundle {
  val refresh = Bool() // at a departure: a length of 0 is averaged like any other
  val hostRead = Bool() // changes nothing: returns the average as it is, aged if length is 0
  val update = Vec(Colour.Count, Bool())
  val seen = Vec(Colour.Count, new Seen) // length, and the ageing to apply if it is 0
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
}

/** Computes one estimator's new average: inputs and base in cycle 1, result in cycle 5. */
private[average] class AverageStep(
    s1Base: UInt,
    s1Weight: Scaled,
    seen: Seen,
    refresh: Bool,
    hostRead: Bool
) {
  import AverageStep._
  private val s1Idle = seen.length === 0.U && !refresh
  // Length less base, or for an idle queue, of length 0, the base itself. This is one sum, with its carry in at one more bit below.
  private val s1Minus = !s1Idle
  private val s1Added = s1Base.pad(AvgBits + 1) ^ Fill(AvgBits + 1, s1Minus)
  private val s1Left = Cat(0.U(1.W), seen.length, 0.U(AvgFrac.W), 1.U(1.W)) + Cat(s1Added, s1Minus)
  private val s2Left = Delay(s1Left(AvgBits + 1, 1).asSInt)
  // A factor of 1.0 is the only one that needs 18 bits. It is stored as half of that, and shifted right by one place less.
  private val one = seen.factor(FactorBits)
  private val s1Factor = Cat(one || seen.factor(FactorBits - 1), seen.factor(FactorBits - 2, 0))
  private val s2Right = Delay(Mux(s1Idle, s1Factor, Mux(hostRead, 0.U, s1Weight.mant.pad(FactorBits))))
  // Every shift is by at least eight places, so the product's lowest eight bits are dropped.
  private val s2Shift =
    Delay(Mux(s1Idle, Mux(one, (16 - LeastShift).U, (17 - LeastShift).U) +& seen.halvings, s1Weight.shift.pad(7)))

  // -- cycles 2 to 4: multiply (operand, product and output registers), shift --
  // Two multipliers of 27 times 18 signed bits and one sum.
  private val s3Low = Delay(s2Left(LowBits - 1, 0) * s2Right)
  private val s3High = Delay((s2Left >> LowBits) * s2Right.zext)
  private val s3Sum = s3High +& (s3Low >> LowBits).zext
  private val s4Product = Delay(Cat(s3Sum.asUInt, s3Low(LowBits - 1, LeastShift)).asSInt)
  private val s4Shift = Delay(saturate(Delay(s2Shift), 6)) // from a shift of 63 on, no product bits remain
  private val s5Change = Delay(ShiftDown.signed(s4Product, s4Shift, AvgBits + 2).asSInt)
  private val s5Addend = Delay(Mux(s1Idle, 0.U, s1Base), 4)

  // -- cycle 5: add --
  private val sum = Wire(SInt((AvgBits + 3).W))
  sum := s5Addend.zext +& s5Change

  /** The new average is 0, and `raised` is undefined. */
  val isNegative: Bool = sum < 0.S

  /** The new average, saturated. */
  val raised: UInt = saturate(sum.asUInt(AvgBits + 1, 0), AvgBits)
}

private object AverageStep {

  /** Bits of a factor below 1.0, and bits of the difference that the first multiplier takes. */
  private val FactorBits = 17
  private val LowBits = 26

  /** The minimum right shift of a product: 2^8 is a weight of 1.0 at exponent 0. */
  private val LeastShift = 8
}

/** Computes the queue averages of all colours: one refresh per cycle. Refreshes of one queue may follow back to back.
  *
  * {{{
  *   length > 0:  avg <- avg + W[n] (length - avg),   W[n] = 1 - (1-w)^n
  *   length = 0:  avg <- avg (1-w)^(t/s)      (an arrival; at a departure the first line holds for 0 as well)
  * }}}
  * (Floyd and Jacobson 1993; P4 eq. 7.) The multiplication takes longer than a cycle. So refresh j starts from the newest average that is written.
  * That is n refreshes of the same queue and estimator ago, n = 1..6. This is a look-ahead of Floyd's loop that uses the present length for those between.
  * Below one refresh in six cycles per queue, n = 1 and the loop is Floyd's.
  * If refreshes are in progress, t starts at the one that gave the base ([[QueueStateLookup]]). So no idle time is lost.
  *
  * RAM: one average per queue and estimator, U27.16. Rounding: the right shift of the product rounds towards minus infinity. The sum saturates, because a
  * weight above 1.0 fits into its 9 bits, and overshoots.
  * {{{
  *   cycle 0  queue: address the RAM; count refreshes in progress     2, 3  multiply     5  add; `colour`
  *         1  request, base: operands                                 4     shift        6  averages; `own`, that of `colour`; written
  * }}}
  * Other blocks select the colours that count (masks) and the unit of the length, and compute the ageing of an idle time.
  */
class AverageUnit(p: LaneParams) extends Module {
  import AverageUnit._
  val io = IO(new Bundle {
    val queue = Input(UInt(p.queueBits.W)) // the request's queue
    val request = Flipped(Valid(new AverageRequest))
    val colour = Input(UInt(2.W)) // the request's colour
    val average = Output(Vec(Colour.Count, UInt(AvgBits.W)))
    val own = Output(UInt(AvgBits.W)) // the average of `colour`
    val ahead = Output(Vec(Colour.Count, UInt(3.W))) // n, for the trace
    val aheadNow = Output(Vec(Colour.Count, UInt(3.W))) // n, in the cycle of the request
    val ready = Output(Bool())
  })
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done
  private val clearing = !sweep.done || reset.asBool // the reset holds the register before the array at 0 meanwhile

  /** The queue in each cycle, and the estimators that are updated, from cycle 1 on. */
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

    // -- cycle 0: read, and count the refreshes in progress --
    val under = sameQueue.zipWithIndex.map { case (same, i) => same && updated(i + 1, e) }
    val s1Ahead = Delay((PopCount(under) +& 1.U).pad(3)(2, 0))
    val s1Base = average.read(queue(0))

    // -- cycle 1: operands --
    val s1Weight = MuxLookup(s1Ahead, in.weight(0))((1 to EwmaStages).map(n => n.U -> in.weight(n - 1)))
    val s5Sum = new AverageStep(s1Base, s1Weight, in.seen(e), in.refresh, in.hostRead)

    // -- cycle 6: write --
    val s6Average = Delay(Mux(clearing || s5Sum.isNegative, 0.U, s5Sum.raised))
    average.write(updated(Latency, e), queue(Latency), s6Average)
    average.write(!sweep.done, sweep.address, s6Average)

    io.average(e) := s6Average
    io.aheadNow(e) := s1Ahead
    io.ahead(e) := Delay(s1Ahead, Latency - 1)
    s5Sum
  }
  // A negative average becomes 0 by a reset of the register, as above. So only the other values pass the selection.
  private def ofColour[T <: Data](of: AverageStep => T): T = VecInit(sums.map(of))(io.colour)
  io.own := Delay(Mux(ofColour(_.isNegative), 0.U, ofColour(_.raised)))
}

object AverageUnit {

  /** Cycles from queue to average, and to the write of the average. */
  val Latency: Int = EwmaStages
}
