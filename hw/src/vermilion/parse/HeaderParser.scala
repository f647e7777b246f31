package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.saturate
import vermilion.stream.Headers

/** The first bytes of a frame: byte 0 in bits 7..0. Only the first `bytes` of them belong to the frame. */
class FrameHead extends Bundle {
  val data = UInt((HeaderParser.HeadBytes * 8).W)
  val bytes = UInt(8.W) // min(frame length, 128)
  val start = new IpStart // of `data`
}

/** The position of the IP header, by the frame's tags, and its version, by the EtherType after them. */
class IpStart extends Bundle {
  val tags = UInt(2.W)
  val is4Type, is6Type = Bool()

  /** `f` of the IP header's first byte: 14, 18 or 22. */
  def choose[T <: Data](f: Int => T): T = Mux(tags(1), f(22), Mux(tags(0), f(18), f(14)))
}

object IpStart {

  /** Computes it from a frame's first 24 bytes or more. */
  def apply(data: UInt): IpStart = {
    def wordAt(i: Int) = Cat(data(8 * i + 7, 8 * i), data(8 * i + 15, 8 * i + 8))
    val tagC0 = wordAt(12) === 0x8100.U
    val tagS0 = wordAt(12) === 0x88a8.U
    val tagC1 = wordAt(16) === 0x8100.U
    val out = Wire(new IpStart)
    out.tags := Mux((tagC0 || tagS0) && tagC1, 2.U, Mux(tagC0, 1.U, 0.U))
    out.is4Type := out.choose(at => wordAt(at - 2) === 0x0800.U)
    out.is6Type := out.choose(at => wordAt(at - 2) === 0x86dd.U)
    out
  }
}

object HeaderParser {

  /** Bytes of a frame that the parser reads: two cells. */
  val HeadBytes = 128

  /** Cycles from `in` to `out`. `in` must come from registers; `out` does not. */
  val Latency = 3

  /** 32-bit words in which a transport header can begin or continue: bytes 34 to 127. */
  val FirstWord = 34
  val Words = 24
}

/** Parses Ethernet, VLAN tags, IP and the start of the transport header in a frame's first 128 bytes.
  *
  * One frame per cycle, always; `out` comes `Latency` cycles after `in`, in order. There is no loop and no state, so false lengths in headers cannot hang it.
  * A header counts only if it lies wholly within the frame *and* its first 128 bytes.
  *
  *   - Tags: none, 0x8100, or 0x8100/0x88a8 before 0x8100. A frame with a third tag or a lone 0x88a8 is not IP.
  *   - VLAN IDs (IEEE 802.1Q): of both tags, of the one tag, or 0. Priority and DEI are not read.
  *   - IPv4 (RFC 791): version 4, IHL at least 5, header with options inside; else not IP. The header checksum and total length are not checked.
  *   - IPv6 (RFC 8200): version 6 and 40 bytes inside, else not IP. The parser passes up to four headers: hop-by-hop, routing, destination options, fragment
  *     and AH (RFC 4302). It stops at a fifth, at one not wholly inside, or at an AH that is no multiple of 8 bytes. `proto` is then that header's own number.
  *   - PTP over Ethernet (IEEE 1588 annex F): EtherType 0x88f7, without tags or after those above.
  *   - Ports: TCP or UDP, not a later fragment, 4 bytes inside. TCP sequence and flags: 14 bytes inside.
  *   - TCP payload: the segment, by the IP length, ends after its header. (RFC 791 total length; RFC 8200 payload length + 40; RFC 9293 data offset, at
  *     least 5.) If the frame ends within the 128 bytes, its end must also lie after the header. For a longer frame the IP length is trusted.
  *     An IP length of 0 (jumbograms, and what some offloads leave in captures) means no payload. Padding of the frame is no payload.
  *     A first fragment is judged by its own length.
  *   - Length of the IP packet: total length, or payload length + 40, as the header says, whatever the frame holds. A field of 0 gives 0: not known.
  *   - TTL option (docs/ttl-option.md): searched in parallel with the walk over extension headers. The search covers the first 12 bytes of the IPv4 options,
  *     or of the options of a hop-by-hop header that comes first and lies wholly inside ([[TtlOptionWalk]]).
  *
  * Absent fields read 0. A frame that is not IP reads 0 everywhere except `l3Offset` = 14 and `isPtpType`.
  *
  * Only the fixed IP header and the bytes of the two walks are shifted to their position without tags. The words from byte 34 on are not shifted.
  * The transport header's words are selected from them at the end, so no register holds a shifted copy of the frame. Their registers load only with a valid
  * frame. This also keeps synthesis from making LUT shift registers of the words.
  */
class HeaderParser extends Module {
  import HeaderParser._

  val io = IO(new Bundle {
    val in = Flipped(Valid(new FrameHead))
    val types = Input(new TtlOptionTypes)
    val out = Valid(new Headers)
  })

  // ---- Stage 1: remove the tags -------------------------------------------------------------------------------
  private val head = io.in.bits.data
  private val bytes = io.in.bits.bytes
  private def byteAt(i: Int): UInt = if (i < HeadBytes) head(8 * i + 7, 8 * i) else 0.U(8.W)
  private def wordAt(i: Int): UInt = Cat(byteAt(i), byteAt(i + 1))
  private val tags = io.in.bits.start.tags
  private val is6Type = io.in.bits.start.is6Type
  private def afterTags[T <: Data](f: Int => T): T = io.in.bits.start.choose(f)
  private def less(count: UInt, from: UInt): UInt = {
    val rest = count -& from
    Mux(rest(rest.getWidth - 1), 0.U, rest(rest.getWidth - 2, 0))
  }
  private def bytesAfter(header: Int): UInt = afterTags(at => less(bytes, (at + header).U)(6, 0)) // after these of IP

  private val outerVlan = wordAt(14)(11, 0)
  private val options = Seq.tabulate(TtlOption.SearchBytes)(i =>
    Mux(
      is6Type,
      afterTags(at => byteAt(at + TtlOption.Ip6Start + i)),
      afterTags(at => byteAt(at + TtlOption.Ip4Start + i))
    )
  )

  private class AfterTags extends Bundle {
    val tags = UInt(2.W)
    val vlan = UInt(24.W)
    val is4Type, is6Type, isPtpType, whole = Bool()
    val bytes = UInt(7.W) // from the IP header's first on
    val units = UInt(4.W) // of 8 bytes, after an IPv6 header
    // From a word below this index on, 4 bytes (ports) or 14 bytes (TCP) are within the frame.
    val portsEnd, tcpEnd = UInt(5.W)
    val fixed = UInt(80.W) // the IP header's first 10 bytes
    val srcAddr, dstAddr = UInt(128.W)
    val walk = new Walk // at the header after the IPv6 header; nowhere in IPv4
    val hop = new Extension // at the first place
    val extensions = Vec(Extension.Places, new ExtensionBytes)
    val wanted = UInt(8.W) // the option's type
    val options = Vec(TtlOption.SearchBytes, UInt(8.W))
    val words = Vec(Words, UInt(32.W))
  }
  private val s1In = Wire(new AfterTags)
  s1In.tags := tags
  s1In.vlan := Mux(tags(1), Cat(outerVlan, wordAt(18)(11, 0)), Mux(tags(0), outerVlan, 0.U))
  s1In.is4Type := io.in.bits.start.is4Type
  s1In.is6Type := is6Type
  s1In.isPtpType := afterTags(at => wordAt(at - 2) === 0x88f7.U && bytes >= at.U)
  s1In.whole := bytes >= HeadBytes.U
  s1In.bytes := bytesAfter(0)
  s1In.units := bytesAfter(40)(6, 3)
  s1In.portsEnd := less(bytes, FirstWord.U)(6, 2)
  s1In.tcpEnd := less(bytes, (FirstWord + 10).U)(6, 2)
  s1In.fixed := afterTags(at => head(8 * at + 79, 8 * at))
  private def address(at4: Int, at6: Int): UInt = {
    def number(from: Int, count: Int) = afterTags(at => Cat((at + from until at + from + count).map(byteAt)))
    Mux(is6Type, number(at6, 16), number(at4, 4))
  }
  s1In.srcAddr := address(12, 8)
  s1In.dstAddr := address(16, 24)
  for ((e, k) <- s1In.extensions.zipWithIndex) {
    def bytesFrom(i: Int, f: Int => UInt) = afterTags(at => f(at + i + 8 * k))
    e := ExtensionBytes(k, bytesFrom(40, byteAt), bytesFrom(41, byteAt), bytesFrom(42, wordAt))
  }
  s1In.hop := s1In.extensions.head.within(0, s1In.units, 0.U) // the walk leaves place 0 before numbers are used
  private val kind6 = Mux(is6Type, afterTags(at => NextHeader.ip6(byteAt(at + 6))), NextHeader.none)
  s1In.walk := Walk.start(kind6, s1In.hop)
  s1In.wanted := Mux(is6Type, io.types.ip6, io.types.ip4)
  s1In.options := options
  for ((word, i) <- s1In.words.zipWithIndex) {
    val at = FirstWord + 4 * i
    word := Cat(wordAt(at), wordAt(at + 2))
  }
  private val s1 = RegEnable(s1In, io.in.valid)
  private val s1Valid = RegNext(io.in.valid, false.B)

  // ---- Stage 2: the fixed IP header; the first half of the walk --------------------------------------------------
  private def ip(i: Int): UInt = s1.fixed(8 * i + 7, 8 * i)
  private def ipWord(i: Int): UInt = Cat(ip(i), ip(i + 1))
  private val version = ip(0)(7, 4)
  private val ihl = ip(0)(3, 0)
  private val is4 = s1.is4Type && version === 4.U && ihl >= 5.U && s1.bytes >= Cat(ihl, 0.U(2.W))
  private val is6 = s1.is6Type && version === 6.U && s1.bytes >= 40.U
  private def either(at6: UInt, at4: UInt): UInt = Mux(is6, at6, Mux(is4, at4, 0.U))

  private val payload6 = ipWord(4)
  private val total6 = payload6 +& 40.U

  /** `count` + `more` bytes in words, rounded up. It saturates at 63, which is after every TCP header: 29 + 15 words. It is 63 for 256 bytes and more. */
  private def words(count: UInt, more: Int): UInt = {
    val low = saturate((count(7, 0) +& (more + 3).U) >> 2, 6)
    if (count.getWidth > 8) Mux(count(count.getWidth - 1, 8).orR, 63.U(6.W), low) else low
  }
  private val claimed = Mux(s1.is6Type, words(payload6, 40), words(ipWord(2), 0))
  private val present = Mux(s1.whole, 63.U, words(s1.bytes.pad(8), 0))

  // A place of the walk (8 bytes) has the number of its pair of `words`. With IPv4 there is only the first place, where the options end.
  private val start = Mux(s1.is6Type, 5.U(5.W), ihl - 5.U) + s1.tags
  private val first6 = 2.U(4.W) + s1.tags.orR
  private val extensions =
    s1.hop +: s1.extensions.zipWithIndex.tail.map { case (e, k) => e.within(k, s1.units, first6) }
  private val kind4 = Mux(!s1.is6Type && ipWord(6)(12, 0) === 0.U, NextHeader.ip4(ip(9)), NextHeader.none)
  private val walk = s1.walk.step(extensions).step(extensions)

  private class Known extends Bundle {
    val headers = new Headers // without the fields that stage 3 adds
    val startsOdd = Bool() // the transport header's first index in `words` is odd
    val numbers = Vec(Extension.Places + 1, UInt(4.W)) // of the walk's places
    val claimed, present = UInt(6.W) // words from the IP header on, by its length and in the frame
    val tags = UInt(2.W)
    val portsEnd, tcpEnd = UInt(5.W)
    val walk = new Walk
    val optionEnd = UInt(4.W) // bytes of options that are searched
    val options = Vec(TtlOption.SearchBytes, UInt(8.W))
    val words = Vec(Words, UInt(32.W))
  }
  private val s2In = WireDefault(0.U.asTypeOf(new Known))
  private val h = s2In.headers
  h.isPtpType := s1.isPtpType
  h.isIp4 := is4
  h.isIp6 := is6
  h.l3Offset := 14.U(6.W) + Cat(Mux(is4 || is6, s1.tags, 0.U), 0.U(2.W))
  h.vlan := Mux(is4 || is6, s1.vlan, 0.U)
  h.ipBytes := either(Mux(payload6 === 0.U, 0.U, saturate(total6, 16)), ipWord(2))
  private val traffic = either(Cat(ip(0)(3, 0), ip(1)(7, 4)), ip(1))
  h.dscp := traffic(7, 2)
  h.ecn := traffic(1, 0)
  h.ttl := either(ip(7), ip(8))
  h.proto := either(ip(6), ip(9)) // for IPv6, if the walk passes no header
  h.srcAddr := Mux(is4 || is6, s1.srcAddr, 0.U)
  h.dstAddr := Mux(is4 || is6, s1.dstAddr, 0.U)
  s2In.startsOdd := start(0)
  s2In.numbers := VecInit(start(4, 1) +: Seq.tabulate(Extension.Places)(i => first6 + (i + 1).U))
  s2In.claimed := claimed
  s2In.present := present
  s2In.tags := s1.tags
  s2In.portsEnd := s1.portsEnd
  s2In.tcpEnd := s1.tcpEnd
  s2In.walk := walk // not used if the frame turns out not to be IP
  when(kind4.isTransport) {
    s2In.walk.transport := 1.U
    s2In.walk.tcp := kind4.tcp
    s2In.walk.udp := kind4.udp
  }
  private val options4 = Mux(ihl > 8.U, TtlOption.SearchBytes.U, Cat((ihl - 5.U)(1, 0), 0.U(2.W)))
  private val hopWhole = ip(6) === 0.U && extensions.head.fits(NextHeader.Eights)
  private val options6 = Mux(!hopWhole, 0.U, Mux(s1.extensions.head.single, 6.U, TtlOption.SearchBytes.U))
  s2In.optionEnd := either(options6, options4)
  s2In.options := s1.options
  s2In.words := s1.words
  private val s2 = RegEnable(s2In, s1Valid)
  private val s2Extensions = RegEnable(VecInit(extensions), s1Valid)
  private val places =
    Seq.tabulate(TtlOption.Places)(i => OptionPlace(s1.is6Type, s1.wanted, s1.options(i), s1.options(i + 1)))
  private val s2Places = RegEnable(VecInit(places), s1Valid)
  private val s2Valid = RegNext(s1Valid, false.B)

  // ---- Stage 3: the second half of the walk, the TTL option ------------------------------------------------------------------
  private val walked = s2.walk.step(s2Extensions).end(s2Extensions, s2.numbers)
  private def wordOf(number: UInt): UInt = Cat(number, s2.startsOdd) // its index in `words`
  private val s3 = RegEnable(s2, s2Valid)
  private val s3Option = Reg(UInt(TtlOption.Places.W)) // one bit per place
  s3Option := TtlOptionWalk(s2Places, s2.optionEnd)
  private val index = Reg(UInt(5.W)) // of the transport header's first word
  index := wordOf(walked.transport)
  private val isTcpKind = RegNext(walked.tcp)
  private val isUdpKind = RegNext(walked.udp)
  private val naming = RegNext(wordOf(walked.last)) // the extension header that names the protocol, if any
  private val passed = RegNext(s2.walk.last.orR)
  // Index of the first of `words` after the packet; a partial word belongs to it.
  // Then one bit for each word, and for each that would follow `words`: it lies before that index.
  private val packetEnd = less(Mux(s2.claimed < s2.present, s2.claimed, s2.present) +& s2.tags, 5.U)(5, 0)
  private val s3InPacket = RegNext(VecInit.tabulate(Words - 3 + 15)(i => i.U < packetEnd))

  // ---- After stage 3: the transport header ------------------------------------------------------------------------
  private val isIp = s3.headers.isIp4 || s3.headers.isIp6
  private val hasPorts = isIp && (isTcpKind || isUdpKind) && index < s3.portsEnd
  private val isTcp = isIp && isTcpKind && index < s3.tcpEnd
  // The header's words are consecutive, so each of four banks (every fourth word) holds one of them. Each bank selects one of six words, then each header word
  // selects a bank. A direct selection would take one of 24 for each header word.
  private val (row, nextRow) = (index(4, 2), index(4, 2) + 1.U)
  // Each word carries a bit that is known long before the selection: whether a TCP header with this as its fourth word has payload after it.
  private val candidates = s3.words.zipWithIndex.map { case (word, i) =>
    val payload = VecInit.tabulate(16)(offset => if (offset < 5 || i < 3) false.B else s3InPacket(i - 3 + offset))
    Cat(payload(word(31, 28)), word)
  }
  private val banks = VecInit(Seq.tabulate(4) { b =>
    val words = Seq.tabulate(8)(r => candidates(4 * (if (r < Words / 4) r else r - 2) + b))
    VecInit(words)(Mux(b.U < index(1, 0), nextRow, row))
  })
  private def afterFirst(words: Int): UInt = banks((index(1, 0) + words.U)(1, 0))
  private val ports = afterFirst(0)
  private val fourth = afterFirst(3)
  private def only(condition: Bool, value: UInt): UInt = Mux(condition, value, 0.U)

  private val result = WireDefault(s3.headers)
  when(s3.headers.isIp6 && passed) { result.proto := VecInit(s3.words.map(_(31, 24)))(naming) }
  result.hasPorts := hasPorts
  result.srcPort := only(hasPorts, ports(31, 16))
  result.dstPort := only(hasPorts, ports(15, 0))
  result.isTcp := isTcp
  result.tcpSeq := only(isTcp, afterFirst(1)(31, 0))
  result.tcpFlags := only(isTcp, fourth(23, 16))
  result.tcpPayload := isTcp && fourth(32)
  private def optionValue(byte: Int): UInt =
    Mux1H(s3Option, Seq.tabulate(TtlOption.Places)(i => s3.options(i + byte)))
  result.hasTtlOption := s3Option.orR
  result.ttlOptionAt := OHToUInt(s3Option)
  result.initialTtl := optionValue(2)
  result.finalTtl := optionValue(3)

  io.out.valid := RegNext(s2Valid, false.B)
  io.out.bits := result
}

/** The parser with the tags decoded in the same cycle, for testbenches. */
class HeaderParserAlone extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Valid(new Bundle {
      val data = UInt((HeaderParser.HeadBytes * 8).W)
      val bytes = UInt(8.W)
    }))
    val types = Input(new TtlOptionTypes)
    val out = Valid(new Headers)
  })
  private val parser = Module(new HeaderParser)
  parser.io.types := io.types
  parser.io.in.valid := io.in.valid
  parser.io.in.bits.data := io.in.bits.data
  parser.io.in.bits.bytes := io.in.bits.bytes
  parser.io.in.bits.start := IpStart(io.in.bits.data)
  io.out := parser.io.out
}
