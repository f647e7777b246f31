package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.TtlOption
import vermilion.stream.{CellEdit, Descriptor, OutCell, SentCell}

/** A cell to send and the packet it belongs to. */
class PacketCell(p: LaneParams) extends Bundle {
  val cell = new OutCell
  val descriptor = new Descriptor(p)
}

/** The same with its edit; the two flags say what that does and are false but on the packet's first cell. */
class EditedCell(p: LaneParams) extends Bundle {
  val cell = new SentCell
  val descriptor = new Descriptor(p)
  val ceWritten = Bool() // ECT(0) or ECT(1) became CE
  val dscpWritten = Bool() // the DSCP got another value
}

/** Finds what is to be written over a cell when it leaves ([[CellEdit]]): the DSCP (RFC 2474) and CE (RFC 3168) in a packet's first, and
  * padding over a TTL option (docs/ttl-option.md) in its first two. All other cells have nothing to edit. The bytes themselves pass.
  *
  * CE is written only over ECT(0) or ECT(1): Not-ECT and CE stay what they are. In IPv4 the header checksum follows by RFC 1624, eqn. 3,
  * {{{ HC' = ~(~HC + ~m + m') }}} in ones' complement, m the 16-bit word of version, IHL and TOS: a checksum that was wrong is wrong by as
  * much as before. When nothing changes no byte is touched (eqn. 3 would turn 0xffff into 0). IPv6 has no checksum to mend.
  *
  * Padding is four NOPs in IPv4, with the checksum as above, and a PadN of four bytes in IPv6. The IPv4 option always lies in the first cell;
  * that of IPv6 begins 56 to 72 bytes into the frame, so it may lie in the second or across both.
  *
  * Two pipeline stages, a cell a clock. It trusts the descriptor: that an IP header lies at `l3Offset` (14, 18 or 22), and an option behind it, were the parser's
  * findings.
  */
class HeaderRewrite(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new PacketCell(p)))
    val empty = Output(Bool()) // its first stage is: a register, with which `in.ready` is high whatever `out` does
    val gap = Output(Bool()) // one of its stages is empty; `in.ready` is high then, and else as `out.ready`
    val out = Decoupled(new EditedCell(p))
  })

  import CellEdit.Offsets
  private def word(data: UInt, at: Int): UInt = Cat(data(8 * at + 7, 8 * at), data(8 * at + 15, 8 * at + 8))
  private def select(offset: UInt, f: Int => UInt): UInt = // 14, 18 or 22, told apart by two bits
    Mux(offset(4), Mux(offset(2), f(Offsets(2)), f(Offsets(1))), f(Offsets(0)))

  // ---- Stage 1: the word of the TOS or traffic class, before and after --------------------------------------------
  private val d = io.in.bits.descriptor
  private def byte(at: Int): UInt = io.in.bits.cell.data(8 * at + 7, 8 * at)
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
  // gives the one that it has. The tags move the options by whole rows.
  private val optionBytes = Seq.tabulate(4) { bank =>
    def byteAt(row: Int) = select(d.l3Offset, at => byte(at + TtlOption.Ip4Start + 4 * row + bank))
    val row =
      VecInit.tabulate(1 << d.ttlOptionAt.getWidth)(at => (at / 4 + (if (bank < at % 4) 1 else 0)).min(2).U(2.W))
    VecInit.tabulate(4)(i => byteAt(i.min(2)))(row(d.ttlOptionAt))
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
  private val s1OptionWords = RegEnable(VecInit(ifPads(~option(31, 16)), ifPads(~option(15, 0))), io.in.fire)
  private val s1Remove = RegEnable(remove, io.in.fire)
  private val s1Start = RegEnable(optionStart, io.in.fire)
  io.empty := !s1Valid
  io.in.ready := io.empty || s1Ready
  // The same the other way round, so that they stay registers of their own: whoever waits for `gap` waits for no net to every bit of a cell.
  private val s1Gap, s2Gap = RegInit(true.B)
  io.gap := s1Gap || s2Gap
  when(io.in.ready) {
    s1Valid := io.in.valid
    s1Gap := !io.in.valid
  }

  // ---- Stage 2: the checksum, and where the words belong ---------------------------------------------------------
  private val s1Changed = s1Ce || s1Dscp
  private val s1Pads4 = s1Remove && s1.descriptor.isIp4
  private val s1Sum = (s1HeaderSum +& s1After) +& (s1OptionWords(0) +& s1OptionWords(1))
  private val s1Folded = s1Sum(15, 0) +& (s1Sum >> 16)
  private val s1NewSum = s1Changed || s1Pads4

  private val edit = Wire(new CellEdit)
  edit.place := select(s1.descriptor.l3Offset, at => Offsets.indexOf(at).U(2.W))
  edit.setsTraffic := s1Changed
  edit.traffic := s1After
  edit.setsChecksum := s1.cell.first && s1NewSum && s1.descriptor.isIp4
  edit.checksum := s1Folded(15, 0)
  edit.pads := s1Remove
  edit.isIp4 := s1.descriptor.isIp4
  edit.padStart := Arithmetic.wrap(Mux(s1.cell.first, s1Start, s1Start - CellBytes.U), CellEdit.StartBits)

  private val s2Valid = RegInit(false.B)
  private val s2 = Reg(new EditedCell(p))
  private val s2Carries = Reg(Bool()) // the fold; a second cannot
  s1Ready := !s2Valid || io.out.ready
  when(s1Ready) {
    s2Valid := s1Valid
    s2Gap := !s1Valid
    s2.cell.data := s1.cell.data
    s2.cell.first := s1.cell.first
    s2.cell.last := s1.cell.last
    s2.cell.bytes := s1.cell.bytes
    s2.cell.edit := edit
    s2Carries := s1Folded(16)
    s2.descriptor := s1.descriptor
    s2.ceWritten := s1Ce
    s2.dscpWritten := s1Dscp
  }
  io.out.valid := s2Valid
  io.out.bits := s2
  io.out.bits.cell.edit.checksum := ~(s2.cell.edit.checksum + s2Carries)
}

/** [[HeaderRewrite]] with each cell's bytes edited at once, as benches see it; the lane edits them beat by beat. */
class RewrittenCells(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new PacketCell(p)))
    val out = Decoupled(new EditedCell(p))
  })
  private val rewrite = Module(new HeaderRewrite(p))
  rewrite.io.in <> io.in
  io.out <> rewrite.io.out
  private val cell = rewrite.io.out.bits.cell
  io.out.bits.cell.data := cell.edit(cell.data, 0.U)
}
