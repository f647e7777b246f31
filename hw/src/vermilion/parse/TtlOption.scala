package vermilion.parse

import chisel3._

/** The types of the TTL option (docs/ttl-option.md). 0 and 1 are padding in both versions: with these no packet has the option. */
class TtlOptionTypes extends Bundle {
  val ip4 = UInt(8.W)
  val ip6 = UInt(8.W)
}

object TtlOption {

  /** Type, length, initial TTL, final TTL. */
  val Bytes = 4

  /** Bytes of options that are searched: after the fixed IPv4 header, or after the first two bytes of the hop-by-hop header. */
  val SearchBytes = 12

  /** The first of these bytes, counted from the IP header. */
  val Ip4Start = 20
  val Ip6Start = 42

  /** Number of places (bytes) at which the option can begin so that it lies within them. */
  val Places: Int = SearchBytes - Bytes + 1
}

/** Decodes the option that may begin at one place (RFC 791 section 3.1, RFC 8200 section 4.2).
  *
  *   - Padding of one byte (IPv4 type 1, IPv6 type 0) is passed. Other options are passed by their length.
  *   - IPv4 type 0 ends the walk, and so does an IPv4 length below 2.
  *   - An option of the wanted type also ends the walk: `matches` if it has the right length.
  */
class OptionPlace extends Bundle {
  val single = Bool() // padding of one byte
  val passed = Bool() // an option that is passed by its length
  val lengths = UInt((TtlOption.Places - 1).W) // bit i: the length, if it is an option, is i + 1
  val matches = Bool()

  /** Tells whether the next option begins i + 1 places later. If this holds for no i, it begins at no place. */
  def goes(i: Int): Bool = if (i == 0) single else passed && lengths(i)
}

object OptionPlace {
  def apply(isIp6: Bool, wanted: UInt, kind: UInt, field: UInt): OptionPlace = {
    val single = kind === Mux(isIp6, 0.U, 1.U)
    val found = kind === wanted && kind(7, 1) =/= 0.U
    val size = field(3, 0) +& Mux(isIp6, 2.U, 0.U)
    val out = Wire(new OptionPlace)
    out.single := single
    out.passed := !found && !single && field(7, 4) === 0.U && (isIp6 || kind =/= 0.U)
    out.matches := found && field === Mux(isIp6, (TtlOption.Bytes - 2).U, TtlOption.Bytes.U)
    out.lengths := VecInit.tabulate(TtlOption.Places - 1)(i => size === (i + 1).U).asUInt
    out
  }
}

/** Searches IPv4 options or hop-by-hop options for the TTL option.
  *
  * The walk follows no pointer through the bytes. For every place it computes whether an option begins there, from the options at the places before.
  * So it takes one cycle whatever the options are, and no address selects a byte.
  *
  * The first option of the wanted type ends the walk. It counts if it lies wholly within the first `end` bytes.
  */
object TtlOptionWalk {

  /** Bit p: the TTL option begins at place p. At most one bit is set. */
  def apply(places: Seq[OptionPlace], end: UInt): UInt = {
    val begins = places.indices.foldLeft(Seq[Bool]()) { (before, place) =>
      before :+ (if (place == 0) true.B
                 else before.indices.map(p => before(p) && places(p).goes(place - p - 1)).reduce(_ || _))
    }
    VecInit(places.indices.map(p => begins(p) && places(p).matches && (p + TtlOption.Bytes).U <= end)).asUInt
  }
}
