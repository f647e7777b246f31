package vermilion.parse

import chisel3._
import chisel3.util._

/** The meaning of a next-header field's number, one hot. All bits are 0 for any other number, and for the payload of a later fragment. */
class NextHeader extends Bundle {
  val forms = UInt(NextHeader.Forms.W) // of an extension header
  val tcp, udp = Bool()
  def isTransport: Bool = tcp || udp
}

object NextHeader {

  /** Forms of extension headers, as bits of `forms`. */
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

/** Decodes the bytes at one place after an IPv6 header, for each form of extension header that may begin there. Places are units of 8 bytes. */
class ExtensionBytes extends Bundle {
  val following = new NextHeader
  val eightsEnd, authenticationEnd = UInt(4.W) // the place after it
  val eightsMay, authenticationMay = Bool() // it is well formed and ends within 16 places
  val single = Bool() // of one unit
  val later = Bool() // fragment offset other than 0

  /** The extension header within the `room` units of 8 bytes that are present. Place 0 has the number `first`. */
  def within(place: Int, room: UInt, first: UInt): Extension = {
    val out = Wire(new Extension)
    val may = Seq(eightsMay, true.B, authenticationMay)
    val ends = Seq(eightsEnd, (place + 1).U(4.W), authenticationEnd)
    out.following := following
    out.later := later
    out.fits := VecInit(may.zip(ends).map { case (may, end) => may && end <= room }).asUInt
    for ((end, form) <- ends.zipWithIndex) {
      out.after(form) := UIntToOH(end)(Extension.Places, 0)
      out.number(form) := end + first
    }
    out
  }
}

object ExtensionBytes {
  def apply(place: Int, following: UInt, length: UInt, offset: UInt): ExtensionBytes = {
    val out = Wire(new ExtensionBytes)
    val eights = length(3, 0) +& (place + 1).U
    val words = length(4, 1) +& (place + 1).U // AH has 4 (field + 2) bytes; the field must be even
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

/** An extension header at one place, for each form that it may have. */
class Extension extends Bundle {
  val following = new NextHeader
  val later = Bool() // of a fragment header: what follows is not known
  val fits = UInt(NextHeader.Forms.W) // it lies wholly within the window
  val after = Vec(NextHeader.Forms, UInt((Extension.Places + 1).W)) // the place after it, one hot
  val number = Vec(NextHeader.Forms, UInt(4.W)) // the same place as a number

  def named(form: Int): UInt = {
    val asFragment = Mux(later, NextHeader.none, following)
    (if (form == NextHeader.Fragment) asFragment else following).asUInt
  }
}

object Extension {

  /** Number of places at which one can begin: 74 bytes follow an IPv6 header without tags, and each has at least 8. */
  val Places = 9
}

/** Holds the state of the walk over IPv6 extension headers (RFC 8200 section 4).
  *
  * All of them are multiples of 8 bytes, AH too (RFC 4302 section 3.3.3.2.1), so there are nine places at which one can begin. Each place is decoded before
  * the walk ([[Extension]]). The state is one hot over places and forms together, and names only headers that lie wholly in the window.
  * So a step is only sums of products: the place after the header, the next header's type, and both with what fits there. Three levels of logic.
  */
class Walk extends Bundle {
  // The header that the next step passes; none if the walk has ended.
  val at =
    Vec(NextHeader.Forms, UInt(Extension.Places.W))
  val transport = UInt((Extension.Places + 1).W) // place of a TCP or UDP header, if the walk has found one
  val tcp, udp = Bool()
  val last = UInt(Extension.Places.W) // the last header that was passed; none if none was

  /** Advances by one header, if there is one. */
  def step(all: Seq[Extension]): Walk = {
    val next = Wire(new Walk)
    val named = namedBy(all)
    val arrives = (0 to Extension.Places).map { to =>
      headers(all)
        .collect { case (here, from, form, each) if from < to => here && each.after(form)(to) }
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

  /** The last step. `numbers` are those of all places. */
  def end(all: Seq[Extension], numbers: Seq[UInt]): WalkEnd = {
    val out = Wire(new WalkEnd)
    val named = namedBy(all)
    // The transport header is found before this step or in it, never in both. So one OR joins the two selections.
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

/** The end of a walk, as numbers of places. `transport` is valid with `tcp` or `udp`, `last` if a header was passed. */
class WalkEnd extends Bundle {
  val transport, last = UInt(4.W)
  val tcp, udp = Bool()
}

object Walk {

  /** Starts at the header after the fixed one. `kind` is the fixed header's next-header field. */
  def start(kind: NextHeader, first: Extension): Walk = {
    val out = WireDefault(0.U.asTypeOf(new Walk))
    for (form <- out.at.indices) out.at(form) := kind.forms(form) && first.fits(form)
    out.transport := kind.isTransport
    out.tcp := kind.tcp
    out.udp := kind.udp
    out
  }
}
