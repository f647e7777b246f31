package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.saturate
import vermilion.stream.Headers

/** The first bytes of a frame: byte 0 in bits 7..0; only the first `bytes` of them belong to the frame. */
class FrameHead extends Bundle {
  val data = UInt((HeaderParser.HeadBytes * 8).W)
  val bytes = UInt(8.W) // min(frame length, 128)
}

object HeaderParser {

  /** How far into a frame the parser looks: two cells. */
  val HeadBytes = 128

  /** IPv6 extension headers it walks over. */
  val MaxExtensions = 4

  /** Clocks from `in` to `out`. */
  val Latency = MaxExtensions + 3
}

/** Reads Ethernet, VLAN tags, IP and the start of the transport header out of a frame's first 128 bytes.
  *
  * One frame a clock, always; `out` comes `Latency` clocks after `in`, in order. There is no loop and no state, so headers that lie
  * about lengths cannot hang it; whatever does not lie wholly within the frame *and* its first 128 bytes is not looked at.
  *
  *   - Tags: none, 0x8100, or 0x8100/0x88a8 before 0x8100. A third tag or a lone 0x88a8 is not IP.
  *   - VLAN IDs (IEEE 802.1Q): of both tags, of the one tag, or 0. Priority and DEI are not read.
  *   - IPv4 (RFC 791): version 4, IHL at least 5, header with options inside; else not IP. The header checksum and total length are not checked.
  *   - IPv6 (RFC 8200): version 6 and 40 bytes inside, else not IP. Up to four of hop-by-hop, routing, destination options, fragment and
  *     AH (RFC 4302) are passed over; at a fifth, or one not wholly inside, `proto` is that header's own number.
  *   - Ports: TCP or UDP, not a later fragment, 4 bytes inside. TCP sequence and flags: 14 bytes inside.
  *   - TCP payload: the segment ends by the IP length (RFC 791 total length, RFC 8200 payload length + 40) behind its header
  *     (RFC 9293 data offset, at least 5), and so does a frame that ends within the 128 bytes. Of a longer frame the IP length
  *     is believed. An IP length of 0 (jumbograms, and what some offloads leave in captures) is no payload; padding of
  *     the frame is none. A first fragment is judged by its own length.
  *   - Length of the IP packet: total length, or payload length + 40; believed as it stands, whatever the frame holds. A field of 0 says nothing.
  *   - TTL option (docs/ttl-option.md): looked for beside the walk over extension headers, in the first 12 bytes of the IPv4 options, or of
  *     the options of a hop-by-hop header that stands first and lies wholly inside ([[TtlOptionWalk]]). About 190 LUTs.
  *
  * What is not there reads 0; a frame that is not IP reads 0 everywhere but `l3Offset` = 14.
  */
class HeaderParser extends Module {
  import HeaderParser._

  val io = IO(new Bundle {
    val in = Flipped(Valid(new FrameHead))
    val types = Input(new TtlOptionTypes)
    val out = Valid(new Headers)
  })

  private def byteAt(data: UInt, i: Int): UInt = data(8 * i + 7, 8 * i)
  private def wordAt(data: UInt, i: Int): UInt = Cat(byteAt(data, i), byteAt(data, i + 1))

  // ---- Stage 1: pass the tags, put the IP header at byte 0 -------------------------------------------------------
  private val head = io.in.bits.data
  private val tagC0 = wordAt(head, 12) === 0x8100.U
  private val tagS0 = wordAt(head, 12) === 0x88a8.U
  private val tagC1 = wordAt(head, 16) === 0x8100.U
  private val tags = Mux((tagC0 || tagS0) && tagC1, 2.U(2.W), Mux(tagC0, 1.U(2.W), 0.U(2.W)))
  private val offset = 14.U(8.W) + Cat(tags, 0.U(2.W))

  private val s1 = Reg(new IpWindow)
  private val s1Type = Reg(UInt(16.W))
  private val s1Valid = RegNext(io.in.valid, false.B)
  private def afterTags(f: Int => UInt): UInt = Mux(tags === 2.U, f(22), Mux(tags === 1.U, f(18), f(14)))
  s1.data := afterTags(o => head(8 * HeadBytes - 1, 8 * o).pad(IpWindow.Bytes * 8))
  s1Type := afterTags(o => wordAt(head, o - 2))
  s1.whole := io.in.bits.bytes >= HeadBytes.U
  s1.bytes := Mux(io.in.bits.bytes > offset, io.in.bits.bytes - offset, 0.U)
  s1.l3Offset := offset(5, 0)
  private val outerVlan = wordAt(head, 14)(11, 0)
  s1.vlan := Mux(tags === 2.U, Cat(outerVlan, wordAt(head, 18)(11, 0)), Mux(tags === 1.U, outerVlan, 0.U))

  // ---- Stage 2: the fixed IP header ---------------------------------------------------------------------------
  private val ip = s1.data
  private val version = ip(7, 4)
  private val ihl = ip(3, 0)
  private val is4 = s1Type === 0x0800.U && version === 4.U && ihl >= 5.U && s1.bytes >= Cat(ihl, 0.U(2.W))
  private val is6 = s1Type === 0x86dd.U && version === 6.U && s1.bytes >= 40.U
  private val traffic = Mux(is6, Cat(ip(3, 0), ip(15, 12)), ip(15, 8))

  private val first = Wire(new Walk)
  first.window := s1
  first.isIp4 := is4
  first.isIp6 := is6
  private val payload6 = wordAt(ip, 4)
  private val bytes6 = Mux(payload6 === 0.U, 0.U, saturate(payload6 +& 40.U, 16))
  first.ipBytes := Mux(is6, bytes6, Mux(is4, wordAt(ip, 2), 0.U))
  first.traffic := traffic
  first.ttl := Mux(is6, byteAt(ip, 7), byteAt(ip, 8))
  first.packetWords := s1.packetWords(Mux(is6, payload6 +& 40.U, wordAt(ip, 2)))
  first.position := Mux(is6, 10.U, ihl)
  first.number := Mux(is6, byteAt(ip, 6), byteAt(ip, 9))
  first.laterFragment := is4 && (wordAt(ip, 6)(12, 0) =/= 0.U)
  first.stopped := !is6
  private val options4 = Mux(ihl > 8.U, TtlOption.SearchBytes.U, Cat((ihl - 5.U)(1, 0), 0.U(2.W)))
  private val hopLength = byteAt(ip, 41)
  private val hopWhole = byteAt(ip, 6) === 0.U && hopLength +& 6.U <= s1.bytes(7, 3)
  private val options6 = Mux(!hopWhole, 0.U, Mux(hopLength === 0.U, 6.U, TtlOption.SearchBytes.U))
  first.option.end := Mux(is6, options6, Mux(is4, options4, 0.U))
  first.option.next := 0.U
  first.option.found := false.B
  first.option.at := 0.U
  first.initialTtl := 0.U
  first.finalTtl := 0.U

  // ---- Stages 3 to 6: one extension header each, and the TTL option -------------------------------------------
  private val walked =
    (0 until MaxExtensions).foldLeft(RegNext(first))((before, i) => RegNext(before.step.search(i, io.types)))
  private val walkedValid = ShiftRegister(s1Valid, MaxExtensions + 1, false.B, true.B)

  // ---- Stage 7: the transport header --------------------------------------------------------------------------
  private val w = walked
  private val isIp = w.isIp4 || w.isIp6
  private val start = Cat(0.U(1.W), w.position, 0.U(2.W)) // bytes from the IP header's first
  private val hasPorts =
    isIp && !w.laterFragment && (w.number === 6.U || w.number === 17.U) && start +& 4.U <= w.window.bytes
  private val isTcp = hasPorts && w.number === 6.U && start +& 14.U <= w.window.bytes
  private val ports = w.window.wordAt(w.position)
  private val sequence = w.window.wordAt(w.position + 1.U)
  private val offsetAndFlags = w.window.wordAt(w.position + 3.U)
  private val dataOffset = offsetAndFlags(31, 28)
  private val room = Mux(w.packetWords > w.position, w.packetWords - w.position, 0.U) // words of the segment

  private val result = Wire(new Headers)
  private def only(condition: Bool, value: UInt): UInt = Mux(condition, value, 0.U)
  result.isIp4 := w.isIp4
  result.isIp6 := w.isIp6
  result.l3Offset := Mux(isIp, w.window.l3Offset, 14.U)
  result.vlan := only(isIp, w.window.vlan)
  result.ipBytes := w.ipBytes
  result.dscp := only(isIp, w.traffic(7, 2))
  result.ecn := only(isIp, w.traffic(1, 0))
  result.ttl := only(isIp, w.ttl)
  result.proto := only(isIp, w.number)
  result.hasPorts := hasPorts
  result.srcPort := only(hasPorts, ports(31, 16))
  result.dstPort := only(hasPorts, ports(15, 0))
  result.isTcp := isTcp
  result.tcpSeq := only(isTcp, sequence)
  result.tcpFlags := only(isTcp, offsetAndFlags(23, 16))
  result.tcpPayload := isTcp && dataOffset >= 5.U && room > dataOffset
  private def address(at4: Int, at6: Int): UInt =
    Mux(w.isIp6, w.window.bytesAt(at6, 16), only(w.isIp4, w.window.bytesAt(at4, 4)).pad(128))
  result.hasTtlOption := w.option.found
  result.initialTtl := w.initialTtl
  result.finalTtl := w.finalTtl
  result.ttlOptionAt := w.option.at
  result.srcAddr := address(12, 8)
  result.dstAddr := address(16, 24)

  io.out.valid := RegNext(walkedValid, false.B)
  io.out.bits := RegNext(result)
}
