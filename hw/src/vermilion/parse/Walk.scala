package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.saturate

object IpWindow {

  /** 128 bytes less the shortest Ethernet header, rounded up to words. */
  val Bytes = 116
}

/** What follows the tags, at byte 0; only the first `bytes` belong to the frame. */
class IpWindow extends Bundle {
  val data = UInt((IpWindow.Bytes * 8).W)
  val bytes = UInt(8.W)
  val l3Offset = UInt(6.W)
  val vlan = UInt(24.W) // Headers.vlan
  val whole = Bool() // the frame does not end within the parser's 128 bytes

  /** The 32-bit big-endian word at a word index; past the window it reads 0. */
  def wordAt(index: UInt): UInt = {
    val words = Seq.tabulate(32)(i =>
      if (4 * i + 3 < IpWindow.Bytes) Cat((0 to 3).map(k => data(32 * i + 8 * k + 7, 32 * i + 8 * k))) else 0.U(32.W)
    )
    VecInit(words)(index(4, 0))
  }

  /** Bytes `from` to `from + count - 1` as one big-endian number. */
  def bytesAt(from: Int, count: Int): UInt = Cat((from until from + count).map(k => data(8 * k + 7, 8 * k)))

  /** Words, begun ones counted, from the IP header's first byte to where its packet ends by `lengthBytes` and by the frame;
    * 63 stands for that and more, so for every end that no TCP header can reach (29 + 15 words).
    */
  def packetWords(lengthBytes: UInt): UInt = {
    def words(bytes: UInt): UInt = saturate((bytes +& 3.U) >> 2, 6)
    val frame = Mux(whole, 63.U, words(bytes))
    val claimed = words(lengthBytes)
    Mux(claimed < frame, claimed, frame)
  }
}

/** State of the walk over IPv6 extension headers (RFC 8200 section 4): the next header is `number`, at word `position`. */
class Walk extends Bundle {
  val window = new IpWindow
  val isIp4 = Bool()
  val isIp6 = Bool()
  val ipBytes = UInt(16.W) // Headers.ipBytes
  val traffic = UInt(8.W) // TOS or traffic class
  val ttl = UInt(8.W)
  val packetWords = UInt(6.W) // IpWindow.packetWords
  val position = UInt(5.W) // words from the IP header's first; the window ends within 29
  val number = UInt(8.W)
  val laterFragment = Bool()
  val stopped = Bool()
  val option = new TtlOptionWalk
  val initialTtl = UInt(8.W)
  val finalTtl = UInt(8.W)

  /** Byte `i` of the options that [[TtlOptionWalk]] looks at. */
  def optionByte(i: Int): UInt = {
    def at(byte: Int) = window.data(8 * byte + 7, 8 * byte)
    Mux(isIp6, at(TtlOption.Ip6Start + i), at(TtlOption.Ip4Start + i))
  }

  /** The search for the TTL option goes one of its steps further; behind the last it takes the option's values. */
  def search(index: Int, types: TtlOptionTypes): Walk = {
    val next = WireDefault(this)
    if (index < TtlOption.Steps) {
      next.option := option.step(index, isIp6, types, optionByte)
    } else {
      def value(byte: Int): UInt =
        Mux1H((0 until TtlOption.Places).map(i => (option.found && option.at === i.U) -> optionByte(i + byte)))
      next.initialTtl := value(2)
      next.finalTtl := value(3)
    }
    next
  }

  /** One header further, or this one unchanged when it is no extension header or does not lie wholly in the window.
    *
    * A length that lies outside the window needs no check of its own: the shortest extension header has 8 bytes.
    */
  def step: Walk = {
    val word = window.wordAt(position)
    val lengthField = word(23, 16)
    val inEights = number === 0.U || number === 43.U || number === 60.U
    val isFragment = number === 44.U
    val isAh = number === 51.U
    val words = Mux(isFragment, 2.U(10.W), Mux(isAh, lengthField +& 2.U, Cat(lengthField +& 1.U, 0.U(1.W))))
    val end = position +& words
    val passes = !stopped && (inEights || isFragment || isAh) && end <= window.bytes(7, 2)
    val fragmentOffset = word(15, 3)

    val next = WireDefault(this)
    when(passes) {
      next.position := end(4, 0)
      next.number := word(31, 24)
      when(isFragment && fragmentOffset =/= 0.U) {
        next.laterFragment := true.B
        next.stopped := true.B // what follows is payload
      }
    }.otherwise {
      next.stopped := true.B
    }
    next
  }
}
