package vermilion.parse

import chisel3._
import chisel3.util._

/** What the number in a next-header field stands for, one hot. Nothing of it: anything else, or payload of a later fragment. */
class NextHeader extends Bundle {
  val forms = UInt(NextHeader.Forms.W) // of an extension header
  val tcp, udp = Bool()
  def isTransport: Bool = tcp || udp
}

object NextHeader {

  /** Forms of extension headers: the bits of `forms`. */
  val Eights = 0 // hop-by-hop, routing, destination options: length in units of 8 bytes
  val Fragment = 1
  val Authentication = 2
  val Forms = 3

  def none: NextHeader = 0.U.asTypeOf(new NextHeader)
  def ip4(number: UInt): NextHeader = {
    val out = WireDefault(none)
    out.tcp := number === 6.U
    out.udp := number === 17.U
    out
  }
  def ip6(number: UInt): NextHeader = {
    val out = WireDefault(ip4(number))
    def is(numbers: Int*) = numbers.map(number === _.U).reduce(_ || _)
    out.forms := Cat(is(51), is(44), is(0, 43, 60))
    out
  }
}

/** What the bytes at one place behind an IPv6 header say if an extension header of any form begins there. Places are units of 8 bytes. */
class ExtensionBytes extends Bundle {
  val following = new NextHeader
  val eightsEnd, authenticationEnd = UInt(4.W) // where it would end
  val eightsMay, authenticationMay = Bool() // it would end within 16 places, and is well formed
  val single = Bool() // of one unit
  val later = Bool() // fragment offset other than 0

  /** The same with `room` units of 8 bytes that are there, where place 0 has the number `first`. */
  def within(place: Int, room: UInt, first: UInt): Extension = {
    val out = Wire(new Extension)
    val may = Seq(eightsMay, true.B, authenticationMay)
    val ends = Seq(eightsEnd, (place + 1).U(4.W), authenticationEnd)
    out.following := following
    out.later := later
    out.fits := VecInit(may.zip(ends).map { case (may, end) => may && end <= room }).asUInt
    for ((end, form) <- ends.zipWithIndex) {
      out.behind(form) := UIntToOH(end)(Extension.Places, 0)
      out.number(form) := end + first
    }
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

/** An extension header at one place, of whatever form it turns out to be. */
class Extension extends Bundle {
  val following = new NextHeader
  val later = Bool() // of a fragment header: nothing is known of what follows
  val fits = UInt(NextHeader.Forms.W) // it lies wholly in the window
  val behind = Vec(NextHeader.Forms, UInt((Extension.Places + 1).W)) // the place behind it, one hot
  val number = Vec(NextHeader.Forms, UInt(4.W)) // the same place by its number

  def named(form: Int): UInt = {
    val asFragment = Mux(later, NextHeader.none, following)
    (if (form == NextHeader.Fragment) asFragment else following).asUInt
  }
}

object Extension {

  /** Places at which one can begin: 74 bytes are behind an IPv6 header without tags, each has at least 8. */
  val Places = 9
}

/** State of the walk over IPv6 extension headers (RFC 8200 section 4).
  *
  * All of them are multiples of 8 bytes, AH too (RFC 4302 section 3.3.3.2.1), so there are nine places at which one can begin. What each
  * would say is known before the walk ([[Extension]]). The state is one hot in places and forms together and names only headers that lie wholly in the
  * window, so a step is sums of products and nothing else: where the header leads, what it names, and both with what fits there. Three levels of logic.
  */
class Walk extends Bundle {
  val at =
    Vec(NextHeader.Forms, UInt(Extension.Places.W)) // the header that the next step passes; none if the walk has ended
  val transport = UInt((Extension.Places + 1).W) // of a TCP or UDP header, where the walk has found one
  val tcp, udp = Bool()
  val last = UInt(Extension.Places.W) // the last header that was passed; none if none was

  /** One header further, if one is there. */
  def step(all: Seq[Extension]): Walk = {
    val next = Wire(new Walk)
    val named = namedBy(all)
    val arrives = (0 to Extension.Places).map { to =>
      headers(all)
        .collect { case (here, from, form, each) if from < to => here && each.behind(form)(to) }
        .foldLeft(false.B)(_ || _)
    }
    for (form <- at.indices)
      next.at(form) := VecInit(all.zip(arrives).map { case (each, come) =>
        come && named.forms(form) && each.fits(form)
      }).asUInt
    next.transport := transport | Mux(named.isTransport, VecInit(arrives).asUInt, 0.U)
    next.tcp := tcp || named.tcp
    next.udp := udp || named.udp
    next.last := Mux(passes, passed, last)
    next
  }

  /** A last step. `numbers`: those of all places. */
  def end(all: Seq[Extension], numbers: Seq[UInt]): WalkEnd = {
    val out = Wire(new WalkEnd)
    val named = namedBy(all)
    // Before this step or with it, and only where there is one: so two sums are one.
    out.transport := Mux1H(transport, numbers) | Mux1H(headers(all).map { case (here, _, form, each) =>
      here -> each.number(form)
    })
    out.tcp := tcp || named.tcp
    out.udp := udp || named.udp
    out.last := Mux(passes, Mux1H(passed, numbers.init), Mux1H(last, numbers.init))
    out
  }

  private def headers(all: Seq[Extension]): Seq[(Bool, Int, Int, Extension)] =
    for ((each, place) <- all.zipWithIndex; form <- at.indices) yield (at(form)(place), place, form, each)
  private def namedBy(all: Seq[Extension]): NextHeader =
    Mux1H(headers(all).map { case (here, _, form, each) => here -> each.named(form) }).asTypeOf(new NextHeader)
  private def passed: UInt = at.reduce(_ | _)
  private def passes: Bool = at.asUInt.orR
}

/** Where a walk has ended: numbers of places. `transport` counts with `tcp` or `udp` alone, `last` where a header was passed. */
class WalkEnd extends Bundle {
  val transport, last = UInt(4.W)
  val tcp, udp = Bool()
}

object Walk {

  /** At the header behind the fixed one, which the fixed one calls `kind`. */
  def start(kind: NextHeader, first: Extension): Walk = {
    val out = WireDefault(0.U.asTypeOf(new Walk))
    for (form <- out.at.indices) out.at(form) := kind.forms(form) && first.fits(form)
    out.transport := kind.isTransport
    out.tcp := kind.tcp
    out.udp := kind.udp
    out
  }
}
