package vermilion.parse

import chisel3._
import chisel3.util._

/** What the number in a next-header field stands for. */
object NextHeader {
  val Other = 0
  val Eights = 1 // hop-by-hop, routing, destination options: length in units of 8 bytes
  val Fragment = 2
  val Authentication = 3
  val Tcp = 4
  val Udp = 5
  val Bits = 3

  private val kinds =
    Seq(0 -> Eights, 43 -> Eights, 60 -> Eights, 44 -> Fragment, 51 -> Authentication, 6 -> Tcp, 17 -> Udp)
  def ip6(number: UInt): UInt = Mux1H(kinds.map { case (n, kind) => (number === n.U) -> kind.U(Bits.W) })
  def ip4(number: UInt): UInt = Mux1H(kinds.drop(5).map { case (n, kind) => (number === n.U) -> kind.U(Bits.W) })
}

/** What the bytes at one place behind an IPv6 header say if an extension header of any kind begins there. Places are units of 8 bytes. */
class ExtensionBytes extends Bundle {
  val following = UInt(NextHeader.Bits.W)
  val eightsEnd, authenticationEnd = UInt(4.W) // where it would end
  val eightsMay, authenticationMay = Bool() // it would end within 16 places, and is well formed
  val single = Bool() // of one unit
  val later = Bool() // fragment offset other than 0

  /** The same with `room` units of 8 bytes that are there. */
  def within(place: Int, room: UInt): Extension = {
    val out = Wire(new Extension)
    out.following := following
    out.eightsEnd := eightsEnd
    out.authenticationEnd := authenticationEnd
    out.fragmentEnd := (place + 1).U
    out.eights := UIntToOH(eightsEnd)(Extension.Places, 0)
    out.authentication := UIntToOH(authenticationEnd)(Extension.Places, 0)
    out.fragment := (BigInt(1) << (place + 1)).U
    out.eightsFits := eightsMay && eightsEnd <= room
    out.authenticationFits := authenticationMay && authenticationEnd <= room
    out.fragmentFits := (place + 1).U <= room
    out.later := later
    out
  }
}

object ExtensionBytes {
  def apply(place: Int, following: UInt, length: UInt, offset: UInt): ExtensionBytes = {
    val out = Wire(new ExtensionBytes)
    val eights = length(3, 0) +& (place + 1).U
    val words = length(4, 1) +& (place + 1).U // of AH: 4 bytes each, 2 more than the field says, which must be even
    out.following := NextHeader.ip6(following)
    out.eightsEnd := eights(3, 0)
    out.eightsMay := length(7, 4) === 0.U && !eights(4)
    out.authenticationEnd := words(3, 0)
    out.authenticationMay := length(7, 5) === 0.U && !length(0) && !words(4)
    out.single := length === 0.U
    out.later := offset(15, 3) =/= 0.U
    out
  }
}

/** An extension header at one place, of whatever kind it turns out to be: the place behind it, as a number and one hot, and whether it lies
  * wholly in the window.
  */
class Extension extends Bundle {
  val following = UInt(NextHeader.Bits.W)
  val eights, authentication, fragment = UInt((Extension.Places + 1).W)
  val eightsEnd, authenticationEnd, fragmentEnd = UInt(4.W)
  val eightsFits, authenticationFits, fragmentFits = Bool()
  val later = Bool()
}

object Extension {

  /** Places at which one can begin: 74 bytes are behind an IPv6 header without tags, each has at least 8. */
  val Places = 9
}

/** State of the walk over IPv6 extension headers (RFC 8200 section 4).
  *
  * All of them are multiples of 8 bytes, AH too (RFC 4302 section 3.3.3.2.1), so there are nine places at which one can begin. What each
  * would say is known before the walk ([[Extension]]); a step selects one of nine and decides. Places are one hot, and whether a header fits is
  * selected apart from where it ends, so a step is four levels of logic.
  */
class Walk extends Bundle {
  val place = UInt((Extension.Places + 1).W) // of the next header, in units of 8 bytes behind the fixed header, one hot
  val kind = UInt(NextHeader.Bits.W) // what it is; Other: nothing known, or payload of a later fragment
  val last = UInt((Extension.Places + 1).W) // place of the header that named it, if place is not 0

  /** One header further, or this one unchanged when it is no extension header or does not lie wholly in the window. */
  def step(all: Seq[Extension], first: Boolean): Walk = {
    val taken = new WalkStep(this, if (first) Seq(all.head) else all)
    val next = Wire(new Walk)
    next.place := Mux(taken.passes, taken.target(_.eights, _.authentication, _.fragment), place)
    next.kind := taken.kind
    next.last := Mux(taken.passes, place, last)
    next
  }

  /** The same, with places as numbers. */
  def lastStep(all: Seq[Extension]): WalkEnd = {
    val taken = new WalkStep(this, all)
    val out = Wire(new WalkEnd)
    out.place := Mux(taken.passes, taken.target(_.eightsEnd, _.authenticationEnd, _.fragmentEnd), OHToUInt(place))
    out.kind := taken.kind
    out.last := OHToUInt(Mux(taken.passes, place, last))
    out
  }
}

/** What the header at a walk's place says; `all`: of every place, or of the only one at which it can be. */
class WalkStep(walk: Walk, all: Seq[Extension]) {
  private def of(field: Extension => UInt): UInt =
    if (all.size == 1) field(all.head) else Mux1H(walk.place(all.size - 1, 0), all.map(field))
  private val isEights = walk.kind === NextHeader.Eights.U
  private val isFragment = walk.kind === NextHeader.Fragment.U
  private val isAh = walk.kind === NextHeader.Authentication.U
  val passes: Bool = (isEights && of(_.eightsFits).asBool) || (isAh && of(_.authenticationFits).asBool) ||
    (isFragment && of(_.fragmentFits).asBool)
  val kind: UInt =
    Mux(passes, Mux(isFragment && of(_.later).asBool, NextHeader.Other.U, of(_.following)), walk.kind)

  def target(eights: Extension => UInt, authentication: Extension => UInt, fragment: Extension => UInt): UInt = {
    def only(condition: Bool, field: Extension => UInt) = Mux(condition, of(field), 0.U)
    only(isEights, eights) | only(isAh, authentication) | only(isFragment, fragment)
  }
}

/** Where a walk has ended. */
class WalkEnd extends Bundle {
  val place, last = UInt(4.W)
  val kind = UInt(NextHeader.Bits.W)
}

object Walk {

  /** At the header behind the fixed one. */
  def start(kind: UInt): Walk = {
    val out = Wire(new Walk)
    out.place := 1.U
    out.kind := kind
    out.last := 1.U
    out
  }
}
