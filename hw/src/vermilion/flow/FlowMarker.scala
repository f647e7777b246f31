package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

object FlowMarker {

  /** Clocks from request to answer. */
  val Latency = 7
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

object FlowMarking {

  /** The form that a lane has. */
  def apply(p: LaneParams): FlowMarking =
    if (p.flows == 0) new NoFlowMarker(p.queueBits, latency(p))
    else if (p.inTurn) new FlowMarkerInTurn(p.queueBits, p.flows)
    else new FlowMarker(p.queueBits, p.flows)

  /** Its clocks from request to answer. */
  def latency(p: LaneParams): Int = if (p.inTurn) FlowMarkerInTurn.Latency else FlowMarker.Latency
}

/** Stands where a build has no markers by flow: every packet yellow, no state, same latency. */
class NoFlowMarker(queueBits: Int, latency: Int = FlowMarker.Latency) extends FlowMarking(queueBits) {
  io.ready := true.B
  io.answer.valid := Delay(io.request.valid && !reset.asBool, latency)
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
  *   0..3  the table finds the entry         5  RAM's output, or the state of one or two packets ahead, to a register; what a fresh entry will hold
  *   4     address the RAM of states         6  the loop, from that register and into it: next state, colour;  7  answer, RAM written
  * }}}
  */
class FlowMarker(queueBits: Int, flows: Int = 4096) extends FlowMarking(queueBits) {
  import FlowFormats._
  import FlowMarker.Latency

  // ---- Clock 0: what kind of packet --------------------------------------------------------------------------------
  private val s0 = FlowPacket(io.request.bits)
  private val packet = Seq.iterate(s0, Latency)(Delay(_))
  private val valid = Seq.iterate(io.request.valid, Latency + 1)(RegNext(_, false.B))

  // ---- Clocks 0 to 4: the table --------------------------------------------------------------------------------------
  private val table = Module(new FlowTable(queueBits, flows))
  table.io.seed := io.seed
  table.io.lookup.valid := io.request.valid && s0.uses
  table.io.lookup.bits := FlowLookup(queueBits, io.request.bits)
  io.ready := table.io.ready

  private val s4Place = table.io.place
  private val s5Place = Delay(s4Place)
  private val s6Place = Delay(s5Place)
  private def holds(p: Valid[FlowPlace]): Bool = p.valid && p.bits.found
  private val states = new ForwardingRam(flows, new FlowState)

  /** A state as the RAM has it, and beside it what the loop has no time for (FlowLoop). */
  private class Held extends Bundle {
    val state = new FlowState
    val burstPlus = UInt(BurstBits.W)
    val excess = UInt(FlowLoop.ExcessBits.W)
  }
  private val s7 = Reg(new Held)
  private val s7Writes = Delay(holds(s6Place))
  private val s7Index = Delay(s6Place.bits.index)

  // ---- Clock 5: the state, and what a fresh one would be ------------------------------------------------------------
  private val s5 = packet(5)
  private val s5Held = Wire(new Held)
  private val s5Read = states.read(s4Place.bits.index)
  s5Held.state := Mux(s7Writes && s7Index === s5Place.bits.index, s7.state, s5Read)
  s5Held.burstPlus := FlowLoop.plus(s5Held.state.burst)
  s5Held.excess := FlowLoop.excess(s5Held.state)
  private val next = Wire(new Held) // of the packet just ahead: the loop ends in the register in which it begins
  private val held = Reg(new Held)
  held := Mux(holds(s6Place) && s6Place.bits.index === s5Place.bits.index, next, s5Held)

  private val s5Terms = FlowLoop.terms(s5.config)
  private val s5Begun = FlowBegun(s5, FlowLoop.increase(s5.config.initialAverage, false.B, s5Terms)._1)
  private val s6Begun = Delay(s5Begun)
  private val s6BegunExcess = Delay(FlowLoop.excess(s5Begun.state))

  // ---- Clock 6: the loop ---------------------------------------------------------------------------------------------
  private val s6 = packet(6)
  private val old = held.state
  private val terms = Delay(s5Terms)
  private val red = Delay(s5.config.redRules)
  private val green = Delay(s5.config.greenRules)
  private val distance = s6.seq - old.highestSeq
  private val jump = distance(31) ^ distance(30)
  private val loss = distance(31) || !distance.orR
  private val probe = red && FlowLoop.over(held.burstPlus, old, terms)
  private val (risen, raised) = FlowLoop.increase(old.average, old.raised, terms)
  private val lower = FlowLoop.afterLoss(old, held.excess, terms)
  private val credit = green && old.credits =/= 0.U

  private val colour = WireDefault(Colour.Yellow.U(2.W))
  next := held
  private val begin = s6Place.bits.fresh || s6.syn || jump
  when(begin) {
    next.state := s6Begun.state
    next.burstPlus := Mux(s6Begun.state.burst(0), 2.U, 1.U)
    next.excess := s6BegunExcess
    when(s6Begun.probe) { colour := Colour.Red.U }.elsewhen(s6Begun.green) { colour := Colour.Green.U }
  }.elsewhen(loss) {
    when(green) {
      next.state.credits := s6.config.recoveryCredits
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
    next.state.highestSeq := s6.seq
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
  s7 := next

  // ---- Clock 7: write and answer -------------------------------------------------------------------------------------
  states.write(s7Writes, s7Index, s7.state)
  private val has = holds(s6Place)
  private val answer = Wire(new FlowAnswer)
  answer.colour := Mux(has, colour, Mux(s6.bare, Colour.Green.U, Colour.Yellow.U))
  answer.hasState := has
  answer.state := Mux(has, next.state, 0.U.asTypeOf(new FlowState))
  answer.events := FlowEvents(valid(6), s6, s6Place, jump, loss, colour)
  io.answer.valid := valid(Latency)
  io.answer.bits := Delay(answer)
}
