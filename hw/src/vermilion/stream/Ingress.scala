package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.{FrameHead, HeaderParser, TtlOptionTypes}

object Ingress {

  /** Frames whose meta may wait, for the parser or for the policy pipeline; each has its place from its first cell on. */
  val MetaDepth = 16

  /** Free cells held ready, so that inputs that share one free list do not take its turns for emptiness. */
  val CellsAhead = 4

  /** Cells that may wait for the write port. */
  val WritesAhead = 2

  /** Clocks from a frame's last beat to `lost`. */
  val LostLatency = 2
}

/** One input: frames become 64-byte cells in the shared buffer and one `PacketMeta` each, or are left out whole and shown on `lost`.
  *
  * A cell is taken from `alloc` for every 64 bytes, or what remains at tlast, and written with the link from the cell before.
  * When none is free, or the frame outgrows `maxFrameBytes`, nothing more of that frame is written and its meta says `noBuffer`;
  * cells taken until then stay in the meta (`headCell`, `cells`) for the policy to free. `cells` = 0: none was taken.
  * A frame with `bad` is written like any other. Metas come in the order of the frames, each after its last write is done.
  *
  * Left out, without a cell and without a meta, is a frame
  *   - whose beginning went with a reset, `cut`: two registers outlive the reset and know that a frame was under way;
  *   - that begins (its first cell is complete) before `running`, on an input that cannot be stalled;
  *   - whose first cell finds all `MetaDepth` places for metas taken, on an input that cannot be stalled.
  *
  * `lost` shows it with its length, `LostLatency` clocks after its last beat; of a cut frame the bytes behind the reset.
  *
  * What cannot be stalled has `ready` = 1 always, in reset too, where beats vanish. A cell that finds no place to wait for the write port
  * is not taken, and its frame becomes `noBuffer`. What can be stalled has `ready` = 0 in reset and until `running`, and waits for a
  * place for its meta, for the write port, and for a cell while other inputs take all that the free list gives (`cellsLeft`).
  *
  * It does not know whether the source was reset too: then the first frame behind the reset is taken for the rest of the one that was cut.
  * When power comes, the two registers must be 0, as an FPGA's are; else the first frame may be left out.
  *
  * Latency: 3 clocks from a beat to its cell's write, about 11 from tlast to meta. Rate: a beat a clock; at 512 bits a 64-byte frame a clock.
  */
class Ingress(p: LaneParams, input: Int) extends Module {
  require(input >= 0 && input < p.inputs, s"input is $input; legal are 0 to ${p.inputs - 1}")
  private val canStall = p.stallable(input)

  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new AxisBeat(p.dataBits)))
    val types = Input(new TtlOptionTypes)
    val running = Input(Bool()) // rises once after reset: metas are taken from now on
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val cellsLeft = Input(Bool()) // the free list has a cell, for whichever input
    val write = Decoupled(new CellWrite(p))
    val meta = Decoupled(new PacketMeta(p))
    val lost = Valid(UInt(PktLenBits.W)) // saturating
  })

  /** What is known of a frame at its end; the headers join it later. */
  private class FrameEnd extends Bundle {
    val lenBytes = UInt(PktLenBits.W)
    val headCell = UInt(p.cellBits.W)
    val cells = UInt(p.chainBits.W)
    val bad = Bool()
    val noBuffer = Bool()
  }

  private val gather = Module(new CellGather(p.dataBits))
  private val free = Queue(io.alloc, Ingress.CellsAhead)
  private val writes = Module(new Queue(new CellWrite(p), Ingress.WritesAhead))
  private val cell = gather.io.out

  // ---- Beats, and what a reset leaves of them ------------------------------------------------------------------
  private val mayCome = if (canStall) io.running && !reset.asBool else true.B
  io.in.ready := (if (canStall) gather.io.in.ready && mayCome else true.B)
  gather.io.in.valid := io.in.valid && mayCome
  gather.io.in.bits := io.in.bits

  private val open = Reg(Bool()) // between a frame's first and last beat; no reset clears it
  private val cut = Reg(Bool()) // the frame on the wire was open when the reset came
  private val openNext = Mux(io.in.fire, !io.in.bits.last, open)
  open := openNext
  when(reset.asBool) { cut := openNext }.elsewhen(io.in.fire && io.in.bits.last) { cut := false.B }
  gather.io.cut := cut

  // ---- Frames: a place for the meta, or left out ----------------------------------------------------------------
  private val places = RegInit(0.U(log2Ceil(Ingress.MetaDepth + 1).W)) // taken
  private val placeFree = places =/= Ingress.MetaDepth.U
  private val leavingOut = Reg(Bool())
  private val barred = cell.bits.cut || (if (canStall) false.B else !io.running || !placeFree)
  private val leaveOut = Mux(cell.bits.first, barred, leavingOut)
  private val begins = cell.fire && cell.bits.first && !leaveOut
  private val ends = cell.fire && cell.bits.last && !leaveOut
  when(cell.fire) { leavingOut := leaveOut }
  places := places + begins - io.meta.fire
  io.lost.valid := cell.fire && cell.bits.last && leaveOut && !reset.asBool
  io.lost.bits := cell.bits.lenBytes

  // ---- Cells: take one, link it to the one before, write it -----------------------------------------------------
  private val stopped = Reg(Bool()) // no more of this frame is written
  private val headCell = Reg(UInt(p.cellBits.W))
  private val previous = Reg(UInt(p.cellBits.W))
  private val taken = Reg(UInt(p.chainBits.W))

  private val tooLong = cell.bits.lenBytes > p.maxFrameBytes.U
  private val wanted = !leaveOut && (cell.bits.first || !stopped) && !tooLong
  private val got = wanted && free.valid && writes.io.enq.ready
  private val takenBefore = Mux(cell.bits.first, 0.U, taken)
  private val takenNow = takenBefore + got
  private val headNow = Mux(cell.bits.first, free.bits, headCell)

  private val waits = (cell.bits.first && !placeFree) ||
    (wanted && (!writes.io.enq.ready || (!free.valid && io.cellsLeft)))
  cell.ready := (if (canStall) leaveOut || !waits else true.B)
  free.ready := cell.fire && got
  when(cell.fire) {
    stopped := !got
    headCell := headNow
    taken := takenNow
    when(got) { previous := free.bits }
  }
  writes.io.enq.valid := cell.fire && got
  writes.io.enq.bits.cell := free.bits
  writes.io.enq.bits.data := cell.bits.data
  writes.io.enq.bits.hasPrevious := !cell.bits.first
  writes.io.enq.bits.previous := previous
  io.write <> writes.io.deq

  // ---- The frame's end -------------------------------------------------------------------------------------------
  private val finished = Module(new Queue(new FrameEnd, Ingress.MetaDepth))
  finished.io.enq.valid := ends
  finished.io.enq.bits.lenBytes := cell.bits.lenBytes
  finished.io.enq.bits.headCell := headNow
  finished.io.enq.bits.cells := takenNow
  finished.io.enq.bits.bad := cell.bits.bad
  finished.io.enq.bits.noBuffer := !got
  assert(!ends || finished.io.enq.ready, "a frame's end had no place")

  // ---- Headers: parsed when two cells or the whole frame are in -----------------------------------------------
  private val parser = Module(new HeaderParser)
  private val headers = Module(new Queue(new Headers, Ingress.MetaDepth))
  private val firstCell = RegEnable(cell.bits.data, cell.fire && cell.bits.first)
  private val head = Wire(new FrameHead)
  head.data := Mux(cell.bits.first, cell.bits.data, Cat(cell.bits.data, firstCell))
  head.bytes := Mux(cell.bits.lenBytes > HeaderParser.HeadBytes.U, HeaderParser.HeadBytes.U, cell.bits.lenBytes(7, 0))
  private val parse = cell.fire && !leaveOut && (cell.bits.second || (cell.bits.first && cell.bits.last))
  parser.io.types := io.types
  parser.io.in.valid := RegNext(parse, false.B)
  parser.io.in.bits := RegEnable(head, parse)
  headers.io.enq.valid := parser.io.out.valid
  headers.io.enq.bits := parser.io.out.bits
  assert(!headers.io.enq.valid || headers.io.enq.ready, "parsed headers were lost")

  // ---- Join: end, headers, and all cells written ------------------------------------------------------------------
  private val end = finished.io.deq
  private val written = RegInit(0.U((p.chainBits + log2Ceil(Ingress.MetaDepth)).W)) // cells, from the next meta's on
  written := written + io.write.fire - Mux(io.meta.fire, end.bits.cells, 0.U)
  io.meta.valid := end.valid && headers.io.deq.valid && written >= end.bits.cells
  end.ready := io.meta.fire
  headers.io.deq.ready := io.meta.fire
  io.meta.bits.input := input.U
  io.meta.bits.lenBytes := end.bits.lenBytes
  io.meta.bits.headCell := end.bits.headCell
  io.meta.bits.cells := end.bits.cells
  io.meta.bits.bad := end.bits.bad
  io.meta.bits.noBuffer := end.bits.noBuffer
  io.meta.bits.headers := headers.io.deq.bits
}
