package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, Memory, MemoryKind}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

object FlowMarker {

  /** Cycles from request to answer. */
  val Latency = 9
}

/** The ports of a flow marker. */
abstract class FlowMarkerPorts(queueBits: Int) extends Module {
  val io = IO(new Bundle {
    // draws a new key and empties the table; a seed of 0 draws the key from the generator's present state
    val seed = Flipped(Valid(UInt(128.W)))
    val request = Flipped(Valid(new FlowRequest(queueBits)))
    val answer = Valid(new FlowAnswer)
    val ready = Output(Bool())
  })
}

object FlowMarkerPorts {

  /** The flow marker that a lane's build has. */
  def apply(p: LaneParams): FlowMarkerPorts =
    if (p.flows == 0) new NoFlowMarker(p.queueBits) else new FlowMarker(p.queueBits, p.flows, p.ultraRam)
}

/** Replaces the flow marker in builds without it: every packet yellow, no state, same latency. */
class NoFlowMarker(queueBits: Int) extends FlowMarkerPorts(queueBits) {
  io.ready := true.B
  io.answer.valid := Delay(io.request.valid && !reset.asBool, FlowMarker.Latency)
  io.answer.bits := 0.U.asTypeOf(new FlowAnswer)
  io.answer.bits.colour := Colour.Yellow.U
}

/** Marks the packets of TCP flows by their flow's state: 3CPM, WPM, APM or none (P1), selected by `FlowConfig`.
  *
  * {{{
  *   at a SYN: credits = N_s, SN_h = ISN, L_Y = 0, A_Y = A_0
  *   SN <= SN_h (a loss):  A_Y <- (1-alpha) A_Y + alpha L_Y, L_Y <- 0, credits <- N_a, green
  *   else:                 SN_h <- SN, L_Y <- L_Y + 1;  L_Y > A_Y: red, A_Y <- increase(A_Y), L_Y <- 0
  *                                                      else green while credits last (one less), then yellow
  * }}}
  * WPM keeps only the credits and does not change A_Y and L_Y. APM keeps only A_Y and L_Y. It marks yellow what is green above, SYNs too.
  * NM marks all packets yellow and has no state. Arithmetic: [[FlowLoop]]. Cases that the paper does not define:
  *
  *   - Data: TCP with payload (HeaderParser), without SYN and RST, with or without FIN. Red comes before green and takes no credit. Nor do a SYN and a
  *     retransmission.
  *   - SYN (without RST; with or without ACK or payload, first or repeated): green. Its state is created, or created anew.
  *   - All other TCP packets, RST and FIN among them: yellow or, with the green rules and `ack`, green. They change no state. State ages.
  *   - Data without state: the flow is adopted. Its state is as at a SYN but SN_h = SN, and this packet counts: L_Y = 1, one credit.
  *   - SN - SN_h modulo 2^32: 1 to 2^30 - 1 is new; 0, and down to -2^30, is a loss. No TCP window can reach any other distance
  *     (RFC 7323 section 2.3): that is a jump, also at 2^31. State is created anew as at an adoption.
  *   - No room in the flow's set, or another flow has its tag ([[FlowTable]]): yellow, SYN or not. Not TCP, a later fragment, a cut TCP header: yellow.
  *
  * One packet per cycle, of any mixture of flows; the same flow in every cycle, too. `request` in cycle t, `answer` in t + [[FlowMarker.Latency]].
  * While `ready` is low (after a reset or a seed) packets are marked and counted as if the table were full.
  * {{{
  *   0..4  the table finds the entry         7  select the state: from the RAM or from one to four packets before; compare the sequence number
  *   5     address the RAM of states            with it; register both; compute the state of a new entry
  *   6     RAM to its output register        8  the loop, from that register back to it: next state, colour; the table reports a foreign entry
  *                                           9  answer, RAM written
  * }}}
  */
class FlowMarker(queueBits: Int, flows: Int = 4096, ultraRam: Boolean = true) extends FlowMarkerPorts(queueBits) {
  import FlowFormats._
  import FlowMarker.Latency

  // ---- Cycle 0: the packet's type. Registers of empty stages keep their values ------------------------------------
  private val valid = Seq.iterate(io.request.valid, Latency + 1)(RegNext(_, false.B))
  private val s0 = FlowPacket(io.request.bits)
  private val packet = valid.take(Latency - 1).scanLeft(s0)((p, v) => Delay.enabled(p, v))

  // ---- Cycles 0 to 5: the table ------------------------------------------------------------------------------------
  private val table = Module(new FlowTable(queueBits, flows, ultraRam))
  table.io.seed := io.seed
  table.io.lookup.valid := io.request.valid && s0.uses
  table.io.lookup.bits := FlowLookup(queueBits, io.request.bits)
  io.ready := table.io.ready

  private val s5Place = table.io.place
  private val s6Place = Delay(s5Place)
  private val s7Place = Delay(s6Place)
  private val s8Place = WireDefault(Delay(s7Place))
  when(table.io.foreign) {
    s8Place.bits.found := false.B
    s8Place.bits.collision := true.B
  }
  private def holds(p: Valid[FlowPlace]): Bool = p.valid && p.bits.found

  /** A state in RAM. */
  private class Stored extends Bundle {
    val state = new FlowState
    val full = Bool() // L_Y is saturated: stored, as no time is left to compute it after the RAM
  }
  private val states = new Memory(flows, new Stored, MemoryKind.large(flows, (new Stored).getWidth, ultraRam))

  /** A state with the precomputed values that the loop has no time for ([[FlowLoop]]). */
  private class Held extends Bundle {
    val state = new FlowState
    val against = new SeqClass // class of the packet's sequence number against `highestSeq`
    val burstPlus = UInt(BurstBits.W)
    val excess = UInt(FlowLoop.ExcessBits.W)
    val share = UInt(FlowLoop.ShareBits.W)
  }
  // of the packet one cycle before: the loop ends in the register in which it begins
  private val next = Wire(new Held)
  private val s9 = Delay.enabled(next, valid(8))
  private val s9Stored = Wire(new Stored)
  s9Stored.state := s9.state
  s9Stored.full := s9.state.burst.andR
  private val s9Writes = Delay(holds(s8Place))
  private val s9Index = Delay(s8Place.bits.index)
  private val s10Stored = Delay.enabled(s9Stored, valid(9))

  // ---- Cycles 6 and 7: the state, and that of a new entry ----------------------------------------------------------
  private val s7 = packet(7)
  private val s7Held = Wire(new Held)
  // States that the RAM does not return yet. That of two packets before is in stage 9; those of three and four before are captured one cycle earlier.
  private def writes8(index: UInt) = holds(s8Place) && s8Place.bits.index === index
  private val s6Is9 = Delay(writes8(s5Place.bits.index))
  private val s6Is10 = Delay(s9Writes && s9Index === s5Place.bits.index)
  private val s7Is9 = Delay(writes8(s6Place.bits.index))
  private val s7IsRecent = Delay(s6Is9 || s6Is10)
  private val s7Recent = Delay.enabled(Mux(s6Is9, s9Stored, s10Stored), valid(6))
  private val s7Read = Delay.enabled(states.read(s5Place.bits.index), valid(6))
  private val s7Stored = Mux(s7Is9, s9Stored, Mux(s7IsRecent, s7Recent, s7Read))
  s7Held.state := s7Stored.state
  s7Held.burstPlus := FlowLoop.plus(s7Held.state.burst)
  s7Held.excess := FlowLoop.excess(s7Held.state)
  private val s7Terms = Delay.enabled(FlowLoop.terms(packet(6).config), valid(6))
  s7Held.share := FlowLoop.share(s7Held.state.burst, !s7Stored.full, s7Terms)
  s7Held.against := FlowLoop.against(s7.seq, s7Held.state.highestSeq)
  private val again = writes8(s7Place.bits.index)
  // AND-OR gates. Synthesis would make a reset or another enable of a Mux, which adds delay after the signal that is known last.
  private val held = Delay.enabled(
    ((Fill(next.getWidth, again) & next.asUInt) | (Fill(next.getWidth, !again) & s7Held.asUInt)).asTypeOf(new Held),
    valid(7)
  )

  private val s7Begun = FlowBegun(s7, FlowLoop.increase(s7.config.a0, s7Terms))
  private val s8Begun = Delay.enabled(s7Begun, valid(7))
  private val s8BegunExcess = Delay.enabled(FlowLoop.excess(s7Begun.state), valid(7))

  // ---- Cycle 8: the loop -------------------------------------------------------------------------------------------
  private val s8 = packet(8)
  private val old = held.state
  private val terms = Delay.enabled(s7Terms, valid(7))
  private val red = Delay(s7.config.redRules)
  private val green = Delay(s7.config.greenRules)
  private val (jump, loss) = (held.against.jump, held.against.loss)
  private val doubled = FlowLoop.doubled(old.average)
  private val lower = FlowLoop.afterLoss(old, held.excess, terms)
  private val credit = green && old.credits =/= 0.U

  // Exactly one of begins, loses, probes and steps is set. Each is computed directly from these signals, not in a priority chain.
  private val continues = !s8Place.bits.fresh && !s8.syn
  private val isNew = !jump && !loss
  private val isOver = FlowLoop.over(held.burstPlus, held.share, old)
  private val begins = !continues || jump
  private val loses = continues && !jump && loss
  private val probes = continues && red && isNew && isOver
  private val steps = continues && isNew && !(red && isOver)

  private val begun = s8Begun.state
  private val sinks = loses && red
  private val rests = steps || (loses && !red) // A_Y stays; so does L_Y if the red rules are off
  private def gate(open: Bool, x: UInt): UInt = Fill(x.getWidth, open) & x
  private val risen =
    Mux(terms.byFactor, Mux(old.raised, FlowLoop.grown(old.average, terms), old.average), doubled)
  next.state.average := Mux(probes, risen, Mux(begins, begun.average, Mux(red && loss, lower, old.average)))
  next.state.raised := (begins && begun.raised) || (rests && old.raised) || (probes && terms.byFactor)
  next.state.burst := gate(begins, begun.burst) | gate(rests, Mux(red, held.burstPlus, old.burst))
  next.burstPlus := gate(begins, Mux(begun.burst(0), 2.U, 1.U(BurstBits.W))) |
    gate(rests, Mux(red, FlowLoop.plus(held.burstPlus), held.burstPlus)) | (sinks || probes).asUInt
  private val shareOfRest = FlowLoop.share(held.burstPlus, red && !held.burstPlus.andR, s7Terms)
  next.share := gate(begins, Mux(begun.burst(0), s7Terms.kept << 1, s7Terms.kept).pad(FlowLoop.ShareBits)) |
    gate(rests, shareOfRest) | gate(sinks || probes, s7Terms.kept.pad(FlowLoop.ShareBits))
  private val excessOfRest = Mux(red, FlowLoop.excessPlus(old, held.excess), held.excess)
  next.excess := gate(probes, FlowLoop.excessAtRest(doubled, terms.byFactor)) | gate(rests, excessOfRest) |
    gate(begins, s8BegunExcess) | gate(sinks, FlowLoop.excessAtRest(lower, false.B))
  next.state.highestSeq := gate(!loses, s8.seq) | gate(loses, old.highestSeq)
  // After a loss the next number is compared with the highest, else with this packet's number, which is known one cycle before.
  private val againstHighest = FlowLoop.against(s7.seq, old.highestSeq)
  private val againstLast = Delay(FlowLoop.against(packet(6).seq, s7.seq))
  next.against := Mux(loses, againstHighest, againstLast)
  next.state.credits := gate(begins, begun.credits) |
    gate(loses, Mux(green, s8.config.na, old.credits)) | gate(probes, old.credits) |
    gate(steps, Mux(credit, old.credits - 1.U, old.credits))
  private val isRed = probes || (begins && s8Begun.probe)
  private val isGreen = (begins && s8Begun.green) || (loses && green) || (steps && credit)
  private val colour = Mux(isRed, Colour.Red.U(2.W), Mux(isGreen, Colour.Green.U, Colour.Yellow.U))

  // ---- Cycle 9: write and answer -----------------------------------------------------------------------------------
  states.write(s9Writes, s9Index, s9Stored)
  private val has = holds(s8Place)
  private val answer = Wire(new FlowAnswer)
  answer.colour := Mux(has, colour, Mux(s8.bare, Colour.Green.U, Colour.Yellow.U))
  answer.hasState := has
  answer.state := Mux(has, next.state, 0.U.asTypeOf(new FlowState))
  answer.events := FlowEvents(valid(8), s8, s8Place, jump, loss, colour)
  io.answer.valid := valid(Latency)
  io.answer.bits := Delay.enabled(answer, valid(8))
}
