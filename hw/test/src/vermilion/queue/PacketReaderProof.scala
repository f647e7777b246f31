package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.formal.StreamRules
import vermilion.lane.LaneParams

/** [[PacketReader]]: a packet's cells come in the order of its chain, each once, whatever the way out does; then the chain comes back, once.
  *
  * Assumed: queue entries keep the rules of the handshake and have the cells that their length needs. A cell's bytes are its number, which stands
  * for any bytes, and the links are anything, chosen once: a chain that is being read does not change.
  */
class ReaderChecks(p: LaneParams) extends Module {
  val free = IO(Input(new Bundle {
    val valid, ready = Bool()
    val head = UInt(p.cellBits.W)
    val lenBytes = UInt((p.cellBits + 6).W)
    val tag = UInt(2.W)
    val links = Vec(p.cells, UInt(p.cellBits.W))
  }))
  private val dut = Module(new PacketReader(p))
  private val links = RegEnable(free.links, reset.asBool)
  private val offered = Wire(new vermilion.stream.QueueEntry(p))
  private val length = Mux(free.lenBytes === 0.U, 1.U, free.lenBytes)
  offered := 0.U.asTypeOf(offered)
  offered.headCell := free.head
  offered.lenBytes := length
  offered.cells := (length +& (CellBytes - 1).U) >> 6
  offered.arrival := free.tag
  StreamRules.offer(dut.io.packet, free.valid, offered)
  dut.io.reads := true.B
  private val address = Delay(dut.io.readAddress)
  dut.io.readData := address
  dut.io.readLink := links(address)
  private val cell = dut.io.cell
  cell.ready := free.ready
  StreamRules.keeps("cells out", cell)

  // ---- the packet in hand
  private val busy = RegInit(false.B)
  private val packet = Reg(chiselTypeOf(offered))
  private val at = Reg(UInt(p.cellBits.W))
  private val number = Reg(UInt(p.chainBits.W))
  private val last = number === packet.cells - 1.U
  when(cell.fire) {
    at := links(at)
    number := number + 1.U
    when(last) { busy := false.B }
  }
  when(dut.io.packet.fire) {
    busy := true.B
    packet := dut.io.packet.bits
    at := dut.io.packet.bits.headCell
    number := 0.U
  }
  assert(cell.valid === busy, "a cell is lost, or read twice")
  when(cell.valid) {
    val tail = packet.lenBytes(5, 0)
    assert(cell.bits.data === at, "a cell is read that is not the chain's next")
    assert(cell.bits.first === (number === 0.U) && cell.bits.last === last, "a packet begins or ends with another cell")
    assert(
      cell.bits.validBytes === Mux(last && tail =/= 0.U, tail, CellBytes.U),
      "a cell counts other bytes than its packet has"
    )
    assert(cell.bits.queueEntry.asUInt === packet.asUInt, "a cell belongs to another packet")
  }
  assert(dut.io.freed.valid === (cell.fire && last), "a chain does not come back when its last cell is out, or twice")
  assert(
    !dut.io.freed.valid || (dut.io.freed.bits.head === packet.headCell && dut.io.freed.bits.cells === packet.cells),
    "another chain comes back"
  )
  assert(!dut.io.packet.ready || !busy || (last && cell.ready), "a packet is taken while another is read")
  assert(busy || dut.io.packet.ready, "a packet waits though none is read")
}
