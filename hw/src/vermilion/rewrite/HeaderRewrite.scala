package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
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

/** Writes the DSCP (RFC 2474) and CE (RFC 3168) into a packet's first cell; all other cells pass untouched.
  *
  * CE is written only over ECT(0) or ECT(1): Not-ECT and CE stay what they are. In IPv4 the header checksum follows by RFC 1624, eqn. 3,
  * {{{ HC' = ~(~HC + ~m + m') }}} in ones' complement, m the 16-bit word of version, IHL and TOS: a checksum that was wrong is wrong by as
  * much as before. When nothing changes no byte is touched (eqn. 3 would turn 0xffff into 0). IPv6 has no checksum to mend.
  *
  * Two pipeline stages, a cell a clock. It trusts the descriptor: that an IP header lies at `l3Offset` (14, 18 or 22) was the parser's finding.
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

  private val s1Ready = Wire(Bool())
  private val s1Valid = RegInit(false.B)
  private val s1 = RegEnable(io.in.bits, io.in.fire)
  private val s1Before = RegEnable(before, io.in.fire)
  private val s1After = RegEnable(after, io.in.fire)
  private val s1Ce = RegEnable(ce, io.in.fire)
  private val s1Dscp = RegEnable(isIp && newDscp =/= traffic(7, 2), io.in.fire)
  private val s1Checksum = RegEnable(select(d.l3Offset, at => word(io.in.bits.cell.data, at + 10)), io.in.fire)
  io.in.ready := !s1Valid || s1Ready
  when(io.in.ready) { s1Valid := io.in.valid }

  // ---- Stage 2: the checksum, and both words into place ----------------------------------------------------------
  private def onesAdd(a: UInt, b: UInt): UInt = {
    val sum = a +& b
    sum(15, 0) + sum(16)
  }
  private val s1Changed = s1Ce || s1Dscp
  private val s1NewChecksum = ~onesAdd(onesAdd(~s1Checksum, ~s1Before), s1After)
  private val s1Edited = VecInit(Seq.tabulate(64) { i =>
    val old = s1.cell.data(8 * i + 7, 8 * i)
    Offsets.foldLeft(old) { (byte, at) =>
      val here = s1Changed && s1.descriptor.l3Offset === at.U
      i - at match {
        case 0  => Mux(here, s1After(15, 8), byte)
        case 1  => Mux(here, s1After(7, 0), byte)
        case 10 => Mux(here && s1.descriptor.isIp4, s1NewChecksum(15, 8), byte)
        case 11 => Mux(here && s1.descriptor.isIp4, s1NewChecksum(7, 0), byte)
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
