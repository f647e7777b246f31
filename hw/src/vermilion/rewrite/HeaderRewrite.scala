package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.TtlOption
import vermilion.stream.{CellEdit, OutCell, QueueEntry, SentCell}

/** A cell to send and the packet it belongs to. */
class PacketCell(p: LaneParams) extends Bundle {
  val cell = new OutCell
  val queueEntry = new QueueEntry(p)
}

/** The same with its edit; the two flags say what that does and are false but on the packet's first cell. */
class EditedCell(p: LaneParams) extends Bundle {
  val cell = new SentCell
  val queueEntry = new QueueEntry(p)
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
  * Two pipeline stages, a cell a clock. The first is the output register of the buffer's UltraRAM, with nothing before it; the second has the words and two sums of them; who reads
  * its output waits for the sum of both, and for its fold. It trusts the queue entry: that an IP header lies at `l3Offset` (14, 18 or 22), and an option behind it, were the
  * parser's findings.
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

  // ---- Stage 1: the cell as it comes, and where in its packet it stands -------------------------------------------
  private val second = RegInit(false.B)
  when(io.in.fire) { second := io.in.bits.cell.first && !io.in.bits.cell.last }
  private val s1Ready = Wire(Bool())
  private val s1Valid = RegInit(false.B)
  private val s1 = RegEnable(io.in.bits, io.in.fire)
  private val s1Head = RegEnable(io.in.bits.cell.first || second, io.in.fire) // one of the first two
  io.empty := !s1Valid
  io.in.ready := io.empty || s1Ready
  // The same the other way round, so that they stay registers of their own: whoever waits for `gap` waits for no net to every bit of a cell.
  private val s1Gap, s2Gap = RegInit(true.B)
  io.gap := s1Gap || s2Gap
  when(io.in.ready) {
    s1Valid := io.in.valid
    s1Gap := !io.in.valid
  }

  // ---- Stage 2: the word of the TOS or traffic class, before and after --------------------------------------------
  private val d = s1.queueEntry
  private def byte(at: Int): UInt = s1.cell.data(8 * at + 7, 8 * at)
  private val before = select(d.l3Offset, at => word(s1.cell.data, at))
  private val traffic = Mux(d.isIp6, before(11, 4), before(7, 0))
  private val isIp = s1.cell.first && (d.isIp4 || d.isIp6)
  private val isEct = traffic(1) ^ traffic(0)
  private val ce = isIp && d.setCe && isEct
  private val newDscp = Mux(isIp && d.setDscp, d.dscp, traffic(7, 2))
  private val newTraffic = Cat(newDscp, traffic(1, 0) | Fill(2, ce))
  private val after = Mux(d.isIp6, Cat(before(15, 12), newTraffic, before(3, 0)), Cat(before(15, 8), newTraffic))
  private val dscpWritten = isIp && newDscp =/= traffic(7, 2)
  private val changed = ce || dscpWritten

  // The option's first byte, counted from the frame's; two words of the sum of its bytes for the IPv4 checksum.
  private val remove = d.removeOption && (d.isIp4 || d.isIp6) && s1Head
  private val optionStart = d.l3Offset +& Mux(d.isIp6, TtlOption.Ip6Start.U, TtlOption.Ip4Start.U) +& d.ttlOptionAt
  // Of a sum it does not matter which word a byte is in, but whether it is the word's upper or lower: so each of four banks of every fourth byte
  // gives the one that it has. The tags move the options by whole rows.
  private val optionBytes = Seq.tabulate(4) { bank =>
    def byteAt(row: Int) = select(d.l3Offset, at => byte(at + TtlOption.Ip4Start + 4 * row + bank))
    val rows = d.ttlOptionAt >> 2
    val row = Mux(rows >= 2.U, 2.U, rows(0) +& (bank.U < d.ttlOptionAt(1, 0)))
    VecInit.tabulate(4)(i => byteAt(i.min(2)))(row)
  }
  private val option = Cat(optionBytes)
  private val checksum = select(d.l3Offset, at => word(s1.cell.data, at + 10))
  private val pads4 = remove && d.isIp4
  private def ifPads(words: UInt): UInt = Mux(pads4, words, 0.U(16.W))

  private val edit = Wire(new CellEdit)
  edit.place := select(d.l3Offset, at => Offsets.indexOf(at).U(2.W))
  edit.setsTraffic := changed
  edit.traffic := after
  edit.setsChecksum := s1.cell.first && (changed || pads4) && d.isIp4
  edit.checksum := DontCare // below
  edit.pads := remove
  edit.isIp4 := d.isIp4
  edit.padStart := Arithmetic.wrap(Mux(s1.cell.first, optionStart, optionStart - CellBytes.U), CellEdit.StartBits)

  private val s2Valid = RegInit(false.B)
  private val s2 = Reg(new EditedCell(p))
  private val s2HeaderSum, s2OptionSum = Reg(UInt(18.W)) // of the checksum's sum, without the new TOS
  s1Ready := !s2Valid || io.out.ready
  when(s1Ready) {
    s2Valid := s1Valid
    s2Gap := !s1Valid
    s2.cell.data := s1.cell.data
    s2.cell.first := s1.cell.first
    s2.cell.last := s1.cell.last
    s2.cell.bytes := s1.cell.bytes
    s2.cell.edit := edit
    s2HeaderSum := (~checksum +& ~before) +& ifPads(0x0202.U)
    s2OptionSum := ifPads(~option(31, 16)) +& ifPads(~option(15, 0))
    s2.queueEntry := d
    s2.ceWritten := ce
    s2.dscpWritten := dscpWritten
  }
  io.out.valid := s2Valid
  io.out.bits := s2
  // Folded twice. The second fold can only add 1, so it chooses.
  private val sum = (s2HeaderSum +& s2OptionSum) +& s2.cell.edit.traffic
  private val folded = sum(15, 0) +& (sum >> 16)
  private val foldedMore = sum(15, 0) + (sum >> 16) + 1.U(16.W)
  io.out.bits.cell.edit.checksum := ~Mux(folded(16), foldedMore(15, 0), folded(15, 0))
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
