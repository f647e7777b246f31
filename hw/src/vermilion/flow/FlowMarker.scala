package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.{Delay, ForwardingRam}
import vermilion.stream.Colour

object FlowMarker {

  /** Clocks from request to answer. */
  val Latency = 8
}

/** The ports of a marker by flow. */
abstract class FlowMarking(queueBits: Int) extends Module {
  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W))) // a new key, an empty table; 0: a key from the generator as it stands
    val request = Flipped(Valid(new FlowRequest(queueBits)))
    val answer = Valid(new FlowAnswer)
    val ready = Output(Bool())
  })
}

/** Stands where a build has no markers by flow: every packet yellow, no state, same latency. */
class NoFlowMarker(queueBits: Int) extends FlowMarking(queueBits) {
  io.ready := true.B
  io.answer.valid := Delay(io.request.valid && !reset.asBool, FlowMarker.Latency)
  io.answer.bits := 0.U.asTypeOf(new FlowAnswer)
  io.answer.bits.colour := Colour.Yellow.U
}

/** Marks the packets of TCP flows by the state of their flow: 3CPM, WPM, APM or none (P1), chosen by the packet's `FlowConfig`.
  *
  * {{{
  *   made at SYN: credits = N_s, SN_h = ISN, L_Y = 0, A_Y = A_0
  *   SN <= SN_h (a loss):  A_Y <- (1-alpha) A_Y + alpha L_Y, L_Y <- 0, credits <- N_a, green
  *   else:                 SN_h <- SN, L_Y <- L_Y + 1;  L_Y > A_Y: red, A_Y <- increase(A_Y), L_Y <- 0
  *                                                      else green while credits last (one less), then yellow
  * }}}
  * WPM keeps the credits alone and leaves A_Y and L_Y as they are; APM keeps these alone, and marks yellow what is green above, SYNs too;
  * NM marks all yellow and has no state. Arithmetic: [[FlowLoop]]. Where the paper is silent:
  *
  *   - Data: TCP with payload (HeaderParser) and neither SYN nor RST, FIN or not. Red comes before green, and takes no credit; nor do a SYN and a
  *     retransmission.
  *   - SYN (without RST; with ACK, with payload, sent again, all the same): green, state made anew, or made.
  *   - All other TCP packets, RST and FIN among them: yellow or, with the green rules, `ackGreen`; they touch nothing. State ages.
  *   - Data without state: adopted. State as at a SYN but SN_h = SN, and this packet counts: L_Y = 1, one credit.
  *   - SN - SN_h modulo 2^32: 1 to 2^30 - 1 is new; 0, and down to -2^30, is a loss; all else is no distance that a TCP window can
  *     reach (RFC 7323 section 2.3): a jump, state made anew as at an adoption. A jump of 2^31 among them.
  *   - No room in the flow's set ([[FlowTable]]): yellow, SYN or not. Not TCP, a later fragment, a cut TCP header: yellow.
  *
  * One packet a clock, any mixture of flows, the same in every clock too. `request` in clock t, `answer` in t + [[FlowMarker.Latency]].
  * While `ready` is low (after reset, after a seed) packets are marked as if the table were full, and counted so.
  * {{{
  *   0..4  the table finds the entry         6  RAM's output, or the state two ahead, to registers; what a fresh entry will hold
  *   5     address the RAM of states         7  the loop: state or that just ahead -> next state, colour;  8  answer, RAM written
  * }}}
  */
class FlowMarker(queueBits: Int, flows: Int = 4096) extends FlowMarking(queueBits) {
  import FlowFormats._
  import FlowMarker.Latency

  // ---- Clock 0: what kind of packet --------------------------------------------------------------------------------
  /** A packet as it goes down the pipeline. */
  private class Packet extends Bundle {
    val seq = UInt(32.W)
    val isTcp = Bool()
    val uses = Bool() // makes or uses state
    val syn = Bool()
    val config = new FlowConfig
  }
  private val in = io.request.bits
  private val h = in.headers
  private val s0 = Wire(new Packet)
  s0.seq := h.tcpSeq
  s0.isTcp := h.isTcp
  s0.syn := h.tcpFlags(1)
  s0.uses := h.isTcp && !h.tcpFlags(2) && (h.tcpFlags(1) || h.tcpPayload) && in.config.kind =/= FlowKind.None.U
  s0.config := in.config
  private val packet = Seq.iterate(s0, Latency)(Delay(_))
  private val valid = Seq.iterate(io.request.valid, Latency + 1)(RegNext(_, false.B))

  // ---- Clocks 0 to 5: the table --------------------------------------------------------------------------------------
  private val table = Module(new FlowTable(queueBits, flows))
  table.io.seed := io.seed
  table.io.lookup.valid := io.request.valid && s0.uses
  private val lookup = table.io.lookup.bits
  lookup.key.isIp6 := h.isIp6
  lookup.key.queue := in.queue
  lookup.key.vlan := h.vlan
  lookup.key.srcAddr := h.srcAddr
  lookup.key.dstAddr := h.dstAddr
  lookup.key.srcPort := h.srcPort
  lookup.key.dstPort := h.dstPort
  lookup.syn := s0.syn
  lookup.tick := in.time >> TickShift
  lookup.idleAge := in.config.idleAge
  lookup.halfOpenAge := in.config.halfOpenAge
  io.ready := table.io.ready

  private val s5Place = Wire(chiselTypeOf(table.io.place))
  s5Place.bits := Delay(table.io.place.bits)
  s5Place.valid := RegNext(table.io.place.valid, false.B)
  private val s6Place = Delay(s5Place)
  private val s7Place = Delay(s6Place)
  private def holds(p: Valid[FlowPlace]): Bool = p.valid && p.bits.found
  private val states = new ForwardingRam(flows, new FlowState)

  /** A state as the RAM has it, and beside it what the loop has no time for (FlowLoop). */
  private class Held extends Bundle {
    val state = new FlowState
    val burstPlus = UInt(BurstBits.W)
    val excess = UInt(FlowLoop.ExcessBits.W)
  }
  private val s8 = Reg(new Held)
  private val s8Writes = Delay(holds(s7Place))
  private val s8Index = Delay(s7Place.bits.index)

  // ---- Clock 6: the state, and what a fresh one would be ------------------------------------------------------------
  private val s6 = packet(6)
  private val s6Held = Wire(new Held)
  private val s6Read = states.read(s5Place.bits.index)
  s6Held.state := Mux(s8Writes && s8Index === s6Place.bits.index, s8.state, s6Read)
  s6Held.burstPlus := FlowLoop.plus(s6Held.state.burst)
  s6Held.excess := FlowLoop.excess(s6Held.state)
  private val s7Held = Delay(s6Held)
  private val s7Forward = Delay(holds(s7Place) && s7Place.bits.index === s6Place.bits.index)

  private val s6Terms = FlowLoop.terms(s6.config)
  private val s6Begun = Wire(new FlowState)
  private val s6Counts = !s6.syn && s6.config.redRules
  private val s6Probe = s6Counts && s6.config.initialAverage < (1 << AverageFrac).U // 1 > A_0
  private val (s6Average, s6Raised) = FlowLoop.increase(s6.config.initialAverage, false.B, s6Terms)
  private val s6Green = s6.config.greenRules && !s6.syn && !s6Probe && s6.config.startCredits =/= 0.U
  s6Begun.average := Mux(s6Probe, s6Average, s6.config.initialAverage)
  s6Begun.raised := s6Probe && s6Raised
  s6Begun.burst := (s6Counts && !s6Probe).asUInt
  s6Begun.highestSeq := s6.seq
  s6Begun.credits := Mux(s6Green, wrap(s6.config.startCredits - 1.U, CreditBits), s6.config.startCredits)
  private val s7Begun = Delay(s6Begun)
  private val s7BegunExcess = Delay(FlowLoop.excess(s6Begun))
  private val s7BegunProbe = Delay(s6Probe)
  private val s7BegunGreen = Delay(s6Green || (s6.config.greenRules && s6.syn))

  // ---- Clock 7: the loop ---------------------------------------------------------------------------------------------
  private val s7 = packet(7)
  private val held = Mux(s7Forward, s8, s7Held)
  private val old = held.state
  private val terms = Delay(s6Terms)
  private val red = Delay(s6.config.redRules)
  private val green = Delay(s6.config.greenRules)
  private val distance = s7.seq - old.highestSeq
  private val jump = distance(31) ^ distance(30)
  private val loss = distance(31) || !distance.orR
  private val probe = red && FlowLoop.over(held.burstPlus, old, terms)
  private val (risen, raised) = FlowLoop.increase(old.average, old.raised, terms)
  private val lower = FlowLoop.afterLoss(old, held.excess, terms)
  private val credit = green && old.credits =/= 0.U

  private val next = Wire(new Held)
  private val colour = WireDefault(Colour.Yellow.U(2.W))
  next := held
  private val begin = s7Place.bits.fresh || s7.syn || jump
  when(begin) {
    next.state := s7Begun
    next.burstPlus := Mux(s7Begun.burst(0), 2.U, 1.U)
    next.excess := s7BegunExcess
    when(s7BegunProbe) { colour := Colour.Red.U }.elsewhen(s7BegunGreen) { colour := Colour.Green.U }
  }.elsewhen(loss) {
    when(green) {
      next.state.credits := s7.config.recoveryCredits
      colour := Colour.Green.U
    }
    when(red) {
      next.state.average := lower
      next.state.raised := false.B
      next.state.burst := 0.U
      next.burstPlus := 1.U
      next.excess := FlowLoop.excessAtRest(lower, false.B)
    }
  }.otherwise {
    next.state.highestSeq := s7.seq
    when(probe) {
      next.state.average := risen
      next.state.raised := raised
      next.state.burst := 0.U
      next.burstPlus := 1.U
      next.excess := FlowLoop.excessAtRest(risen, raised)
      colour := Colour.Red.U
    }.otherwise {
      when(red) {
        next.state.burst := held.burstPlus
        next.burstPlus := FlowLoop.plus(held.burstPlus)
        next.excess := FlowLoop.excessPlus(old, held.excess)
      }
      when(credit) {
        next.state.credits := old.credits - 1.U
        colour := Colour.Green.U
      }
    }
  }
  s8 := next

  // ---- Clock 8: write and answer -------------------------------------------------------------------------------------
  states.write(s8Writes, s8Index, s8.state)
  private val has = holds(s7Place)
  private val place = s7Place.bits
  private val answer = Wire(new FlowAnswer)
  private val bare = s7.isTcp && !s7.uses && green && s7.config.ackGreen
  answer.colour := Mux(has, colour, Mux(bare, Colour.Green.U, Colour.Yellow.U))
  answer.hasState := has
  answer.state := Mux(has, next.state, 0.U.asTypeOf(new FlowState))
  answer.events.adopted := has && place.fresh && !s7.syn
  answer.events.collision := s7Place.valid && place.collision
  answer.events.agedOut := s7Place.valid && place.agedOut
  answer.events.displaced := s7Place.valid && place.displaced
  answer.events.tableFull := valid(7) && s7.uses && !has
  answer.events.loss := has && !begin && loss
  answer.events.jump := has && !place.fresh && !s7.syn && jump
  answer.events.probe := has && colour === Colour.Red.U
  io.answer.valid := valid(Latency)
  io.answer.bits := Delay(answer)
}
