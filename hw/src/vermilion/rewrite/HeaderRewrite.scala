package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.TtlOption
import vermilion.stream.{CellEdit, OutCell, QueueEntry, SentCell}

/** A cell to send, and the queue entry of its packet. */
class PacketCell(p: LaneParams) extends Bundle {
  val cell = new OutCell
  val queueEntry = new QueueEntry(p)
}

/** A cell with its edit. The two flags describe the edit; they can be set only with the packet's first cell. */
class EditedCell(p: LaneParams) extends Bundle {
  val cell = new SentCell
  val queueEntry = new QueueEntry(p)
  val ceWritten = Bool() // ECT(0) or ECT(1) became CE
  val dscpWritten = Bool() // the DSCP changed
}

/** Computes the edit of each cell that leaves ([[vermilion.stream.CellEdit]]): DSCP, CE and checksum, and padding over a TTL option.
  *
  * A packet's first cell gets the DSCP (RFC 2474) and CE (RFC 3168). A TTL option (docs/ttl-option.md) is padded in the first two cells.
  * Other cells have no edit. This block passes the bytes unchanged; the edit is applied downstream.
  *
  * CE is written only over ECT(0) or ECT(1); Not-ECT and CE stay. The IPv4 header checksum is updated by RFC 1624, eqn. 3,
  * {{{ HC' = ~(~HC + ~m + m') }}} in ones' complement. m is the 16-bit word of version, IHL and TOS. So a wrong checksum stays wrong by the same amount.
  * If nothing changes, no byte is written (eqn. 3 would turn 0xffff into 0). IPv6 has no header checksum.
  *
  * Padding is four NOPs in IPv4, with the checksum as above, and a PadN of four bytes in IPv6. The IPv4 option is always in the first cell.
  * The IPv6 option begins 56 to 72 bytes into the frame, so it may be in the second cell or across both.
  *
  * Two pipeline stages, one cell per cycle. The first stage is the output register of the buffer's UltraRAM, without logic before it. The second stage holds
  * the words and two partial sums of the checksum. The total and its fold are combinational at the output.
  * The block trusts the queue entry: the parser has found the IP header at `l3Offset` (14, 18 or 22) and the option after it.
  */
class HeaderRewrite(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new PacketCell(p)))
    // the first stage is empty. It comes from a register, and `in.ready` is then high whatever `out` does
    val empty = Output(Bool())
    // a stage is empty. `in.ready` is then high; otherwise it equals `out.ready`
    val gap = Output(Bool())
    val out = Decoupled(new EditedCell(p))
  })

  import CellEdit.Offsets
  private def word(data: UInt, at: Int): UInt = Cat(data(8 * at + 7, 8 * at), data(8 * at + 15, 8 * at + 8))
  private def select(offset: UInt, f: Int => UInt): UInt = // 14, 18 or 22; two bits tell them apart
    Mux(offset(4), Mux(offset(2), f(Offsets(2)), f(Offsets(1))), f(Offsets(0)))

  // ---- Stage 1: the cell at the input, and its position in the packet ---------------------------------------------
  private val second = RegInit(false.B)
  when(io.in.fire) { second := io.in.bits.cell.first && !io.in.bits.cell.last }
  private val s1Ready = Wire(Bool())
  private val s1Valid = RegInit(false.B)
  private val s1 = RegEnable(io.in.bits, io.in.fire)
  private val s1Head = RegEnable(io.in.bits.cell.first || second, io.in.fire) // one of the packet's first two cells
  io.empty := !s1Valid
  io.in.ready := io.empty || s1Ready
  // Inverted copies of the valid flags, in registers of their own. So `gap` does not share the nets that enable every bit of a cell.
  private val s1Gap, s2Gap = RegInit(true.B)
  io.gap := s1Gap || s2Gap
  when(io.in.ready) {
    s1Valid := io.in.valid
    s1Gap := !io.in.valid
  }

  // ---- Stage 2: the word of the TOS or traffic class, old and new -------------------------------------------------
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

  // The option's first byte, counted from the frame's first. For the IPv4 checksum its bytes are summed as two words.
  private val remove = d.removeOption && (d.isIp4 || d.isIp6) && s1Head
  private val optionStart = d.l3Offset +& Mux(d.isIp6, TtlOption.Ip6Start.U, TtlOption.Ip4Start.U) +& d.ttlOptionAt
  // In the sum only the byte's position in its word matters, upper or lower, not which word it is in. So each of four banks (every fourth byte) gives one byte
  // of the option. Tags move the options by whole rows.
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
  edit.checksum := DontCare // computed below
  edit.pads := remove
  edit.isIp4 := d.isIp4
  edit.padStart := Arithmetic.wrap(Mux(s1.cell.first, optionStart, optionStart - CellBytes.U), CellEdit.StartBits)

  private val s2Valid = RegInit(false.B)
  private val s2 = Reg(new EditedCell(p))
  private val s2HeaderSum, s2OptionSum = Reg(UInt(18.W)) // parts of the checksum's sum, without the new TOS
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
  // The sum is folded twice. The second fold can only add 1, so it is a selection.
  private val sum = (s2HeaderSum +& s2OptionSum) +& s2.cell.edit.traffic
  private val folded = sum(15, 0) +& (sum >> 16)
  private val foldedMore = sum(15, 0) + (sum >> 16) + 1.U(16.W)
  io.out.bits.cell.edit.checksum := ~Mux(folded(16), foldedMore(15, 0), folded(15, 0))
}

/** [[HeaderRewrite]] with the edit applied to each whole cell, for testbenches. The lane applies edits beat by beat. */
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
