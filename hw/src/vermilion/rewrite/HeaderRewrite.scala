package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.parse.TtlOption
import vermilion.stream.{Descriptor, OutCell}

/** A cell to send and the packet it belongs to. */
class PacketCell(p: LaneParams) extends Bundle {
  val cell = new OutCell
  val descriptor = new Descriptor(p)
}

/** The same, edited; the two flags say what the edit did and are false but on the packet's first cell. */
class EditedCell(p: LaneParams) extends Bundle {
  val cell = new OutCell
  val descriptor = new Descriptor(p)
  val ceWritten = Bool() // ECT(0) or ECT(1) became CE
  val dscpWritten = Bool() // the DSCP got another value
}

/** Writes the DSCP (RFC 2474) and CE (RFC 3168) into a packet's first cell, and pads over a TTL option (docs/ttl-option.md) in its first
  * two; all other cells pass untouched.
  *
  * CE is written only over ECT(0) or ECT(1): Not-ECT and CE stay what they are. In IPv4 the header checksum follows by RFC 1624, eqn. 3,
  * {{{ HC' = ~(~HC + ~m + m') }}} in ones' complement, m the 16-bit word of version, IHL and TOS: a checksum that was wrong is wrong by as
  * much as before. When nothing changes no byte is touched (eqn. 3 would turn 0xffff into 0). IPv6 has no checksum to mend.
  *
  * Padding is four NOPs in IPv4, with the checksum as above, and a PadN of four bytes in IPv6. The IPv4 option always lies in the first cell;
  * that of IPv6 begins 56 to 72 bytes into the frame, so it may lie in the second or across both. Most of its LUTs find the option's bytes.
  *
  * Two pipeline stages, a cell a clock. It trusts the descriptor: that an IP header lies at `l3Offset` (14, 18 or 22), and an option behind it, were the parser's
  * findings.
  */
class HeaderRewrite(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new PacketCell(p)))
    val out = Decoupled(new EditedCell(p))
  })

  private val Offsets = Seq(14, 18, 22)
  private def word(data: UInt, at: Int): UInt = Cat(data(8 * at + 7, 8 * at), data(8 * at + 15, 8 * at + 8))
  private def select(offset: UInt, f: Int => UInt): UInt =
    Mux(offset === Offsets(2).U, f(Offsets(2)), Mux(offset === Offsets(1).U, f(Offsets(1)), f(Offsets(0))))

  // ---- Stage 1: the word of the TOS or traffic class, before and after --------------------------------------------
  private val d = io.in.bits.descriptor
  private val before = select(d.l3Offset, at => word(io.in.bits.cell.data, at))
  private val traffic = Mux(d.isIp6, before(11, 4), before(7, 0))
  private val isIp = io.in.bits.cell.first && (d.isIp4 || d.isIp6)
  private val isEct = traffic(1) ^ traffic(0)
  private val ce = isIp && d.setCe && isEct
  private val newDscp = Mux(isIp && d.setDscp, d.dscp, traffic(7, 2))
  private val newTraffic = Cat(newDscp, traffic(1, 0) | Fill(2, ce))
  private val after = Mux(d.isIp6, Cat(before(15, 12), newTraffic, before(3, 0)), Cat(before(15, 8), newTraffic))

  // The option's first byte, counted from the frame's; two words of the sum of its bytes for the IPv4 checksum.
  private val second = RegInit(false.B)
  when(io.in.fire) { second := io.in.bits.cell.first && !io.in.bits.cell.last }
  private val remove = d.removeOption && (d.isIp4 || d.isIp6) && (io.in.bits.cell.first || second)
  private val optionStart = d.l3Offset +& Mux(d.isIp6, TtlOption.Ip6Start.U, TtlOption.Ip4Start.U) +& d.ttlOptionAt
  // Of a sum it does not matter which word a byte is in, but whether it is the word's upper or lower: so each of four banks of every fourth byte
  // gives the one that it has.
  private val optionAt = (d.l3Offset + (32 - Offsets.head).U + d.ttlOptionAt)(4, 0) // from where the first can begin
  private val optionBytes = Seq.tabulate(4) { bank =>
    val rows = Seq.tabulate(8) { row =>
      val at = Offsets.head + TtlOption.Ip4Start + 4 * row.min(4) + bank
      io.in.bits.cell.data(8 * at + 7, 8 * at)
    }
    VecInit(rows)(optionAt(4, 2) + (bank.U < optionAt(1, 0)))
  }
  private val option = Cat(optionBytes)

  // What of the checksum's sum is known without the new TOS.
  private val checksum = select(d.l3Offset, at => word(io.in.bits.cell.data, at + 10))
  private val pads4 = remove && d.isIp4
  private def ifPads(words: UInt): UInt = Mux(pads4, words, 0.U(16.W))

  private val s1Ready = Wire(Bool())
  private val s1Valid = RegInit(false.B)
  private val s1 = RegEnable(io.in.bits, io.in.fire)
  private val s1After = RegEnable(after, io.in.fire)
  private val s1Ce = RegEnable(ce, io.in.fire)
  private val s1Dscp = RegEnable(isIp && newDscp =/= traffic(7, 2), io.in.fire)
  private val s1HeaderSum = RegEnable((~checksum +& ~before) +& ifPads(0x0202.U), io.in.fire)
  private val s1OptionSum = RegEnable(ifPads(~option(31, 16)) +& ifPads(~option(15, 0)), io.in.fire)
  private val s1Remove = RegEnable(remove, io.in.fire)
  private val s1Start = RegEnable(optionStart, io.in.fire)
  io.in.ready := !s1Valid || s1Ready
  when(io.in.ready) { s1Valid := io.in.valid }

  // ---- Stage 2: the checksum, and both words into place ----------------------------------------------------------
  private val s1Changed = s1Ce || s1Dscp
  private val s1Pads4 = s1Remove && s1.descriptor.isIp4
  private val s1Sum = (s1HeaderSum +& s1OptionSum) +& s1After
  private val s1Folded = s1Sum(15, 0) +& (s1Sum >> 16)
  private val s1FoldedMore = s1Sum(15, 0) + (s1Sum >> 16) + 1.U // chosen where the fold carries
  private val s1NewChecksum = ~Mux(s1Folded(16), s1FoldedMore(15, 0), s1Folded(15, 0))
  private val s1NewSum = s1Changed || s1Pads4

  /** Byte `i` of the cell where it belongs to the option. */
  private def padded(i: Int, byte: UInt): UInt = {
    def startsAt(start: Int): Bool =
      if (start >= HeaderRewrite.FirstStart && start <= HeaderRewrite.LastStart) s1Remove && s1Start === start.U
      else false.B
    val nth = (0 until TtlOption.Bytes).map(n => Mux(s1.cell.first, startsAt(i - n), startsAt(64 + i - n)))
    val pad6 = Mux(nth(0), 1.U(8.W), Mux(nth(1), (TtlOption.Bytes - 2).U(8.W), 0.U(8.W)))
    Mux(VecInit(nth).asUInt.orR, Mux(s1.descriptor.isIp4, 1.U, pad6), byte)
  }
  private val s1Edited = VecInit(Seq.tabulate(64) { i =>
    val old = padded(i, s1.cell.data(8 * i + 7, 8 * i))
    Offsets.foldLeft(old) { (byte, at) =>
      val there = s1.cell.first && s1.descriptor.l3Offset === at.U
      val here = s1Changed && there
      val sumHere = s1NewSum && there && s1.descriptor.isIp4
      i - at match {
        case 0  => Mux(here, s1After(15, 8), byte)
        case 1  => Mux(here, s1After(7, 0), byte)
        case 10 => Mux(sumHere, s1NewChecksum(15, 8), byte)
        case 11 => Mux(sumHere, s1NewChecksum(7, 0), byte)
        case _  => byte
      }
    }
  }).asUInt

  private val s2Valid = RegInit(false.B)
  private val s2 = Reg(new EditedCell(p))
  s1Ready := !s2Valid || io.out.ready
  when(s1Ready) {
    s2Valid := s1Valid
    s2.cell := s1.cell
    s2.cell.data := s1Edited
    s2.descriptor := s1.descriptor
    s2.ceWritten := s1Ce
    s2.dscpWritten := s1Dscp
  }
  io.out.valid := s2Valid
  io.out.bits := s2
}

object HeaderRewrite {

  /** Where a TTL option can begin, in bytes from the frame's first: IPv4 without tags, to IPv6 behind two. */
  val FirstStart: Int = 14 + TtlOption.Ip4Start
  val LastStart: Int = 22 + TtlOption.Ip6Start + TtlOption.Places - 1
}
