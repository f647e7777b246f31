package vermilion.mark

import vermilion.control.MarkerKind

/** A token bucket marker that a build has or leaves out, by its code in a queue's configuration. */
sealed abstract class TokenKind(val code: Int)

object TokenKind {
  case object Leaf extends TokenKind(MarkerKind.Leaf)
  case object SrTcm extends TokenKind(MarkerKind.SrTcm)
  case object TrTcm extends TokenKind(MarkerKind.TrTcm)
  case object Redp extends TokenKind(MarkerKind.Redp)
  val all: Set[TokenKind] = Set(Leaf, SrTcm, TrTcm, Redp)
}
