package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.{FrameHead, HeaderParser}

object Ingress {

  /** Frames whose meta may wait, for the parser or for the policy pipeline. */
  val MetaDepth = 16

  /** Free cells held ready, so that inputs that share one free list do not take its turns for emptiness. */
  val CellsAhead = 4
}

/** One input: frames become 64-byte cells in the shared buffer and one `PacketMeta` each.
  *
  * A cell is taken from `alloc` for every 64 bytes, or what remains at tlast, and written at once with the link from the cell before.
  * When none is free, or the frame outgrows `maxFrameBytes`, nothing more of that frame is written and its meta says `noBuffer`;
  * cells taken until then stay in the meta (`headCell`, `cells`) for the policy to free. `cells` = 0: none was taken.
  * A frame with `bad` is written like any other. Every frame gets exactly one meta, in order, and never before its last write is done.
  *
  * `canStall` = false ties `in.ready` to 1 and relies on `write` and `meta` being taken at once (one input only; an assertion watches).
  * With `canStall` = true `in.ready` falls only while `write` or `meta` is held back long enough to fill the small queues here.
  *
  * It does not remember a reset: what is left of a frame that a reset cut comes as a frame of its own. The first `CellsAhead` clocks after
  * reset with several inputs at full rate may find no cell held ready.
  *
  * Latency: 3 clocks from a beat to its cell's write, about 11 from tlast to meta. Rate: a beat a clock; at 512 bits a 64-byte frame a clock.
  */
class Ingress(p: LaneParams, input: Int, canStall: Boolean) extends Module {
  require(input >= 0 && input < p.inputs, s"input is $input; legal are 0 to ${p.inputs - 1}")

  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new AxisBeat(p.dataBits)))
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val write = Decoupled(new CellWrite(p))
    val meta = Decoupled(new PacketMeta(p))
  })

  /** What is known of a frame at its end; the headers join it later. */
  private class FrameEnd extends Bundle {
    val lenBytes = UInt(PktLenBits.W)
    val headCell = UInt(p.cellBits.W)
    val cells = UInt(p.chainBits.W)
    val bad = Bool()
    val noBuffer = Bool()
  }

  /** A cell on its way to the buffer (or not), and the frame's end with it. */
  private class Step extends Bundle {
    val hasWrite = Bool()
    val write = new CellWrite(p)
    val isEnd = Bool()
    val end = new FrameEnd
  }

  private val gather = Module(new CellGather(p.dataBits))
  private val free = Queue(io.alloc, Ingress.CellsAhead)
  private val steps = Module(new Queue(new Step, 2))
  private val cell = gather.io.out

  gather.io.in.valid := io.in.valid
  gather.io.in.bits := io.in.bits
  io.in.ready := (if (canStall) gather.io.in.ready else true.B)
  assert(
    !io.in.valid || gather.io.in.ready || canStall.B,
    "a beat was lost: write or meta was held back without canStall"
  )

  // ---- Cells: take one, link it to the one before ---------------------------------------------------------------
  private val stopped = Reg(Bool()) // no more of this frame is written
  private val headCell = Reg(UInt(p.cellBits.W))
  private val previous = Reg(UInt(p.cellBits.W))
  private val taken = Reg(UInt(p.chainBits.W))

  private val tooLong = cell.bits.lenBytes > p.maxFrameBytes.U
  private val wanted = (cell.bits.first || !stopped) && !tooLong
  private val got = wanted && free.valid
  private val takenBefore = Mux(cell.bits.first, 0.U, taken)
  private val takenNow = takenBefore + got
  private val headNow = Mux(cell.bits.first, free.bits, headCell)

  cell.ready := steps.io.enq.ready
  free.ready := cell.fire && wanted
  when(cell.fire) {
    stopped := !got
    headCell := headNow
    taken := takenNow
    when(got) { previous := free.bits }
  }

  steps.io.enq.valid := cell.valid && (got || cell.bits.last)
  steps.io.enq.bits.hasWrite := got
  steps.io.enq.bits.write.cell := free.bits
  steps.io.enq.bits.write.data := cell.bits.data
  steps.io.enq.bits.write.hasPrevious := !cell.bits.first
  steps.io.enq.bits.write.previous := previous
  steps.io.enq.bits.isEnd := cell.bits.last
  steps.io.enq.bits.end.lenBytes := cell.bits.lenBytes
  steps.io.enq.bits.end.headCell := headNow
  steps.io.enq.bits.end.cells := takenNow
  steps.io.enq.bits.end.bad := cell.bits.bad
  steps.io.enq.bits.end.noBuffer := !got

  // ---- Write, and let the frame's end follow -------------------------------------------------------------------
  private val ends = Module(new Queue(new FrameEnd, Ingress.MetaDepth))
  private val step = steps.io.deq
  private val endRoom = !step.bits.isEnd || ends.io.enq.ready
  io.write.valid := step.valid && step.bits.hasWrite && endRoom
  io.write.bits := step.bits.write
  step.ready := endRoom && (io.write.ready || !step.bits.hasWrite)
  ends.io.enq.valid := step.fire && step.bits.isEnd
  ends.io.enq.bits := step.bits.end

  // ---- Headers: parsed when two cells or the whole frame are in -----------------------------------------------
  // Frames in front of the join: those in `ends`, two in `steps`, one still coming.
  private val parser = Module(new HeaderParser)
  private val headers = Module(new Queue(new Headers, Ingress.MetaDepth + 3))
  private val firstCell = RegEnable(cell.bits.data, cell.fire && cell.bits.first)
  private val head = Wire(new FrameHead)
  head.data := Mux(cell.bits.first, cell.bits.data, Cat(cell.bits.data, firstCell))
  head.bytes := Mux(cell.bits.lenBytes > HeaderParser.HeadBytes.U, HeaderParser.HeadBytes.U, cell.bits.lenBytes(7, 0))
  private val parse = cell.fire && (cell.bits.second || (cell.bits.first && cell.bits.last))
  parser.io.in.valid := RegNext(parse, false.B)
  parser.io.in.bits := RegEnable(head, parse)
  headers.io.enq.valid := parser.io.out.valid
  headers.io.enq.bits := parser.io.out.bits
  assert(!headers.io.enq.valid || headers.io.enq.ready, "parsed headers were lost")

  // ---- Join -----------------------------------------------------------------------------------------------------
  private val end = ends.io.deq
  io.meta.valid := end.valid && headers.io.deq.valid
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
