package vermilion.mark

import chisel3._
import vermilion.control.{MarkConfig, TokenKind}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** The inputs of a marker for one packet. */
class MarkRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W) // of the frame
  val l3Offset = UInt(6.W) // start and length of its IP packet in the frame (Headers)
  val ipBytes = UInt(PktLenBits.W)
  val time = UInt(TimeBits.W)
  val draw = UInt(32.W) // upper half: demotion or promotion, lower half: REDP's dropper
}

/** The result of a marker for one packet. */
class Marked extends Bundle {
  val colour = UInt(2.W)
  val policed = Bool() // the packet is dropped
  val level = UInt((TimeBits + ShaperFrac).W) // of bucket A before, U48.16 ns of its rate; 0 without a bucket
}

/** Holds what the queue's marker allows for a packet, by the packet's colour and draw, whatever the buckets hold.
  *
  * Together with the levels of the buckets it gives the [[MarkOutcome]].
  */
class MarkRights extends Bundle {
  val has = Bool() // the queue has a token bucket marker
  val srTcm = Bool()
  val trTcm = Bool()
  val redp = Bool() // REDP, and the packet is green or yellow
  val mayTakeA = Bool() // if the level of A covers the packet
  val srNotRed = Bool()
  val trGreen = Bool()
  val mayDrop = Bool() // by REDP's dropper
  val otherwise = UInt(2.W) // the colour of leaf and REDP if not green
}

object MarkRights {

  /** Tells whether `code` is the code of this kind, in a build that has the kind. */
  def is(p: LaneParams, kind: TokenKind, code: UInt): Bool = p.tokenKinds(kind).B && code === kind.code.U

  def apply(p: LaneParams, config: MarkConfig, colour: UInt, draw: UInt): MarkRights = {
    val Seq(leaf, srTcm, trTcm, redp) =
      Seq(TokenKind.Leaf, TokenKind.Srtcm, TokenKind.Trtcm, TokenKind.Redp).map(is(p, _, config.kind))
    val worst = Mux(config.colourAware, colour, Colour.Green.U(2.W))
    val redpMarks = redp && (colour === Colour.Green.U || colour === Colour.Yellow.U)
    val unlucky = draw(MarkDrawBits - 1, 0) < config.pDrop
    val leafOut = Mux(config.out === 3.U, Colour.Red.U(2.W), config.out)
    val redpOut = Mux(redpMarks, Colour.Yellow.U(2.W), Colour.Red.U(2.W))
    val rights = Wire(new MarkRights)
    rights.has := leaf || srTcm || trTcm || redp
    rights.srTcm := srTcm
    rights.trTcm := trTcm
    rights.redp := redpMarks
    rights.mayTakeA := leaf || (srTcm && worst === Colour.Green.U) || (trTcm && worst =/= Colour.Red.U)
    rights.srNotRed := srTcm && worst =/= Colour.Red.U
    rights.trGreen := trTcm && worst =/= Colour.Red.U && worst =/= Colour.Yellow.U
    rights.mayDrop := redp && colour === Colour.Green.U && unlucky
    rights.otherwise := Mux(leaf, leafOut, redpOut)
    rights
  }
}

/** The result of the token buckets for a packet. */
class MarkOutcome extends Bundle {
  val takesA = Bool()
  val takesB = Bool()
  val dropped = Bool() // by REDP's dropper
  val colour = UInt(2.W)
}

object MarkOutcome {

  /** @param covered    A's level covers the packet; B's level covers it
    * @param excess     srTCM: the excess, level B less level A, covers the packet
    * @param past       REDP: over its threshold: a green packet is demoted, a yellow one is not promoted
    * @param isLow      REDP: level A is below T_L
    * @param yellowSeen REDP: the meter keeps the dropper off
    */
  def apply(
      rights: MarkRights,
      covered: Seq[Bool],
      excess: Bool,
      past: Bool,
      isLow: Bool,
      yellowSeen: Bool
  ): MarkOutcome = {
    // REDP demotes a green packet past its threshold, and promotes a yellow one that is not past its own. A packet leaves green if covered and not past.
    val dropped = rights.mayDrop && isLow && !yellowSeen
    // A is charged for each packet that the marker lets through A: green ones, and with trTCM also yellow ones (within the peak rate).
    val takesA = covered(0) && (rights.mayTakeA || (rights.redp && !past && !dropped))
    val takesB = (rights.srTcm && takesA) || (rights.srNotRed && excess) || (rights.trGreen && covered(0) && covered(1))
    apply(rights, takesA, takesB, dropped)
  }

  /** The same, from the packets that the buckets are charged for. */
  def apply(rights: MarkRights, takesA: Bool, takesB: Bool, dropped: Bool): MarkOutcome = {
    val outcome = Wire(new MarkOutcome)
    outcome.dropped := dropped
    outcome.takesA := takesA
    outcome.takesB := takesB
    val isGreen = Mux(rights.trTcm, outcome.takesB, outcome.takesA || outcome.dropped)
    val isYellow = Mux(rights.trTcm, outcome.takesA, outcome.takesB) // if not green; for srTCM and trTCM
    val notGreen =
      Mux(
        rights.srTcm || rights.trTcm,
        Mux(isYellow, Colour.Yellow.U(2.W), Colour.Red.U(2.W)),
        rights.otherwise
      )
    outcome.colour := Mux(isGreen, Colour.Green.U(2.W), notGreen)
    outcome
  }
}
