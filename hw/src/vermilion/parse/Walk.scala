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

/** The bytes that could be an extension header's first, at one place behind an IPv6 header. */
class ExtensionBytes extends Bundle {
  val following = UInt(8.W)
  val length = UInt(8.W)
  val later = Bool() // fragment offset other than 0

  /** What they say if a header of any kind begins at this place; `room`: units of 8 bytes that are there. */
  def at(place: Int, room: UInt): Extension = {
    val out = Wire(new Extension)
    val eights = length(3, 0) +& (place + 1).U
    val words =
      length(4, 1) +& (place + 1).U // of AH: 4 bytes each, 2 more than the length field says, which must be even
    out.following := NextHeader.ip6(following)
    out.eightsEnd := eights(3, 0)
    out.eightsFits := length(7, 4) === 0.U && eights <= room
    out.authenticationEnd := words(3, 0)
    out.authenticationFits := length(7, 5) === 0.U && !length(0) && words <= room
    out.fragmentFits := (place + 1).U <= room
    out.later := later
    out
  }
}

/** An extension header at one place, of whatever kind it turns out to be: where it would end, and whether it lies wholly in the window. */
class Extension extends Bundle {
  val following = UInt(NextHeader.Bits.W)
  val eightsEnd = UInt(4.W)
  val eightsFits = Bool()
  val authenticationEnd = UInt(4.W)
  val authenticationFits = Bool()
  val fragmentFits = Bool()
  val later = Bool()
}

object Extension {

  /** Places at which one can begin: 74 bytes are behind an IPv6 header without tags, each has at least 8. */
  val Places = 9

  /** Behind the last: nothing fits. */
  def none: Extension = 0.U.asTypeOf(new Extension)
}

/** State of the walk over IPv6 extension headers (RFC 8200 section 4).
  *
  * All of them are multiples of 8 bytes, AH too (RFC 4302 section 3.3.3.2.1), so there are nine places at which one can begin. What each
  * would say is known before the walk ([[Extension]]); a step selects one of nine and decides. About 1 ns.
  */
class Walk extends Bundle {
  val place = UInt(4.W) // of the next header, in units of 8 bytes behind the fixed header
  val kind = UInt(NextHeader.Bits.W) // what it is; Other: nothing known, or payload of a later fragment
  val last = UInt(4.W) // place of the header that named it, if place is not 0

  /** One header further, or this one unchanged when it is no extension header or does not lie wholly in the window. */
  def step(all: Seq[Extension], first: Boolean): Walk = {
    val e = if (first) all.head else VecInit(all.padTo(16, Extension.none))(place)
    val here = if (first) 0.U else place
    val isFragment = kind === NextHeader.Fragment.U
    val isAh = kind === NextHeader.Authentication.U
    val passes =
      (kind === NextHeader.Eights.U && e.eightsFits) || (isAh && e.authenticationFits) || (isFragment && e.fragmentFits)
    val next = Wire(new Walk)
    next.place := place
    next.kind := kind
    next.last := last
    when(passes) {
      next.place := Mux(isFragment, here + 1.U, Mux(isAh, e.authenticationEnd, e.eightsEnd))
      next.kind := Mux(isFragment && e.later, NextHeader.Other.U, e.following)
      next.last := here
    }
    next
  }
}
