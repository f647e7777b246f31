package vermilion.mark

import chisel3._
import chisel3.util._
import vermilion.control.MarkerKind
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** The token bucket markers for packets that are at least eight clocks apart: what [[TokenMarker]] does side by side, two
  * adders do in turn, with one multiplier and one shifter for the costs and for REDP's span. Kinds, rules and results are the
  * same, bit for bit.
  *
  * A bucket is kept as `~z`, the complement of the time at which it would have been empty (U48.16 ns). Its level T = now - z
  * is put into its window [0, b] first, a z outside being a full bucket; so each test afterwards is the sign of one sum, and
  * nothing is compared twice. Each adder ends in a register, to which a step adds one operand x or its complement ~x = -x - 1,
  * with a carry or without:
  * {{{
  *   step  adder A                                   adder B
  *    2    now
  *    3    + ~zA + 1: level, negative: z is ahead    now
  *    4    + ~bA: negative if within b;              + ~zB + 1
  *         not so: set to -1, a full bucket's
  *    5    + bA + 1: TA                              + ~bB, or -1
  *    6    srTCM: TA + cost A, for B alone           + bB + 1: TB
  *    7    test TA - cost A                          test TB - cost B; srTCM's excess: TB - (TA + cost A)
  *    8    + ~now: ~z; the decision, beside          + ~now: ~z
  *    9    - cost A if taken; handed to B            - cost B if taken; written
  *   10                                              what A handed over, written
  * }}}
  * REDP has one bucket, and the time of the last yellow packet, kept as if it were bucket B's z with the meter's time for its
  * burst: within its window, a yellow packet was seen. There the adders change places. B takes TA over in step 6 and goes on
  * with it as its own; A tests TA - T_L (T_H) in step 6, which is the dropper's threshold, and that with the span in step 7,
  * the marker's, and begins anew in step 8 for this packet's time, which is written if the packet is yellow.
  *
  * An operand is zero but in the steps that want it, by the reset of the register it lies in: so all are of one OR, which fits
  * the adder's own LUTs. Costs and span are (L m 2^16) >> s and (r m 2^26) >> s, and with s = 8 q + t, m is multiplied by
  * 2^(7-t) ahead of L or r, and the product is shifted by whole bytes.
  *
  * RAM: 2 x queues x (kind, ~z). `config` stands from the clock after its request until eight clocks after it. `ready` is low
  * for `queues` clocks after reset. A result stands from [[TokenMarkerInTurn.Latency]] clocks after its request until the next.
  */
class TokenMarkerInTurn(p: LaneParams) extends TokenMarking(p) {
  import TokenMarker.ClockBits
  import TokenMarkerInTurn._
  require(p.slotClocks >= 8, s"slotClocks is ${p.slotClocks}; legal for markers in turn are 8 and more")
  private class Bucket extends Bundle {
    val kind = UInt(MarkerKind.Bits.W) // whose it is; 0 after reset, of bucket A
    val empty = UInt(ClockBits.W) // ~z
  }
  private val sweep = new SweepInit(p.queues)
  private val ram = new ForwardingRam(2 * p.queues, new Bucket)
  io.ready := sweep.done

  private val config = io.config
  private val request = RegEnable(io.request.bits, io.request.valid)
  private val isGreen = request.colour === Colour.Green.U
  private val step = Seq.iterate(io.request.valid, Latency + 2)(RegNext(_, false.B))
  assert(
    !io.request.valid || !VecInit(step.slice(1, p.slotClocks)).asUInt.orR,
    s"two packets for the token markers are less than ${p.slotClocks} clocks apart"
  )
  private def ahead(steps: Int*): Bool = steps.map(n => step(n - 1)).reduce(_ || _)
  private def twoAhead(steps: Int*): Bool = steps.map(n => step(n - 2)).reduce(_ || _)
  private def only(enable: Bool, x: UInt): UInt = Delay(Mux(enable, x, 0.U(x.getWidth.W)))

  private val Seq(srTcm, redp) = Seq(TokenKind.SrTcm, TokenKind.Redp).map(MarkRights.is(p, _, config.kind))
  private val hasB = p.tokenKinds.exists(_ != TokenKind.Leaf).B

  // -- steps 1 to 5: what adder A takes, cost A or REDP's span, and a clock behind it what B takes, cost B or REDP's cost A --
  private val s1Span = redp && step(1)
  private val s1Factor = VecInit(config.cost(0), config.cost(1), config.demote, config.promote)(
    Cat(s1Span, Mux(redp, step(1) && !isGreen, !step(1)))
  )
  private val s1Shift = s1Factor.shift +& Mux(s1Span, 0.U, (SpanShift - ShaperFrac).U)
  private val s1Room = request.lenBytes -& Mux(config.ipLength, request.l3Offset, 0.U)
  private val s2Room = Delay(Mux(s1Room(PktLenBits), 0.U, s1Room(PktLenBits - 1, 0)))
  private val s2Random = redp && step(2)
  private val s2Fixed = config.packetBytes =/= 0.U
  private val s2ByIp = config.ipLength && request.ipBytes =/= 0.U && request.ipBytes < s2Room
  private val s3Units = Delay(
    VecInit(s2Room, request.ipBytes, config.packetBytes, request.draw(31, 16))(
      Cat(s2Random || s2Fixed, s2Random || (!s2Fixed && s2ByIp))
    )
  )
  private val s3Factor = Delay(wrap(Delay(s1Factor.mant) * Delay(UIntToOH(~s1Shift(2, 0), 8)), CostMantBits + 7))
  private val s3Product = s3Factor * s3Units
  private val s3Bytes = Delay(s1Shift >> 3, 2)
  private val s4Near = only(s3Bytes(3, 2) === 0.U, s3Product)
  private val s4Far = only(s3Bytes(3, 2) === 1.U, s3Product)
  private val s4Wide = Cat(s4Near, 0.U((SpanShift - 7).W)) | (s4Far >> (32 - SpanShift + 7))
  private val s4Number = VecInit((0 until 4).map(n => (s4Wide >> (8 * n)).pad(s4Wide.getWidth)))(Delay(s3Bytes(1, 0)))
  private val numberA = RegEnable(s4Number, step(4))
  private val numberB = RegEnable(s4Number, step(5))

  // -- the buckets: A's can be read in step 3, B's in step 4 --
  private val bucket = ram.read(Cat(request.queue, step(3)))
  private val same = RegEnable(bucket.kind === config.kind, step(3))

  // -- the adders --
  private def sum(total: UInt, operand: UInt, complement: Bool, carry: Bool): UInt =
    (Cat(total, true.B) + Cat(Mux(complement, ~operand, operand), carry))(ClockBits, 1)
  private def ns(x: UInt): UInt = Cat(x, 0.U(ShaperFrac.W))
  private val takes = Wire(Vec(2, Bool())) // in step 8
  private val totalA, totalB = Reg(UInt(ClockBits.W))

  private val timesA =
    VecInit(Seq(config.burstNs(0), request.time, config.lowNs, config.highNs).map(_.pad(TimeBits)))
  private val choiceA =
    Cat(Delay(twoAhead(6) && redp), Delay(twoAhead(2, 8) || (twoAhead(6) && redp && !isGreen)))
  private val timeA = only(ahead(2, 4, 5, 8) || (ahead(6) && redp), timesA(choiceA))
  private val costA = only((ahead(6) && !redp) || ahead(7) || (ahead(9) && takes(0)), numberA)
  private val bucketA = Mux(Delay(ahead(3)), bucket.empty, 0.U)
  private val complementA =
    Delay(ahead(4, 8, 9) || Mux(redp, ahead(6) || (ahead(7) && !isGreen), ahead(7)))
  private val carryA = Delay(ahead(2, 3, 5, 9) || Mux(redp, ahead(6, 8), ahead(7)))
  private val sumA = sum(totalA, bucketA | ns(timeA) | costA, complementA, carryA)
  private def negative(x: UInt): Bool = x(ClockBits - 1)
  private def within(total: UInt, sum: UInt): Bool =
    same && !negative(total) && negative(sum) // with level and level - b - 1
  when(Delay(ahead(2, 3, 4, 5, 8) || (ahead(6) && redp))) { totalA := sumA }
  when(step(1) || (step(4) && !within(totalA, sumA)) || (step(7) && redp)) { totalA := Fill(ClockBits, true.B) }

  private val timesB =
    VecInit((Seq(config.burstNs(1), config.yellowNs, request.time).map(t => ns(t.pad(TimeBits))) :+ sumA))
  private val choiceB = Cat(
    Delay(twoAhead(3, 7, 8, 10) || (twoAhead(6) && redp)),
    Delay(twoAhead(7, 10) || (twoAhead(5, 6) && redp))
  )
  private val timeB = only(ahead(3, 5, 6, 8, 10) || (ahead(7) && srTcm), timesB(choiceB))
  private val costB = only((ahead(7) && !srTcm) || (ahead(9) && takes(1)), numberB)
  private val bucketB = Mux(Delay(ahead(4)), bucket.empty, 0.U)
  private val complementB = Delay(ahead(5, 7, 8, 9))
  private val carryB = Delay(ahead(3, 4, 6, 7, 9, 10))
  private val sumB = sum(totalB, bucketB | timeB | costB, complementB, carryB)
  when(Delay(ahead(3, 4, 5, 6, 8)) && hasB) { totalB := sumB }
  when(step(2) || (step(5) && (redp || !within(totalB, sumB))) || step(9)) { totalB := Fill(ClockBits, true.B) }

  // -- step 8: the decision --
  private val level = RegEnable(sumA, step(5))
  private val yellowSeen = RegEnable(!same || within(totalB, sumB), step(5))
  private val isLow = RegEnable(negative(sumA), step(6))
  private val s8Rights = Delay(MarkRights(p, config, request.colour, request.draw))
  private val Seq(goodA, goodB) = Seq(sumA, sumB).map(sum => RegEnable(!negative(sum), step(7)))
  private val outcome =
    MarkOutcome(s8Rights, Seq(Mux(redp, goodB, goodA), goodB), goodB, !goodA, isLow, yellowSeen)
  takes := Seq(outcome.takesA && !redp, Mux(redp, outcome.takesA, outcome.takesB))
  private val marked = Wire(new Marked)
  marked.colour := Mux(s8Rights.has, outcome.colour, request.colour)
  marked.policed := s8Rights.has && (outcome.dropped || (config.dropColours >> outcome.colour)(0))
  marked.level := Mux(s8Rights.has, level, 0.U)
  io.marked := RegEnable(marked, step(8))

  // -- steps 9 and 10: write; the next packet may be in its steps 1 and 2 --
  private class Leaving extends Bundle {
    val queue = UInt(p.queueBits.W)
    val kind = UInt(MarkerKind.Bits.W)
    val redp = Bool()
    val writes = Vec(2, Bool()) // in steps 9 and 10
  }
  private val s8Leaving = Wire(new Leaving)
  s8Leaving.queue := request.queue
  s8Leaving.kind := config.kind
  s8Leaving.redp := redp
  s8Leaving.writes(0) := s8Rights.has && hasB
  s8Leaving.writes(1) := s8Rights.has && (!redp || !same || request.colour === Colour.Yellow.U)
  private val leaving = RegEnable(s8Leaving, step(8))
  private val written = Wire(new Bucket)
  written.kind := Mux(sweep.done, leaving.kind, MarkerKind.None.U)
  written.empty := sumB
  private val writes = (step(9) && leaving.writes(0)) || (step(10) && leaving.writes(1))
  private val address = Mux(sweep.done, Cat(leaving.queue, step(9) ^ leaving.redp), Cat(sweep.address, false.B))
  ram.write(writes || !sweep.done, address, written)
}

object TokenMarkerInTurn {
  val Latency: Int = 9
}
