// Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit.
package vermilion.control

/** Codes of the markers, field `kind` of the register `shadow.marker.flags`. All markers by flow have one. */
object MarkerKind {
  val None = 0
  val Leaf = 1
  val Srtcm = 2
  val Trtcm = 3
  val Redp = 4
  val Flow = 5
  val Bits = 3
}

/** A token bucket marker that a build has or leaves out, by its code in a queue's configuration. */
sealed abstract class TokenKind(val code: Int)

object TokenKind {
  case object Leaf extends TokenKind(MarkerKind.Leaf)
  case object Srtcm extends TokenKind(MarkerKind.Srtcm)
  case object Trtcm extends TokenKind(MarkerKind.Trtcm)
  case object Redp extends TokenKind(MarkerKind.Redp)
  val all: Set[TokenKind] = Set(Leaf, Srtcm, Trtcm, Redp)
}
