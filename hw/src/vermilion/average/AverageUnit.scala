package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.control.Scaled
import vermilion.fixed.Arithmetic.{saturate, saturateSigned}
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** One refresh of a queue's averages. Estimator e is changed only where `update(e)`. */
class AverageRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val refresh = Bool() // at a departure: a length of 0 is averaged like any other
  val look = Bool() // changes nothing: the average as it is, aged where length is 0
  val update = Vec(Colour.Count, Bool())
  val length = Vec(Colour.Count, UInt(LenBits.W)) // masked backlog, bytes or packets
  val idleNs = Vec(Colour.Count, UInt(TimeBits.W)) // used where length is 0
  val lambda = new Scaled(LambdaMantBits, ShiftBits)
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
  *
  * Idle spells of refreshes that are still under way are not in the base yet, so a refresh adds them to its own (they follow
  * each other and do not overlap) and ages its base by all of them. One with a length does the same, instead of a step of
  * its own, as long as such a spell is under way; at most five packets step later for it. So no spell is ever forgotten.
  * All are aged with the newest refresh's lambda.
  *
  * RAM: one average per queue and estimator, U27.16. Rounding: the product is shifted right towards minus infinity, the sum
  * saturates (a weight above 1.0 can be written into its 9 bits, and overshoots).
  * Latency [[AverageUnit.Latency]] clocks; `next` comes a clock before its request. Not here: which colours count (masks), the unit of the length.
  */
class AverageUnit(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val next = Input(UInt(p.queueBits.W)) // the queue of the request that comes a clock later
    val request = Flipped(Valid(new AverageRequest(p)))
    val average = Output(Vec(Colour.Count, UInt(AvgBits.W)))
    val ahead = Output(Vec(Colour.Count, UInt(3.W))) // n, for the trace
    val ready = Output(Bool())
  })
  import AverageUnit._
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done

  /** The request as it stands in each stage; stage 0 is the input. */
  private val request = Seq.iterate[Valid[AverageRequest]](io.request, Latency + 1) { r =>
    val next = Delay(r)
    next.valid := r.valid && !reset.asBool
    next
  }
  private val valid = request.map(_.valid)
  private val sameAsNext = request.map(_.bits.queue === io.next)
  private val same = Delay(sameAsNext(0)) // as the one just ahead

  for (e <- 0 until Colour.Count) {
    val average = new ForwardingRam(p.queues, UInt(AvgBits.W))

    // -- stage 0: does this refresh age, or is one that does still ahead of it, unwritten? --
    val s0 = io.request.bits
    val s0Ages = s0.length(e) === 0.U && !s0.refresh
    val ages = Seq.iterate(valid(0) && s0.update(e) && s0Ages, EwmaStages)(Delay(_))
    // All but the one just ahead are summed up a clock before.
    val older = (1 until EwmaStages - 1).map(k => ages(k) && sameAsNext(k))
    def spells(which: Seq[(Bool, UInt)]): UInt =
      VecInit(which.map { case (counts, idleNs) => Mux(counts, idleNs, 0.U) }).reduceTree(_ +& _)
    val s0OlderNs = Delay(spells(older.zipWithIndex.map { case (counts, k) =>
      (counts, request(k + 1).bits.idleNs(e))
    }))
    val justAhead = ages(1) && same
    val s0Idle = s0Ages || justAhead || Delay(older.reduce(_ || _))
    val s0Spells = spells(Seq((s0Ages, s0.idleNs(e)), (justAhead, request(1).bits.idleNs(e))))
    val s0IdleNs = saturate(s0Spells +& s0OlderNs, TimeBits)

    // -- stages 0 to 5: how much an idle spell takes away --
    val idleAge = Module(new IdleAge)
    idleAge.io.idleNs := s0IdleNs
    idleAge.io.lambda := io.request.bits.lambda

    // -- stage 4: read, and count the refreshes that are on their way --
    val atRead = request(ReadStage)
    val inFlight = (ReadStage + 1 until Latency).map { k =>
      valid(k) && request(k).bits.update(e) && request(k).bits.queue === atRead.bits.queue
    }
    val s5Ahead = Delay((PopCount(inFlight) +& 1.U).pad(3)(2, 0))
    val s5Base = average.read(atRead.bits.queue)

    // -- stage 5: operands --
    val s5 = request(ReadStage + 1).bits
    val s5Idle = Delay(s0Idle, ReadStage + 1)
    val s5Weight = MuxLookup(s5Ahead, s5.weight(0))((1 to EwmaStages).map(n => n.U -> s5.weight(n - 1)))
    val difference = Cat(s5.length(e), 0.U(AvgFrac.W)).zext - s5Base.zext
    val s6Left = Delay(Mux(s5Idle, s5Base.zext.pad(AvgBits + 1), difference(AvgBits, 0).asSInt))
    val s6Right = Delay(Mux(s5Idle, idleAge.io.factor, Mux(s5.look, 0.U, s5Weight.mant.pad(18))))
    val s6Shift = Delay(Mux(s5Idle, 17.U +& idleAge.io.halvings, 8.U +& s5Weight.shift.pad(6)))
    val s6Addend = Delay(Mux(s5Idle, 0.U, s5Base))

    // -- stages 6 to 8: multiply (operand, product and output registers) --
    val s8Product = Delay(Delay(s6Left * s6Right.zext))
    val s8Shift = Delay(Delay(s6Shift))
    val s9Change = Delay((s8Product >> s8Shift)(AvgBits + 1, 0).asSInt)
    val s9Addend = Delay(Delay(Delay(s6Addend)))

    // -- stage 9: add; stage 10: write --
    val s9Sum = Wire(SInt((AvgBits + 3).W))
    s9Sum := s9Addend.zext +& s9Change
    val s10Average = Delay(saturateSigned(s9Sum, AvgBits))
    val last = request(Latency)
    average.write(last.valid && last.bits.update(e), last.bits.queue, s10Average)
    average.write(!sweep.done, sweep.address, 0.U)

    io.average(e) := s10Average
    io.ahead(e) := Delay(s5Ahead, Latency - ReadStage - 1)
  }
}

object AverageUnit {
  val ReadStage = 4

  /** From request to average; also the write of the average. */
  val Latency: Int = ReadStage + EwmaStages
}
