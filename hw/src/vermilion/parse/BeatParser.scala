package vermilion.parse

import chisel3._
import chisel3.util._

/** A beat of a frame, as it comes in: byte 0 in bits 7..0; `bytes` of them belong to the frame, 8 unless it is the last. */
class HeadBeat extends Bundle {
  val data = UInt(64.W)
  val bytes = UInt(4.W)
  val last = Bool()
}

/** What a [[BeatParser]] has caught of a frame. Whether it lies in the frame is not asked here but for the walk over extension headers. */
class BeatHead extends Bundle {
  val start = new IpStart
  val isPtpType = Bool()
  val outerVlan, innerVlan = UInt(12.W) // of the first tag, of the second
  val fixed = Vec(5, UInt(64.W)) // bytes 0 to 39 of the IP header, byte 0 in bits 7..0
  val hopOptions = UInt((TtlOption.SearchBytes * 8).W) // bytes 42 to 53
  val number = UInt(8.W) // of the IPv6 header at which the walk has ended
  val later = Bool() // the walk has ended behind the fragment header of a later fragment
  val hopWhole, hopSingle = Bool() // a hop-by-hop header stands first and is wholly in; it has 8 bytes
  val place = UInt(4.W) // of the transport header behind IPv6 headers, in units of 8 bytes from the IP header's first
  // From the unit of 8 bytes in which the transport header begins: bytes 0 to 13, 16, 17.
  val transport = UInt((14 * 8).W)
  val transportEnd = UInt(16.W)

  private def byteOf(data: UInt, i: Int): UInt = data(8 * i + 7, 8 * i)

  /** Byte i of the IP header. */
  def ip(i: Int): UInt = byteOf(fixed(i / 8), i % 8)
  def hopOption(i: Int): UInt = byteOf(hopOptions, i)
  def ofTransport(i: Int): UInt = if (i < 14) byteOf(transport, i) else byteOf(transportEnd, i - 16)
}

object BeatParser {

  /** Clocks from the last beat of a frame, or of its first 128 bytes, to the first in which `head` stands. */
  val Latency = 3

  private val headBeats = HeaderParser.HeadBytes / 8
}

/** Catches the headers of one input's frames beat by beat, where [[HeaderParser]] has the first 128 bytes side by side.
  *
  *   - Beats 1 and 2 say where the IP header begins: at byte 14, 18 or 22. With one tag that is 4 bytes off from where it is with none or two,
  *     so one choice of two a bit aligns beats to units of 8 bytes from the IP header's first on.
  *   - What stands at a fixed place behind the IP header's first byte is caught when its unit passes, by enables alone.
  *   - IPv6 extension headers are units of 8 bytes, too. The walk reads the length of each and counts down its units; a header is passed
  *     when its last byte is in. Until then `number` is its own.
  *   - The transport header is caught from the unit in which it begins on.
  *   - The clock behind a head's last beat belongs to the bytes behind its last unit; no other frame can need it, as no unit is whole before
  *     a frame's third beat.
  *
  * Frames come at a beat a clock, one of one beat in every clock too. `head` stands from [[BeatParser.Latency]] clocks behind a head's last beat
  * until 2 clocks behind the next frame's first, both included.
  */
class BeatParser extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Valid(new HeadBeat))
    val head = Output(new BeatHead)
  })

  // ---- Stage 1: the beat's place in the frame, the tags, units ---------------------------------------------------------
  private val beat = io.in.bits
  private val index = RegInit(0.U(log2Ceil(BeatParser.headBeats).W))
  private val behindHead = RegInit(false.B)
  private val isLast = index === (BeatParser.headBeats - 1).U
  private val inHead = io.in.valid && !behindHead
  when(io.in.valid) {
    index := Mux(beat.last, 0.U, index + 1.U)
    behindHead := !beat.last && (behindHead || isLast)
  }
  private val flush = RegNext(inHead && (beat.last || isLast), false.B)

  private def bytes(from: Int, count: Int): UInt = beat.data(8 * (from + count) - 1, 8 * from)
  private def word(from: Int): UInt = Cat(bytes(from, 1), bytes(from + 1, 1))
  private class Types extends Bundle {
    val customerTag, serviceTag, ip4, ip6, ptp = Bool()
  }
  private def typesAt(from: Int): Types = {
    val out = Wire(new Types)
    out.customerTag := word(from) === 0x8100.U
    out.serviceTag := word(from) === 0x88a8.U
    out.ip4 := word(from) === 0x0800.U
    out.ip6 := word(from) === 0x86dd.U
    out.ptp := word(from) === 0x88f7.U
    out
  }
  private val early = typesAt(0)
  private val late = typesAt(4)
  private val types = Reg(new Types)
  private val tags = Reg(UInt(2.W))
  private val units = Reg(UInt(4.W)) // of the IP header that are in
  private val behind = RegEnable(bytes(2, 6), io.in.valid) // of the beat before
  private val outerVlan, innerVlan = Reg(UInt(12.W))
  private val second = (types.customerTag || types.serviceTag) && early.customerTag
  private val startsLater = second || types.customerTag
  when(inHead) {
    switch(index) {
      is(0.U) {
        types := 0.U.asTypeOf(new Types)
        tags := 0.U
      }
      is(1.U) { types := late }
      is(2.U) {
        tags := Mux(second, 2.U, types.customerTag)
        when(second) { types := late }.elsewhen(types.customerTag) { types := early }
        outerVlan := Cat(behind(35, 32), behind(47, 40))
        innerVlan := word(2)(11, 0)
      }
    }
    units := Mux(index < 2.U || (index === 2.U && startsLater), 0.U, units + 1.U)
  }

  private val odd = tags(0)
  private val s2Unit = Reg(UInt(64.W))
  s2Unit := Mux(odd, Cat(bytes(0, 2), behind), Cat(bytes(0, 6), behind(47, 32)))
  private val s2At = RegNext(units)
  private val s2Valid = RegNext(flush || (inHead && index(3, 1).orR), false.B)
  private val s2Whole = RegNext(inHead && !flush && Mux(odd, beat.bytes >= 2.U, beat.bytes >= 6.U))
  private val s2Flush = RegNext(flush, false.B)
  private val s2Types = RegNext(types)
  private val s2Tags = RegNext(tags)

  // ---- Stage 2: what the unit is -----------------------------------------------------------------------------------
  private val head = Reg(new BeatHead)
  private def unit(i: Int): UInt = s2Unit(8 * i + 7, 8 * i)
  when(s2Flush) {
    head.start.tags := s2Tags
    head.start.is4Type := s2Types.ip4
    head.start.is6Type := s2Types.ip6
    head.isPtpType := s2Types.ptp
  }
  head.outerVlan := outerVlan
  head.innerVlan := innerVlan
  private def caught(at: Int): Bool = s2Valid && s2At === at.U
  for (i <- 0 until 5) when(caught(i)) { head.fixed(i) := s2Unit }
  private val hopOptions = Reg(Vec(2, UInt(48.W)))
  when(caught(5)) { hopOptions(0) := s2Unit(63, 16) }
  when(caught(6)) { hopOptions(1) := s2Unit(47, 0) }
  head.hopOptions := DontCare

  // The walk over extension headers
  private val skipping, ended = Reg(Bool())
  private val left = Reg(UInt(4.W)) // units of the header that is passed
  private val passed = Reg(UInt(3.W)) // headers
  private val following = Reg(UInt(8.W)) // the number in the header that is passed
  private val isFragment = head.number === 44.U
  private val isAh = head.number === 51.U
  private val isEights = head.number === 0.U || head.number === 43.U || head.number === 60.U
  private val length = unit(1)
  private val lengthMay =
    Mux(isAh, length(7, 5) === 0.U && !length(0), length(7, 4) === 0.U) || isFragment // would end within 16 units
  private val more = Mux(isFragment, 0.U, Mux(isAh, length(4, 1), length(3, 0))) // units behind the first
  private val isLater = isFragment && Cat(unit(2), unit(3)(7, 3)) =/= 0.U
  private val begins = !skipping && !ended && s2At >= 5.U
  private val may = (isEights || isFragment || isAh) && lengthMay && !passed(2)
  private val ends = s2Whole && Mux(skipping, left === 1.U, begins && may && more === 0.U)
  when(s2Valid) {
    when(s2At < 5.U) {
      head.number := head.ip(6)
      head.later := false.B
      head.hopWhole := false.B
      skipping := false.B
      ended := false.B
      passed := 0.U
    }.otherwise {
      when(skipping) {
        left := left - 1.U
        when(left === 1.U) { skipping := false.B }
      }.elsewhen(!ended) {
        left := more
        following := unit(0)
        skipping := may && more =/= 0.U
        ended := !may || isLater
      }
      when(ends) {
        head.number := Mux(skipping, following, unit(0))
        head.later := !skipping && isLater
        passed := passed + 1.U
        when(passed === 0.U && head.number === 0.U) {
          head.hopWhole := true.B
          head.hopSingle := !skipping
        }
      }
    }
  }

  // The transport header
  private val found = Mux(s2Types.ip6, begins && !may, s2At === head.ip(0)(3, 1) && s2At =/= 0.U)
  private val since = Reg(UInt(2.W)) // bit i: it was found i + 1 units before
  when(s2Valid) {
    since := Cat(since(0), found)
    when(found) { head.place := s2At }
  }
  private val transport = Reg(Vec(2, UInt(64.W)))
  when(s2Valid && found) { transport(0) := s2Unit }
  when(s2Valid && since(0)) { transport(1) := s2Unit }
  when(s2Valid && since(1)) { head.transportEnd := s2Unit(15, 0) }
  head.transport := DontCare

  io.head := head
  io.head.hopOptions := hopOptions.asUInt
  io.head.transport := Cat(transport(1)(47, 0), transport(0))
}
