package vermilion.parse

import chisel3._
import chisel3.util._

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

  /** Steps of the walk, a clock each, and the places that they go by. */
  val Steps = Seq(0 until 5, 5 until Places)
}

/** What one place of the options says if an option begins there (RFC 791 section 3.1, RFC 8200 section 4.2).
  *
  *   - Padding of one byte (IPv4 type 1, IPv6 type 0) is passed, and so is every other option by its length.
  *   - IPv4 type 0 ends the walk, and so does an IPv4 length below 2.
  *   - An option of the wanted type ends it, too: `matches` if it has the right length.
  */
class OptionPlace extends Bundle {
  val next = UInt(4.W) // place of the next option; 15 stands for none
  val matches = Bool()
}

object OptionPlace {
  def apply(place: Int, isIp6: Bool, wanted: UInt, kind: UInt, field: UInt): OptionPlace = {
    val single = kind === Mux(isIp6, 0.U, 1.U)
    val wrong = !isIp6 && (kind === 0.U || field(7, 1) === 0.U)
    val found = kind === wanted && kind(7, 1) =/= 0.U
    val behind = field(3, 0) +& Mux(isIp6, (place + 2).U, place.U) // 15 + 10 at most
    val far = field(7, 4) =/= 0.U || behind > 14.U
    val out = Wire(new OptionPlace)
    out.next := Mux(single, (place + 1).U, Mux(wrong || found || far, 15.U, behind(3, 0)))
    out.matches := found && field === Mux(isIp6, (TtlOption.Bytes - 2).U, TtlOption.Bytes.U)
    out
  }
}

/** State of the walk over IPv4 options or hop-by-hop options in search of the TTL option.
  *
  * The walk does not follow a pointer through the bytes: it goes by every place in turn and asks of each whether an option begins
  * there. So it takes the same clocks whatever the options are, and no byte is selected by an address.
  *
  * The first option of the wanted type decides and ends the walk. Whether it lies wholly within the options and their first 12
  * bytes is for the caller to say (`at`).
  */
class TtlOptionWalk extends Bundle {
  val next = UInt(4.W) // place of the next option; 15 stands for none
  val matched = Bool()
  val at = UInt(4.W) // its place, 0 if there is none

  def step(range: Range, places: Seq[OptionPlace]): TtlOptionWalk = range.foldLeft(this) { (before, place) =>
    val after = Wire(new TtlOptionWalk)
    val here = before.next === place.U
    after.next := Mux(here, places(place).next, before.next)
    after.matched := before.matched || (here && places(place).matches)
    after.at := Mux(here && places(place).matches, place.U, before.at)
    after
  }
}

object TtlOptionWalk {
  def start: TtlOptionWalk = 0.U.asTypeOf(new TtlOptionWalk)
}
