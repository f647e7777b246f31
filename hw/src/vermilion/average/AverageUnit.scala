package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.control.Scaled
import vermilion.fixed.Arithmetic.{saturate, saturateSigned}
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, ShiftDown, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** One refresh of a queue's averages. Estimator e is changed only where `update(e)`. */
class AverageRequest extends Bundle {
  val refresh = Bool() // at a departure: a length of 0 is averaged like any other
  val look = Bool() // changes nothing: the average as it is, aged where length is 0
  val update = Vec(Colour.Count, Bool())
  val seen = Vec(Colour.Count, new Seen) // length, and how much to age where that is 0
  val weight = Vec(EwmaStages, new Scaled(WeightMantBits, WeightExpBits))
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
  * Where refreshes are under way, t reaches back to the one that gave the base ([[QueueLook]]), so no idle spell is forgotten.
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
  val io = IO(new Bundle {
    val queue = Input(UInt(p.queueBits.W)) // of the request that comes a clock later
    val request = Flipped(Valid(new AverageRequest))
    val colour = Input(UInt(2.W)) // four clocks behind its request
    val average = Output(Vec(Colour.Count, UInt(AvgBits.W)))
    val own = Output(UInt(AvgBits.W)) // of `colour`
    val ahead = Output(Vec(Colour.Count, UInt(3.W))) // n, for the trace
    val ready = Output(Bool())
  })
  import AverageUnit._
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done

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

  private val averages = Seq.tabulate(Colour.Count) { e =>
    val average = new ForwardingRam(p.queues, UInt(AvgBits.W))

    // -- clock 0: read, and count the refreshes that are on their way --
    val under = sameQueue.zipWithIndex.map { case (same, i) => same && updated(i + 1, e) }
    val s1Ahead = Delay((PopCount(under) +& 1.U).pad(3)(2, 0))
    val s1Base = average.read(queue(0))

    // -- clock 1: operands --
    val seen = in.seen(e)
    val s1Idle = seen.length === 0.U && !in.refresh
    val s1Weight = MuxLookup(s1Ahead, in.weight(0))((1 to EwmaStages).map(n => n.U -> in.weight(n - 1)))
    val difference = Cat(seen.length, 0.U(AvgFrac.W)).zext - s1Base.zext
    val s2Left = Delay(Mux(s1Idle, s1Base.zext.pad(AvgBits + 1), difference(AvgBits, 0).asSInt))
    val s2Right = Delay(Mux(s1Idle, seen.factor, Mux(in.look, 0.U, s1Weight.mant.pad(18))))
    val s2Shift = Delay(Mux(s1Idle, 17.U +& seen.halvings, 8.U +& s1Weight.shift.pad(6)))
    val s2Addend = Delay(Mux(s1Idle, 0.U, s1Base))

    // -- clocks 2 to 4: multiply (operand, product and output registers), shift --
    val s2Product = Wire(SInt((AvgBits + 1 + 19).W))
    s2Product := s2Left * s2Right.zext
    val s4Product = Delay(Delay(s2Product))
    val s4Shift = Delay(saturate(Delay(s2Shift), 6)) // the product's 63 bits are all gone by then
    val s5Change = Delay(ShiftDown.signed(s4Product, s4Shift, AvgBits + 2).asSInt)
    val s5Addend = Delay(Delay(Delay(s2Addend)))

    // -- clock 5: add; clock 6: write --
    val s5Average = added(s5Addend, s5Change)
    val s6Average = Delay(s5Average)
    average.write(updated(Latency, e), queue(Latency), s6Average)
    average.write(!sweep.done, sweep.address, 0.U)

    io.average(e) := s6Average
    io.ahead(e) := Delay(s1Ahead, Latency - 1)
    s5Average
  }

  private def added(addend: UInt, change: SInt): UInt = {
    val sum = Wire(SInt((AvgBits + 3).W))
    sum := addend.zext +& change
    saturateSigned(sum, AvgBits)
  }
  io.own := Delay(VecInit(averages)(io.colour))
}

object AverageUnit {

  /** From queue to average; also the write of the average. */
  val Latency: Int = EwmaStages
}
