package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats.CellBytes
import vermilion.stream.Headers

/** A cell that passes to the buffer, as the parser sees it. */
class PassingCell(inputBits: Int) extends Bundle {
  val input = UInt(inputBits.W)
  val data = UInt((CellBytes * 8).W) // byte 0 in bits 7..0
  // The frame's cell 0. Where no cell passes, too: then that of the newest frame of `input`, shown behind the clock in which the frame before ended its head.
  val first = Bool()
  val endsHead = Bool() // two cells or the whole frame are in with this one
  val bytes = UInt(8.W) // min(frame length, 128), counts at `endsHead`
  val start = new IpStart // counts at `first`
}

object FrameHeads {

  /** Clocks from the cell that ends a frame's head to the clock in which its headers can be read. It is known a clock before that they can. */
  val Latency: Int = HeaderParser.Latency + 2
}

/** The headers of all inputs' frames that wait for their frames' ends, by one parser for all inputs of a lane, which takes a frame a clock.
  *
  * Cells of all inputs pass one a clock, so it keeps up with them, whatever their sizes. Of each input the first cell of the frame that is coming
  * in is kept, from its EtherType on.
  *
  * `waiting(i)`: headers of frames of input i can be read from the next clock on; those of the oldest will stand at `place`, while `input` = i.
  * `choose` removes them from those that wait; `headers` are those at the place `read`. At most `depth` frames an input may be between their
  * first cell and the last clock in which they are read; their places are used in turn.
  *
  * Latency: [[FrameHeads.Latency]] clocks from `endsHead` to `headers`.
  */
class FrameHeads(inputs: Int, depth: Int) extends Module {
  require(depth >= 2 && isPow2(depth), s"depth is $depth; legal are powers of two from 2")
  private val inputBits: Int = log2Ceil(inputs).max(1)

  val io = IO(new Bundle {
    val types = Input(new TtlOptionTypes)
    val cell = Flipped(Valid(new PassingCell(inputBits)))
    val waiting = Output(Vec(inputs, Bool()))
    val input = Input(UInt(inputBits.W))
    val place = Output(UInt((inputBits + log2Ceil(depth)).W))
    val choose = Input(Bool()) // of `input`
    val read = Input(UInt((inputBits + log2Ceil(depth)).W))
    val headers = Output(new Headers)
  })

  // ---- The head: its first cell from the store, its second from the clock before ---------------------------------------
  private val skipped = 12 // bytes: addresses of Ethernet
  private class FirstCell extends Bundle {
    val data = UInt(((CellBytes - skipped) * 8).W)
    val start = new IpStart
  }
  private val firstCells = Mem(1 << inputBits, new FirstCell)
  private val cell = io.cell.bits
  private val firstCell = Wire(new FirstCell)
  firstCell.data := cell.data(8 * CellBytes - 1, 8 * skipped)
  firstCell.start := cell.start
  // Whether a cell passes is known late, and not asked. What is shown as a first cell without passing is that of the frame whose head comes next, or what is
  // there of it; it is written again when it passes. The head before has ended by then, and its first cell is read in the clock behind that, at whose
  // end the earliest such write comes: one register more before this read would be one too many.
  when(cell.first) { firstCells.write(cell.input, firstCell) }
  // For the same reason all registers here load in every clock; `in.valid` says what counts.
  // Inverted, as synthesis would take a register that is an address into the memory.
  private val inputComplement = RegNext(~cell.input)
  private val input = ~inputComplement
  private val parser = Module(new HeaderParser)
  parser.io.types := io.types
  parser.io.in.valid := RegNext(io.cell.valid && cell.endsHead, false.B)
  private val kept = firstCells.read(input)
  parser.io.in.bits.data := Cat(RegNext(cell.data), kept.data, 0.U((8 * skipped).W))
  parser.io.in.bits.start := kept.start
  parser.io.in.bits.bytes := RegNext(cell.bytes)

  // ---- The headers that are there -------------------------------------------------------------------------------------
  private val placeBits = log2Ceil(depth)
  private val store = Mem(1 << (inputBits + placeBits), new Headers)
  private val parsed = parser.io.out
  // A clock before its headers are parsed a frame can be chosen.
  private val soon = ShiftRegister(parser.io.in.valid, HeaderParser.Latency - 1, false.B, true.B)
  private val soonInput = ShiftRegister(input, HeaderParser.Latency - 1)
  private val parsedInput = RegNext(soonInput)
  private val next, oldest = RegInit(VecInit.fill(inputs)(0.U(placeBits.W)))
  private val counts = RegInit(VecInit.fill(inputs)(0.U((placeBits + 1).W)))
  private def of(each: Vec[UInt], input: UInt): UInt = if (inputs == 1) each.head else each(input)
  when(parsed.valid) { store.write(Cat(parsedInput, of(next, parsedInput)), parsed.bits) }
  for (i <- 0 until inputs) {
    val comes = soon && soonInput === i.U
    val goes = io.choose && io.input === i.U
    when(parsed.valid && parsedInput === i.U) { next(i) := next(i) + 1.U }
    when(goes) { oldest(i) := oldest(i) + 1.U }
    counts(i) := Mux(goes, counts(i) - !comes, counts(i) + comes) // who goes is known late
    io.waiting(i) := counts(i) =/= 0.U
    assert(!comes || counts(i) =/= depth.U, "parsed headers were lost")
    assert(!goes || counts(i) =/= 0.U, "headers are chosen that are not there")
  }
  io.place := Cat(io.input, of(oldest, io.input))
  io.headers := store.read(io.read)
}
