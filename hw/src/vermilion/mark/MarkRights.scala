package vermilion.mark

import chisel3._
import vermilion.control.{MarkConfig, TokenKind}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** A packet that wants its colour. */
class MarkRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W) // of the frame
  val l3Offset = UInt(6.W) // and where its IP packet begins and how long that is (Headers)
  val ipBytes = UInt(PktLenBits.W)
  val time = UInt(TimeBits.W)
  val draw = UInt(32.W) // upper half: demotion or promotion, lower half: REDP's dropper
}

/** A packet's colour out of a marker, and what it saw. */
class Marked extends Bundle {
  val colour = UInt(2.W)
  val policed = Bool() // to be dropped
  val level = UInt((TimeBits + ShaperFrac).W) // of bucket A before, U48.16 ns of its rate; 0 without a bucket
}

/** What a packet may do by its queue's marker, its colour and its draw, whatever the buckets hold; with what they hold it makes a
  * [[MarkOutcome]].
  */
class MarkRights extends Bundle {
  val has = Bool() // its queue has a token bucket marker
  val srTcm = Bool()
  val trTcm = Bool()
  val redp = Bool() // of REDP, and neither red nor of no colour
  val mayTakeA = Bool() // if A covers it
  val srNotRed = Bool()
  val trGreen = Bool()
  val mayDrop = Bool() // by REDP's dropper
  val otherwise = UInt(2.W) // the colour of leaf and REDP where not green
}

object MarkRights {

  /** Is it the code of this kind, in a build that has the kind? */
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

/** What becomes of a packet that has a bucket. */
class MarkOutcome extends Bundle {
  val takesA = Bool()
  val takesB = Bool()
  val dropped = Bool() // by REDP's dropper
  val colour = UInt(2.W)
}

object MarkOutcome {

  /** @param covered    do the levels of A and B pay for the packet?
    * @param excess     does srTCM's excess, level B less level A, pay for it?
    * @param past       REDP: over the edge, a green packet that is to be demoted or a yellow one that is not to be promoted
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
    // A green packet over its edge is demoted, a yellow one behind its own promoted: whatever is not past, and covered, leaves green.
    val dropped = rights.mayDrop && isLow && !yellowSeen
    // A takes whatever its kind lets through it: green, and behind trTCM's peak yellow too.
    val takesA = covered(0) && (rights.mayTakeA || (rights.redp && !past && !dropped))
    val takesB = (rights.srTcm && takesA) || (rights.srNotRed && excess) || (rights.trGreen && covered(0) && covered(1))
    apply(rights, takesA, takesB, dropped)
  }

  /** The same of what the buckets give. */
  def apply(rights: MarkRights, takesA: Bool, takesB: Bool, dropped: Bool): MarkOutcome = {
    val outcome = Wire(new MarkOutcome)
    outcome.dropped := dropped
    outcome.takesA := takesA
    outcome.takesB := takesB
    val isGreen = Mux(rights.trTcm, outcome.takesB, outcome.takesA || outcome.dropped)
    val isYellow = Mux(rights.trTcm, outcome.takesA, outcome.takesB) // where not green; of srTCM and trTCM
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
