package vermilion.mark

import chisel3._
import chisel3.util._
import vermilion.control.{MarkConfig, MarkerKind, TokenKind}
import vermilion.fixed.Arithmetic.{reached, wrap}
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** Marks packets by token buckets, one packet per cycle: leaf, srTCM, trTCM, and REDP with its dropper. Packets of one queue may follow back to back.
  *
  * A bucket is stored as the time z at which it would have been empty (U48.16 ns, modulo 2^48 ns). Its level is T = now - z, at most the burst b.
  * Filling needs no arithmetic. A packet takes its tokens by z + cost. So the one-cycle loop needs only comparisons and additions of z, and a selection.
  * The times that z is compared with (now - b, now - cost, now - T_L + span) are computed before the loop. All comparisons are in parallel.
  * Only srTCM's excess takes two steps in the loop: zA - cost, then the comparison with zB.
  * No packet needs the operands of two kinds, so kinds share comparisons:
  * {{{
  *   z in [now - b, now]?    T >= cost  <=>  z <= now - cost      z + cost
  *   T < T_L - span  <=>  z > now - T_L + span                    (REDP, P0 eq. 1: the draw is in the span)
  *   E >= cost       <=>  zB <= zA - cost                         (srTCM: B holds committed and excess tokens together)
  *
  *   edge       compared with zA: REDP's threshold with its span; srTCM, where B is full: now - bB + cost
  *   covering B compared with zB: trTCM now - cost; srTCM, where A is full: now - bA - cost
  * }}}
  * A z outside the window [now - b, now], compared modulo 78 h, counts as a full bucket. docs/markers.md describes the effect on long silences and after a
  * clock is set back. The RAM keeps with each queue's buckets the kind that wrote them. A packet that finds another kind starts anew: with full buckets,
  * and with a meter as if a yellow packet had just come. So REDP's dropper is off until the meter has run once. A commit by itself changes no bucket.
  * Semantics of each kind: `sim/model/token_marker.h`, which is bit-exact. Rates are within 2^-17. Costs are rounded down to 2^-16 ns.
  *
  * {{{
  *   stage 0 request   1 config   2 operands   3 product   4 shifted   5 times   6 loop   7 result
  * }}}
  * RAM: queues x (kind, z A, z B, last yellow). `config` is the configuration of the request's queue, one cycle after the request. `ready` is low for `queues`
  * cycles after a reset. Latency: [[TokenMarker.Latency]] cycles, whichever kinds `LaneParams.tokenKinds` leaves out.
  */
class TokenMarker(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val request = Flipped(Valid(new MarkRequest(p)))
    val config = Input(new MarkConfig) // one cycle after the request
    val marked = Output(new Marked)
    val ready = Output(Bool())
  })

  import TokenMarker._
  private class State extends Bundle {
    val kind = UInt(MarkerKind.Bits.W) // the kind that wrote the buckets; 0 after a reset
    val z = Vec(2, UInt(ClockBits.W))
    val lastYellow = UInt(TimeBits.W)
  }
  private val sweep = new SweepInit(p.queues)
  private val ram = new ForwardingRam(p.queues, new State)
  io.ready := sweep.done

  private val requests = Seq.iterate[Valid[MarkRequest]](io.request, Loop + 1) { r =>
    val next = Delay(r)
    next.valid := r.valid && !reset.asBool
    next
  }
  private def holdS1Until[T <: Data](x: T, stage: Int): T = Delay(x, stage - 1)
  private val config = io.config

  // -- stages 1 to 4: the packet's cost, and REDP's random span --
  private val s0 = io.request.bits
  private val s1Room = Delay(Mux(s0.lenBytes > s0.l3Offset, wrap(s0.lenBytes - s0.l3Offset, PktLenBits), 0.U))
  private val s1Ip = requests(1).bits.ipBytes // 0: not known
  private val s1IpBytes = Mux(s1Ip =/= 0.U && s1Ip < s1Room, s1Ip, s1Room)
  private val s1Bytes = Mux(config.length, s1IpBytes, requests(1).bits.lenBytes)
  private val units = Mux(config.packet === 0.U, s1Bytes, config.packet)
  private val s4Cost = config.cost.map { cost =>
    val s3Product = Delay(Delay(units) * Delay(cost.mant))
    Delay(fit((s3Product << ShaperFrac) >> Delay(cost.shift, 2)))
  }
  private val s1Green = requests(1).bits.colour === Colour.Green.U
  private val s1Odds = Mux(s1Green, config.demote, config.promote)
  private val s3Random = Delay(Delay(requests(1).bits.draw(31, 16)) * Delay(s1Odds.mant))
  private val s4Span = Delay(fit((s3Random << SpanShift) >> Delay(s1Odds.shift, 2)))

  // -- stage 4: times to compare with --
  private val s4Now = Cat(requests(4).bits.time, 0.U(ShaperFrac.W))
  private def ns(x: UInt): UInt = Cat(x.pad(TimeBits), 0.U(ShaperFrac.W))
  private val s4Burst = holdS1Until(config.burst, 4).map(ns)
  private val s1SrTcm = MarkRights.is(p, TokenKind.Srtcm, config.kind)
  private val s1Back = Mux(s1SrTcm, config.burst(1), Mux(s1Green, config.lowThreshold, config.highThreshold))
  private val s4SrTcm = holdS1Until(s1SrTcm, 4)
  private val s4Green = holdS1Until(s1Green, 4)
  private val s4Floor = s4Burst.map(s4Now - _)
  private val s4Base = s4Now - ns(holdS1Until(s1Back, 4))
  // The first time past REDP's threshold. To demote: base + span + 1; to promote: base - span.
  private val s4Beside = Mux(s4SrTcm, s4Cost(0), Mux(s4Green, s4Span, ~s4Span))
  private val s4Edge = (Cat(s4Base, true.B) + Cat(s4Beside, !s4SrTcm))(ClockBits, 1)
  private val s5Now = Delay(s4Now)
  private val s5Cost = s4Cost.map(Delay(_))
  private val s5Floor = s4Floor.map(Delay(_))
  private val s5Covering = Seq(
    Delay(s4Now - s4Cost(0)),
    Delay(Mux(s4SrTcm, s4Floor(0), s4Now) - Mux(s4SrTcm, s4Cost(0), s4Cost(1)))
  )
  private val s5LowTime = Delay(s4Base) // used for green packets only
  private val s5Edge = Delay(s4Edge)
  private val s5QuietTime = Delay(requests(4).bits.time - holdS1Until(config.meter, 4))

  // -- stage 5: what does not depend on the bucket's state --
  private val s5 = requests(5).bits
  private val s6Now = Delay(s5Now)
  private val s6Cost = s5Cost.map(Delay(_))
  private val s6Floor = s5Floor.map(Delay(_))
  private val s6Covering = s5Covering.map(Delay(_))
  private val s6FloorTaken = s5Floor.zip(s5Cost).map { case (floor, cost) => Delay(floor + cost) }
  private val s5FullCovers = s5Floor.zip(s5Covering).map { case (floor, time) => reached(time, floor) }
  private val s6FullCovers = s5FullCovers.map(Delay(_))
  private val s6LowTime = Delay(s5LowTime)
  private val s6Edge = Delay(s5Edge)
  private val s5FullLow = !reached(s5LowTime, s5Floor(0))
  private val s5FullPast = reached(s5Floor(0), s5Edge)
  private val s6QuietTime = Delay(s5QuietTime)

  private val s5Rights = MarkRights(p, holdS1Until(config, 5), s5.colour, s5.draw)
  private val s6Rights = Delay(s5Rights)
  private val s6Again = Delay(requests(5).valid && s5Rights.has && s5.queue === requests(4).bits.queue)

  // The results if A, B or both are full. What remains open then is the comparison of the other bucket, or REDP's meter.
  private val s6FullTakesA =
    Delay(s5FullCovers(0) && (s5Rights.mayTakeA || (s5Rights.redp && !s5FullPast)))
  private val s6FullMayDrop = Delay(s5Rights.mayDrop && s5FullLow)
  private val s5SrGreen = s5Rights.srTcm && s5Rights.mayTakeA
  private val s6SrGreen = Delay(s5SrGreen)
  private val s6IfCoveredA = Delay(s5SrGreen || (s5Rights.trGreen && s5FullCovers(1)))
  private val s6IfCoveredB = Delay(s5Rights.srNotRed || (s5Rights.trGreen && s5FullCovers(0)))
  private val s6SrFullA = Delay(s5SrGreen && s5FullCovers(0))

  // -- stage 6: the loop --
  private val s6 = requests(Loop)
  private val s6Config = holdS1Until(config, Loop)
  private val old = Reg(new State) // from the RAM, or from the packet one cycle before if it is of the same queue
  private val z = old.z
  private val same = old.kind === s6Config.kind
  private val within = (0 until 2).map(i => same && reached(z(i), s6Floor(i)) && reached(s6Now, z(i)))
  private val covers = (0 until 2).map(i => reached(s6Covering(i), z(i)))
  private val past = reached(z(0), s6Edge)
  private val excess = reached(z(0) - s6Cost(0), z(1))
  private val quiet = same && !(reached(old.lastYellow, s6QuietTime) && reached(s6.bits.time, old.lastYellow))

  // Results are computed for a bucket within its window and for a full one, in parallel. The window comparison selects last.
  private val ifWithinA = covers(0) && (s6Rights.mayTakeA || (s6Rights.redp && !past))
  private val dropsWithin = s6Rights.mayDrop && !reached(s6LowTime, z(0))
  private val dropped = quiet && Mux(within(0), dropsWithin, s6FullMayDrop)
  private val takesA = Mux(within(0), ifWithinA && !(quiet && dropsWithin), s6FullTakesA && !(quiet && s6FullMayDrop))
  private val takesB = Mux(
    within(0),
    Mux(
      within(1),
      (covers(0) && (s6SrGreen || (s6Rights.trGreen && covers(1)))) || (s6Rights.srNotRed && excess),
      (covers(0) && s6IfCoveredA) || (s6Rights.srNotRed && past)
    ),
    s6SrFullA || (s6IfCoveredB && Mux(within(1), covers(1), s6FullCovers(1)))
  )

  private val colour = s6.bits.colour
  private val outcome = MarkOutcome(s6Rights, takesA, takesB, dropped)
  private val next = Wire(new State)
  next.kind := s6Config.kind
  for ((takes, i) <- Seq(takesA, takesB).zipWithIndex)
    next.z(i) := Mux(takes, Mux(within(i), z(i) + s6Cost(i), s6FloorTaken(i)), Mux(within(i), z(i), s6Floor(i)))
  next.lastYellow := Mux(!same || colour === Colour.Yellow.U, s6.bits.time, old.lastYellow)
  old := Mux(s6Again, next, ram.read(requests(4).bits.queue))
  // During the reset sweep the kind is None, so the first packet starts anew. The times written with it do not matter.
  private val written = WireInit(next)
  when(!sweep.done) { written.kind := MarkerKind.None.U }
  ram.write((s6.valid && s6Rights.has) || !sweep.done, Mux(sweep.done, s6.bits.queue, sweep.address), written)

  // -- stage 7: result --
  private val s7Z = Delay(Mux(within(0), z(0), s6Floor(0)))
  private val s7Has = Delay(s6Rights.has)
  private val s7Colour = Delay(Mux(s6Rights.has, outcome.colour, colour))
  private val s7Dropped = Delay(outcome.dropped)
  private val s7DropColours = Delay(s6Config.drop)
  io.marked.colour := s7Colour
  io.marked.policed := s7Has && (s7Dropped || (s7DropColours >> s7Colour)(0))
  io.marked.level := Mux(s7Has, Delay(s6Now) - s7Z, 0.U)

  private def fit(x: UInt): UInt = vermilion.fixed.Arithmetic.saturate(x, ClockBits)
}

object TokenMarker {

  /** Bits of a bucket's time z, U48.16 ns. */
  val ClockBits: Int = TimeBits + ShaperFrac
  private val Loop = 6
  val Latency: Int = Loop + 1
}
