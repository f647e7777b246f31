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

  /** Steps of the walk, each over as many of these places. */
  val Steps = 3
  require(Places % Steps == 0)
}

/** State of the walk over IPv4 options (RFC 791 section 3.1) or hop-by-hop options (RFC 8200 section 4.2) in search of the TTL option.
  *
  * The walk does not follow a pointer through the bytes: it goes by every place in turn and asks of each whether an option begins
  * there, three places a clock. So it takes [[TtlOption.Steps]] clocks whatever the options are, and no byte is selected by an address.
  *
  *   - Padding of one byte (IPv4 type 1, IPv6 type 0) is passed, and so is every other option by its length. IPv4 type 0 ends the walk,
  *     and so does an IPv4 length below 2.
  *   - The first option of the wanted type decides and ends the walk: it is found if it has the right length and lies wholly within the
  *     options and their first 12 bytes. Another behind it is not looked at.
  */
class TtlOptionWalk extends Bundle {
  val next = UInt(4.W) // place of the next option; 15 stands for none
  val end = UInt(4.W) // bytes that may be looked at
  val found = Bool()
  val at = UInt(4.W) // its place

  /** Looks at the places of one of the three steps; `byteAt` gives the bytes of the options. */
  def step(index: Int, isIp6: Bool, types: TtlOptionTypes, byteAt: Int => UInt): TtlOptionWalk = {
    val size = TtlOption.Places / TtlOption.Steps
    val wanted = Mux(isIp6, types.ip6, types.ip4)
    (index * size until (index + 1) * size).foldLeft(this) { (before, place) =>
      val kind = byteAt(place)
      val single = kind === Mux(isIp6, 0.U, 1.U)
      val padding = kind(7, 1) === 0.U // single bytes, IPv4's end, IPv6's PadN
      val field = byteAt(place + 1)
      val length = Mux(isIp6, field +& 2.U, field)
      val behind = length +& place.U
      val wrong = !isIp6 && (kind === 0.U || (!single && field(7, 1) === 0.U))
      val match1 = kind === wanted && !padding
      val fits = length === TtlOption.Bytes.U && (place + TtlOption.Bytes).U <= end

      val after = Wire(new TtlOptionWalk)
      after := before
      when(before.next === place.U) {
        after.next := Mux(single, (place + 1).U, Mux(wrong || match1 || behind > 14.U, 15.U, behind(3, 0)))
        after.found := match1 && fits
        after.at := Mux(match1 && fits, place.U, 0.U)
      }
      after
    }
  }
}
