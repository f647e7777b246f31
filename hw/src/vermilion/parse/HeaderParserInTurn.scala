package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.saturate
import vermilion.stream.Headers

/** A frame whose head is in. */
class EndedHead(inputBits: Int) extends Bundle {
  val input = UInt(inputBits.W)
  val bytes = UInt(8.W) // min(frame length, 128)
}

object HeaderParserInTurn {

  /** Clocks from `in` to `out`, and to the one in which the frame's head stands at `heads`. */
  val Latency = 4
  val HeadLatency = 2
}

/** Makes the headers of what the inputs' [[BeatParser]]s have caught: what [[HeaderParser]] says of the same frames, word for word.
  *
  * One frame a clock, of whichever input. `heads(input)` is read [[HeaderParserInTurn.HeadLatency]] clocks behind `in`. Places are 32-bit words from
  * the IP header's first.
  */
class HeaderParserInTurn(inputs: Int) extends Module {
  val io = IO(new Bundle {
    val heads = Input(Vec(inputs, new BeatHead))
    val in = Flipped(Valid(new EndedHead(log2Ceil(inputs).max(1))))
    val types = Input(new TtlOptionTypes)
    val out = Valid(new Headers)
  })

  // ---- Stage 1 and 2: whose head ------------------------------------------------------------------------------------
  private val s1 = RegNext(io.in.bits)
  private val s1Valid = RegNext(io.in.valid, false.B)
  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2Input = RegNext(s1.input)
  private val s2Untagged = RegNext(Mux(s1.bytes > 14.U, s1.bytes - 14.U, 0.U)(6, 0))
  private val s2Enough = RegNext(s1.bytes >= 14.U)
  private val s2Whole = RegNext(s1.bytes(7))

  // All else hangs on where the header begins: that is chosen by a register of its own, which the other way round stays one.
  private val s2Not = RegNext(~s1.input)
  private def of(input: UInt): BeatHead = if (inputs == 1) io.heads.head else io.heads(input)
  private val head = WireDefault(of(s2Input))
  head.start := of(~s2Not).start
  private val is6Type = head.start.is6Type
  private val ihl = head.ip(0)(3, 0)
  private val odd = !is6Type && ihl(0) // the transport header begins at an odd word
  private def number(bytes: Seq[UInt]): UInt = Cat(bytes)
  private def ip(from: Int, count: Int): UInt = number((from until from + count).map(head.ip))
  private def either(at6: UInt, at4: UInt): UInt = Mux(is6Type, at6, at4)
  private def transport(from: Int, count: Int): UInt = {
    def at(more: Int) = number((from + more until from + more + count).map(head.ofTransport))
    Mux(odd, at(4), at(0))
  }

  private class Caught extends Bundle {
    val start = new IpStart
    val isPtpType = Bool()
    val words = UInt(5.W) // whole ones behind the tags
    val bytes = UInt(2.W) // behind those
    val cutTags = Bool() // the frame ends within its tags
    val enough, whole = Bool() // 14 bytes, 128 are there
    val outerVlan, innerVlan = UInt(12.W)
    val version, ihl = UInt(4.W)
    val traffic, ttl, proto = UInt(8.W)
    val length = UInt(16.W)
    val later = Bool()
    val srcAddr, dstAddr = UInt(128.W)
    val options = Vec(TtlOption.SearchBytes, UInt(8.W))
    val places = Vec(TtlOption.Places, new OptionPlace)
    val optionEnd = UInt(4.W)
    val transport = UInt(5.W) // its place
    val ports, tcpSeq = UInt(32.W)
    val dataOffset = UInt(4.W)
    val tcpFlags = UInt(8.W)
  }
  private val caught = Wire(new Caught)
  // Three constants' differences, of which the tags choose: no carry behind the choice of the head. Bit 5: the frame ends within its tags.
  private val behindTags = MuxLookup(head.start.tags, 0.U)(
    (0 to 2).map(tags => tags.U -> (s2Untagged(6, 2) -& tags.U(2.W)))
  )
  caught.start := head.start
  caught.isPtpType := head.isPtpType
  caught.words := Mux(behindTags(5), 0.U, behindTags(4, 0))
  caught.bytes := s2Untagged(1, 0)
  caught.cutTags := behindTags(5)
  caught.enough := s2Enough
  caught.whole := s2Whole
  caught.outerVlan := head.outerVlan
  caught.innerVlan := Mux(head.start.tags(1), head.innerVlan, head.outerVlan)
  caught.version := head.ip(0)(7, 4)
  caught.ihl := ihl
  caught.traffic := either(Cat(head.ip(0)(3, 0), head.ip(1)(7, 4)), head.ip(1))
  caught.ttl := either(head.ip(7), head.ip(8))
  caught.proto := either(head.number, head.ip(9))
  caught.length := either(ip(4, 2), ip(2, 2))
  caught.later := either(head.later, ip(6, 2)(12, 0) =/= 0.U)
  caught.srcAddr := Cat(ip(8, 12), either(ip(20, 4), ip(12, 4)))
  caught.dstAddr := Cat(ip(24, 12), either(ip(36, 4), ip(16, 4)))
  for (i <- caught.options.indices) caught.options(i) := either(head.hopOption(i), head.ip(TtlOption.Ip4Start + i))
  private val wanted = either(io.types.ip6, io.types.ip4)
  for ((place, i) <- caught.places.zipWithIndex)
    place := OptionPlace(is6Type, wanted, caught.options(i), caught.options(i + 1))
  private val options4 = Mux(ihl > 8.U, TtlOption.SearchBytes.U, Cat((ihl - 5.U)(1, 0), 0.U(2.W)))
  private val options6 = Mux(!head.hopWhole, 0.U, Mux(head.hopSingle, 6.U, TtlOption.SearchBytes.U))
  caught.optionEnd := either(options6, options4)
  caught.transport := either(Cat(head.place, 0.U(1.W)), ihl)
  caught.ports := transport(0, 4)
  caught.tcpSeq := transport(4, 4)
  caught.dataOffset := transport(12, 1)(7, 4)
  caught.tcpFlags := transport(13, 1)

  // ---- Stage 3: what of it lies in the frame -----------------------------------------------------------------------
  private val s3 = RegEnable(caught, s2Valid)
  private val s3Valid = RegNext(s2Valid, false.B)
  private val words = s3.words
  private val is4 = s3.start.is4Type && s3.version === 4.U && s3.ihl >= 5.U && words >= s3.ihl
  private val is6 = s3.start.is6Type && s3.version === 6.U && words >= 10.U
  private val isIp = is4 || is6
  private def only(condition: Bool, value: UInt): UInt = Mux(condition, value, 0.U)
  private val isTcpKind = s3.proto === 6.U
  private val hasPorts = isIp && !s3.later && (isTcpKind || s3.proto === 17.U) && s3.transport < words
  private val isTcp = isIp && !s3.later && isTcpKind && s3.transport +& 3.U < words +& s3.bytes(1)

  private val result = Wire(new Headers)
  result.isPtpType := s3.isPtpType && s3.enough && !s3.cutTags
  result.isIp4 := is4
  result.isIp6 := is6
  result.l3Offset := 14.U(6.W) + Cat(only(isIp, s3.start.tags), 0.U(2.W))
  result.vlan := Cat(only(isIp && s3.start.tags(1), s3.outerVlan), only(isIp && s3.start.tags =/= 0.U, s3.innerVlan))
  private val total = saturate(s3.length +& Mux(is6 && s3.length =/= 0.U, 40.U, 0.U), 16)
  result.ipBytes := only(isIp, total)
  result.dscp := only(isIp, s3.traffic(7, 2))
  result.ecn := only(isIp, s3.traffic(1, 0))
  result.ttl := only(isIp, s3.ttl)
  result.proto := only(isIp, s3.proto)
  result.srcAddr := Cat(only(is6, s3.srcAddr(127, 32)), only(isIp, s3.srcAddr(31, 0)))
  result.dstAddr := Cat(only(is6, s3.dstAddr(127, 32)), only(isIp, s3.dstAddr(31, 0)))
  result.hasPorts := hasPorts
  result.srcPort := only(hasPorts, s3.ports(31, 16))
  result.dstPort := only(hasPorts, s3.ports(15, 0))
  result.isTcp := isTcp
  result.tcpSeq := only(isTcp, s3.tcpSeq)
  result.tcpFlags := only(isTcp, s3.tcpFlags)
  result.tcpPayload := isTcp && s3.dataOffset >= 5.U
  result.hasTtlOption := DontCare
  result.ttlOptionAt := DontCare
  result.initialTtl := DontCare
  result.finalTtl := DontCare

  // ---- Stage 4: the segment's length, the TTL option -------------------------------------------------------------------
  private val s4 = RegEnable(result, s3Valid)
  private val s4Payload = RegEnable(s3.transport +& s3.dataOffset, s3Valid) // where it begins; less than 45
  private val s4Bytes = RegEnable(Cat(words, s3.bytes), s3Valid) // counts where there are words
  private val s4Whole = RegEnable(s3.whole, s3Valid)
  private val s4Options = RegEnable(s3.options, s3Valid)
  private val s4Option = RegEnable(only(isIp, TtlOptionWalk(s3.places, s3.optionEnd)), s3Valid) // a bit a place
  private val payloadBytes = Cat(s4Payload, 0.U(2.W))
  private def optionValue(byte: Int): UInt =
    Mux1H(s4Option, Seq.tabulate(TtlOption.Places)(i => s4Options(i + byte)))

  io.out.valid := RegNext(s3Valid, false.B)
  io.out.bits := s4
  io.out.bits.tcpPayload := s4.tcpPayload && s4.ipBytes > payloadBytes && (s4Whole || s4Bytes > payloadBytes)
  io.out.bits.hasTtlOption := s4Option.orR
  io.out.bits.ttlOptionAt := OHToUInt(s4Option)
  io.out.bits.initialTtl := optionValue(2)
  io.out.bits.finalTtl := optionValue(3)
}

/** Both behind each other for one input, for benches. */
class BeatParserAlone extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Valid(new HeadBeat))
    val types = Input(new TtlOptionTypes)
    val out = Valid(new Headers)
  })
  private val beats = Module(new BeatParser)
  private val parser = Module(new HeaderParserInTurn(1))
  beats.io.in := io.in
  parser.io.heads(0) := beats.io.head
  parser.io.types := io.types
  private val before = RegInit(0.U(8.W)) // bytes of the frame, 128 where its head has ended
  private val bytes = Mux(before(7), before, before + io.in.bits.bytes)
  when(io.in.valid) { before := Mux(io.in.bits.last, 0.U, bytes) }
  parser.io.in.valid := RegNext(io.in.valid && !before(7) && (io.in.bits.last || bytes(7)), false.B)
  parser.io.in.bits.input := 0.U
  parser.io.in.bits.bytes := RegNext(bytes)
  io.out := parser.io.out
}
