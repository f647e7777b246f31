"""Scala from the description of a profile: the kinds of markers with their codes."""

from .records import HEAD, Profile, Word

TEXT = """// {head}
package vermilion.control

/** Codes of the markers, field `kind` of the register `shadow.marker.flags`. All markers by flow have one. */
object MarkerKind {{
{codes}
  val Bits = {bits}
}}

/** A token bucket marker that a build has or leaves out, by its code in a queue's configuration. */
sealed abstract class TokenKind(val code: Int)

object TokenKind {{
{objects}
  val all: Set[TokenKind] = Set({names})
}}
"""


def name(kind: str) -> str:
    return kind.replace("-", "").capitalize()


def kinds(profile: Profile) -> str:
    tokens = {name(m.kind): m.code for m in profile.markers.values() if m.buckets}
    codes = {"None": 0} | tokens | {"Flow": profile.flow_code}
    flags = next(w for w in profile.image["marker"] if isinstance(w, Word) and w.name == "flags")
    bits = next(part.high - part.low + 1 for part in flags.bits if part.name == "kind")
    return TEXT.format(
        head=HEAD,
        codes="\n".join(f"  val {kind} = {code}" for kind, code in codes.items()),
        bits=bits,
        objects="\n".join(f"  case object {kind} extends TokenKind(MarkerKind.{kind})" for kind in tokens),
        names=", ".join(tokens),
    )
