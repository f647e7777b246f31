package vermilion.rewrite

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.formal.StreamRules
import vermilion.lane.LaneParams
import vermilion.parse.TtlOption
import vermilion.stream.QueueEntry

/** [[HeaderRewrite]]: cells come out once, in order and with their packet, whatever the way out does, and no byte changes but those of TOS or
  * traffic class, of an IPv4 checksum and of the TTL option.
  *
  * Assumed: a byte is its number within the cell with two free low bits, which are the ECN field of what is taken for the TOS: where bytes are edited
  * depends on the queue entry alone. Flags and queue entries are free (offsets of 14, 18 or 22), and so is a reset. What the bytes become that may
  * change is the business of `HeaderRewriteSpec`.
  */
class RewriteChecks(p: LaneParams) extends Module {
  val free = IO(Input(new Bundle {
    val valid, ready = Bool()
    val ecn = UInt(2.W)
    val first, last = Bool()
    val bytes = UInt(7.W)
    val isIp4, isIp6, setCe, setDscp, removeOption = Bool()
    val offset = UInt(2.W)
    val dscp = UInt(6.W)
    val optionAt, tag = UInt(4.W)
  }))
  private val dut = Module(new RewrittenCells(p))
  private val offered = Wire(new PacketCell(p))
  offered := 0.U.asTypeOf(offered)
  private val d: QueueEntry = offered.queueEntry
  offered.cell.data := Cat((CellBytes - 1 to 0 by -1).map(i => i.U(6.W) ## free.ecn))
  offered.cell.first := free.first
  offered.cell.last := free.last
  offered.cell.bytes := free.bytes
  d.isIp4 := free.isIp4
  d.isIp6 := free.isIp6 && !free.isIp4
  d.setCe := free.setCe
  d.setDscp := free.setDscp
  d.dscp := free.dscp
  d.removeOption := free.removeOption
  d.ttlOptionAt := Mux(free.optionAt < TtlOption.Places.U, free.optionAt, 0.U)
  d.l3Offset := MuxLookup(free.offset, 14.U(6.W))(Seq(1.U -> 18.U, 2.U -> 22.U))
  d.arrival := free.tag
  dut.io.in.valid := free.valid
  dut.io.in.bits := offered
  dut.io.out.ready := free.ready
  StreamRules.keeps("edited cells", dut.io.out)

  // ---- two places, as they came; whoever can move on does
  private class Place extends Bundle {
    val bits = new PacketCell(p)
    val second = Bool()
  }
  private val second = RegInit(false.B)
  private val arriving = Wire(new Place)
  arriving.bits := dut.io.in.bits
  arriving.second := second && !dut.io.in.bits.cell.first
  when(dut.io.in.fire) { second := dut.io.in.bits.cell.first && !dut.io.in.bits.cell.last }
  private val full1, full2 = RegInit(false.B)
  private val place1, place2 = Reg(new Place)
  private val move2 = !full2 || free.ready
  private val move1 = !full1 || move2
  when(move1) { full1 := dut.io.in.valid }
  when(dut.io.in.fire) { place1 := arriving }
  when(move2) {
    full2 := full1
    place2 := place1
  }
  assert(dut.io.in.ready === move1, "a cell waits though there is room, or is taken without")
  assert(dut.io.out.valid === full2, "a cell is lost, or comes out twice")

  private val out = dut.io.out.bits
  private val was = place2.bits
  private val of = was.queueEntry
  private val isIp = of.isIp4 || of.isIp6
  private val start = of.l3Offset +& Mux(of.isIp6, TtlOption.Ip6Start.U, TtlOption.Ip4Start.U) +& of.ttlOptionAt
  private val same = Seq.tabulate(CellBytes) { i =>
    val inTraffic = was.cell.first && (of.setCe || of.setDscp) && (i.U === of.l3Offset || i.U === of.l3Offset + 1.U)
    val inChecksum = was.cell.first && of.isIp4 && (i.U === of.l3Offset + 10.U || i.U === of.l3Offset + 11.U)
    def optionHere(at: Int) = start <= at.U && at.U < start + TtlOption.Bytes.U
    val inOption =
      of.removeOption && ((was.cell.first && optionHere(i)) || (place2.second && optionHere(CellBytes + i)))
    val edits = of.setCe || of.setDscp || of.removeOption
    val mayChange = isIp && edits && (inTraffic || inChecksum || inOption)
    mayChange || out.cell.data(8 * i + 7, 8 * i) === was.cell.data(8 * i + 7, 8 * i)
  }
  when(dut.io.out.valid) {
    assert(
      out.cell.first === was.cell.first && out.cell.last === was.cell.last,
      "a packet begins or ends with another cell"
    )
    assert(out.cell.bytes === was.cell.bytes && out.queueEntry.asUInt === of.asUInt, "a cell belongs to another packet")
    assert(same.reduce(_ && _), "a byte changes that is not to be edited")
    assert(
      !(out.ceWritten || out.dscpWritten) || (was.cell.first && isIp),
      "an edit is told of a cell that has no IP header"
    )
  }
}
