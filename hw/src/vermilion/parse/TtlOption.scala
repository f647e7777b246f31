package vermilion.parse

import chisel3._

/** Types under which the TTL option is known (docs/ttl-option.md). 0 and 1 are padding in both versions: then there is none. */
class TtlOptionTypes extends Bundle {
  val ip4 = UInt(8.W)
  val ip6 = UInt(8.W)
}

object TtlOption {

  /** Type, length, initial TTL, final TTL. */
  val Bytes = 4

  /** Bytes of options that are looked at: behind the fixed IPv4 header, or the first two bytes of the hop-by-hop header. */
  val SearchBytes = 12

  /** Where those begin, counted from the IP header. */
  val Ip4Start = 20
  val Ip6Start = 42

  /** First bytes that the option can have within them. */
  val Places: Int = SearchBytes - Bytes + 1
}

/** What one place of the options says if an option begins there (RFC 791 section 3.1, RFC 8200 section 4.2).
  *
  *   - Padding of one byte (IPv4 type 1, IPv6 type 0) is passed, and so is every other option by its length.
  *   - IPv4 type 0 ends the walk, and so does an IPv4 length below 2.
  *   - An option of the wanted type ends it, too: `matches` if it has the right length.
  */
class OptionPlace extends Bundle {
  val single = Bool() // padding of one byte
  val passed = Bool() // an option that is passed by its length
  val lengths = UInt((TtlOption.Places - 1).W) // bit i: its length, if it is one, is i + 1
  val matches = Bool()

  /** The next option begins i + 1 places behind; if for no i, not at any place. */
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

/** The walk over IPv4 options or hop-by-hop options in search of the TTL option.
  *
  * It does not follow a pointer through the bytes: of every place is asked whether an option begins there, which one of the places before
  * it must say. So it takes one clock whatever the options are, and no byte is selected by an address.
  *
  * The first option of the wanted type decides and ends the walk; it counts if it lies wholly within the `end` bytes that may be looked at.
  */
object TtlOptionWalk {

  /** Bit p: the TTL option is there and begins at place p. At most one is set. */
  def apply(places: Seq[OptionPlace], end: UInt): UInt = {
    val begins = places.indices.foldLeft(Seq[Bool]()) { (before, place) =>
      before :+ (if (place == 0) true.B
                 else before.indices.map(p => before(p) && places(p).goes(place - p - 1)).reduce(_ || _))
    }
    VecInit(places.indices.map(p => begins(p) && places(p).matches && (p + TtlOption.Bytes).U <= end)).asUInt
  }
}
