package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.formal.{Expected, StreamRules}

/** [[Serializer]]: the way out keeps the rules of AXI-Stream, and every cell's bytes come out once and in order.
  *
  * Assumed: a frame's last cell has 1 to 64 bytes. `ready` is free, and so is a reset. A cell's bytes are their numbers with two free
  * bits, which stands for any bytes: the block moves them and looks at none. Nothing is edited (`SerializerSpec` does).
  */
class SerializerChecks(dataBits: Int) extends Module {
  val free = IO(Input(new Bundle {
    val valid, last, ready = Bool()
    val bytes = UInt(6.W)
    val tag = UInt(2.W)
  }))
  private val dut = Module(new Serializer(dataBits))
  private val beatBytes = dataBits / 8
  dut.io.in.valid := free.valid
  dut.io.in.bits.data := Cat((CellBytes - 1 to 0 by -1).map(i => free.tag ## i.U(6.W)))
  dut.io.in.bits.last := free.last
  dut.io.in.bits.first := false.B
  dut.io.in.bits.edit := 0.U.asTypeOf(new CellEdit)
  dut.io.in.bits.bytes := free.bytes +& 1.U
  dut.io.out.ready := free.ready
  StreamRules.keeps("way out", dut.io.out)
  StreamRules.frames("way out", dut.io.out)
  assert(dut.io.room === dut.io.in.ready, "room is told that is not, or the reverse")

  private val full = RegInit(false.B)
  private val ends = Reg(Bool())
  private val tag = Reg(UInt(2.W))
  private val size, sent = Reg(UInt(7.W))
  private val left = size - sent
  private val lastBeat = left <= beatBytes.U
  private val out = dut.io.out
  when(out.fire) {
    sent := sent + beatBytes.U
    when(lastBeat) { full := false.B }
  }
  when(dut.io.in.fire) {
    full := true.B
    ends := free.last
    tag := free.tag
    size := Mux(free.last, free.bytes +& 1.U, CellBytes.U)
    sent := 0.U
  }
  assert(out.valid === full, "a cell is lost, or sent twice")
  when(out.valid) {
    assert(out.bits.last === (ends && lastBeat), "a frame ends at another beat than its last")
    assert(PopCount(out.bits.keep) === Mux(lastBeat, left, beatBytes.U), "keep counts other bytes than the cell has")
    val bytes = Seq.tabulate(beatBytes)(i => out.bits.data(8 * i + 7, 8 * i) === tag ## (sent + i.U)(5, 0))
    val right = bytes.zipWithIndex.map { case (same, i) => i.U >= left || same }.reduce(_ && _)
    assert(right, "a byte of the cell is another one")
    assert(!out.bits.bad, "a frame leaves as bad")
  }
}

/** [[CellGather]]: the cells keep the rules of the handshake, and every frame's bytes come out once and in order, with length and flags.
  *
  * Assumed: beats keep the rules of the handshake; `keep` is free, so that contracts are broken too. A reset is free.
  * A beat's bytes are their numbers within the cell with two free bits, which stands for any bytes.
  */
class GatherChecks(dataBits: Int) extends Module {
  val free = IO(Input(new Bundle {
    val keep = UInt((dataBits / 8).W)
    val tag = UInt(2.W)
    val valid, last, bad, cut, ready = Bool()
  }))
  private class Cell extends Bundle {
    val first, second, last, bad, cut = Bool()
    val lenBytes = UInt(PktLenBits.W)
    val tags = Vec(CellBytes * 8 / dataBits, UInt(2.W)) // of its beats
    val bytes = UInt(7.W)
  }
  private val dut = Module(new CellGather(dataBits, 1600))
  private val beatBytes = dataBits / 8
  private val beats = CellBytes / beatBytes
  private val slot = RegInit(0.U(log2Ceil(beats).max(1).W)) // of the next beat within its cell
  private class Offered extends Bundle {
    val keep = UInt(beatBytes.W)
    val tag = UInt(2.W)
    val last, bad, cut = Bool()
  }
  private val source = Wire(Decoupled(new Offered))
  private val chosen = Wire(new Offered)
  chosen.keep := free.keep
  chosen.tag := free.tag
  chosen.last := free.last
  chosen.bad := free.bad
  chosen.cut := free.cut
  StreamRules.offer(source, free.valid, chosen)
  dut.io.in.valid := source.valid
  private val beat = source.bits
  private val number = if (beats == 1) 0.U else slot
  dut.io.in.bits.data := Cat((beatBytes - 1 to 0 by -1).map(i => beat.tag ## (number * beatBytes.U + i.U)(5, 0)))
  dut.io.in.bits.keep := beat.keep
  dut.io.in.bits.last := beat.last
  dut.io.in.bits.bad := beat.bad
  dut.io.in.bits.user := 0.U(0.W)
  dut.io.cut := source.bits.cut
  source.ready := dut.io.in.ready
  dut.io.out.ready := free.ready
  StreamRules.keeps("cells", dut.io.out)

  // The same by counting: bytes of the frame and of the cell before this beat.
  private val index = RegInit(0.U(2.W))
  private val length = RegInit(0.U(PktLenBits.W))
  private val bad = RegInit(false.B)
  private val tags = Reg(Vec(beats, UInt(2.W)))
  private val legal = Mux(beat.last, beat.keep(0) && (beat.keep & (beat.keep +& 1.U)) === 0.U, beat.keep.andR)
  private val badNow = bad || !legal
  private val sum = length +& Mux(beat.last, PopCount(beat.keep), beatBytes.U)
  private val tagsNow = WireDefault(tags)
  tagsNow(number) := beat.tag
  private val complete = beat.last || number === (beats - 1).U
  private val cell = Wire(new Cell)
  cell.first := index === 0.U
  cell.second := index === 1.U
  cell.last := beat.last
  cell.bad := badNow || beat.bad
  cell.cut := source.bits.cut
  cell.lenBytes := Mux(sum(PktLenBits), Fill(PktLenBits, 1.U(1.W)), sum(PktLenBits - 1, 0))
  cell.tags := tagsNow
  cell.bytes := number * beatBytes.U +& PopCount(beat.keep)
  when(source.fire) {
    slot := Mux(complete, 0.U, slot + 1.U)
    length := Mux(beat.last, 0.U, cell.lenBytes)
    bad := !beat.last && badNow
    tags := tagsNow
    when(complete) { index := Mux(beat.last, 0.U, Mux(index === 2.U, 2.U, index + 1.U)) }
  }
  private val expected = new Expected(new Cell, 2)
  private val out = dut.io.out
  expected.move(source.fire && complete, cell, out.fire)
  private val first = expected.first
  when(out.valid) {
    assert(!expected.empty, "a cell is made up")
    assert(out.bits.first === first.first && out.bits.second === first.second, "a cell has another place in its frame")
    assert(out.bits.last === first.last, "a frame ends with another cell")
    assert(out.bits.cut === first.cut, "another frame is cut")
    assert(out.bits.bad === first.bad || !first.last, "a bad frame counts as good, or a good one as bad")
    // Of a frame whose keep is broken only that it is bad counts.
    assert(out.bits.lenBytes === first.lenBytes || first.bad, "a frame has another length")
    val right = Seq.tabulate(CellBytes) { i =>
      i.U >= first.bytes || out.bits.data(8 * i + 7, 8 * i) === first.tags(i / beatBytes) ## i.U(6.W)
    }
    assert(first.bad || right.reduce(_ && _), "a byte of the cell is another one")
  }
}
