package vermilion.parse

import chisel3._
import chisel3.util._
import vermilion.classify._
import vermilion.fixed.Delay
import vermilion.fixed.Formats.CellBytes
import vermilion.stream.Headers

/** A cell on its way to the buffer, as the parser sees it. */
class PassingCell(inputBits: Int) extends Bundle {
  val input = UInt(inputBits.W)
  val data = UInt((CellBytes * 8).W) // byte 0 in bits 7..0
  // Cell 0 of a frame. It may be set while no cell passes: `data` then is cell 0, or its present part, of the newest frame of `input`.
  // That comes only after the cycle in which the previous frame ended its head.
  val first = Bool()
  val endsHead = Bool() // with this cell two cells or the whole frame are present
  val bytes = UInt(8.W) // min(frame length, 128), valid with `endsHead`
  val start = new IpStart // valid with `first`
}

object FrameHeads {

  /** Cycles from the cell that ends a frame's head until its headers can be read, in builds without rules. `waiting` tells it one cycle earlier. */
  val Latency: Int = HeaderParser.Latency + 2
}

/** Parses the heads of all inputs' frames with one parser, and keeps the headers until their frames end.
  *
  * The parser accepts one frame per cycle. The inputs together pass one cell per cycle, so it keeps up with any frame sizes. For each input a memory
  * keeps the first cell of the frame that is being received, from its EtherType on.
  *
  * `waiting(i)`: headers of frames of input i can be read from the next cycle on. `place` is the place of the oldest ones, for `input` = i.
  * `choose` removes these from the waiting ones. `headers` are those at the place `read`. An input may have at most `depth` frames between their
  * first cell and the last cycle in which their headers are read. Each input uses its places as a ring.
  *
  * In builds with rules, the headers go from the parser through a [[vermilion.classify.RuleTable]]. Neither of them ever waits. `choice` is what the rules do with the frame of
  * `headers`, whose DSCP is then the one that they give.
  *
  * Latency: [[FrameHeads.Latency]] cycles from `endsHead` to `headers`, and [[vermilion.classify.RuleTable.Latency]] more in builds with rules.
  *
  * @param rules rules of the table; 0: there is none
  * @param queueBits bits of a queue's number within its egress, for rules
  */
class FrameHeads(inputs: Int, depth: Int, rules: Int = 0, queueBits: Int = 1) extends Module {
  require(depth >= 2 && isPow2(depth), s"depth is $depth; legal are powers of two from 2")
  private val inputBits: Int = log2Ceil(inputs).max(1)

  val io = IO(new Bundle {
    val types = Input(new TtlOptionTypes)
    val cell = Flipped(Valid(new PassingCell(inputBits)))
    val waiting = Output(Vec(inputs, Bool()))
    val input = Input(UInt(inputBits.W))
    val place = Output(UInt((inputBits + log2Ceil(depth)).W))
    val choose = Input(Bool()) // the oldest of `input`
    val read = Input(UInt((inputBits + log2Ceil(depth)).W))
    val headers = Output(new Headers)
  })
  private val table = Option.when(rules > 0)(Module(new RuleTable(rules, queueBits)).suggestName("rules"))

  /** In builds with rules: the host's side, what is counted, and the choice at the place `read`. */
  val host = table.map(_ => IO(new RulePorts(log2Ceil(rules))))
  val counted = table.map(_ => IO(Flipped(Valid(new RuleCount(log2Ceil(rules))))))
  val choice = table.map(_ => IO(Output(new RuleChoice(log2Ceil(rules), queueBits))))

  // ---- The head: its first cell from the memory, its second from the cycle before --------------------------------------
  private val skipped = 12 // bytes: Ethernet addresses
  private class FirstCell extends Bundle {
    val data = UInt(((CellBytes - skipped) * 8).W)
    val start = new IpStart
  }
  private val firstCells = Mem(1 << inputBits, new FirstCell)
  private val cell = io.cell.bits
  private val firstCell = Wire(new FirstCell)
  firstCell.data := cell.data(8 * CellBytes - 1, 8 * skipped)
  firstCell.start := cell.start
  // Whether a cell passes is known late, so it does not gate the write. A first cell that is shown without passing belongs to the frame whose head comes next.
  // It may be incomplete, and is written again when it passes. The previous head has ended by then. Its first cell is read one cycle after that, and the
  // earliest such write takes effect at the end of that cycle. So this read must not be delayed by another register.
  when(cell.first) { firstCells.write(cell.input, firstCell) }
  // For the same reason all registers here load in every cycle. `in.valid` tells which contents are valid.
  // Stored inverted. Otherwise synthesis would merge the address register into the memory.
  private val inputComplement = RegNext(~cell.input)
  private val input = ~inputComplement
  private val parser = Module(new HeaderParser)
  parser.io.types := io.types
  parser.io.in.valid := RegNext(io.cell.valid && cell.endsHead, false.B)
  private val kept = firstCells.read(input)
  parser.io.in.bits.data := Cat(RegNext(cell.data), kept.data, 0.U((8 * skipped).W))
  parser.io.in.bits.start := kept.start
  parser.io.in.bits.bytes := RegNext(cell.bytes)

  // ---- The parsed headers ---------------------------------------------------------------------------------------------
  private val placeBits = log2Ceil(depth)
  private val store = Mem(1 << (inputBits + placeBits), new Headers)
  private val parsed = parser.io.out
  // A frame can be chosen one cycle before its headers can be read.
  private val early = ShiftRegister(parser.io.in.valid, HeaderParser.Latency - 1, false.B, true.B)
  private val earlyInput = ShiftRegister(input, HeaderParser.Latency - 1)
  private val parsedInput = RegNext(earlyInput)
  private val lookup = if (rules == 0) 0 else RuleTable.Latency
  private val soon = ShiftRegister(early, lookup, false.B, true.B)
  private val soonInput = Delay(earlyInput, lookup)
  private val next, oldest = RegInit(VecInit.fill(inputs)(0.U(placeBits.W)))
  private val counts = RegInit(VecInit.fill(inputs)(0.U((placeBits + 1).W)))
  private def of(each: Vec[UInt], input: UInt): UInt = if (inputs == 1) each.head else each(input)
  private val written = Cat(parsedInput, of(next, parsedInput))
  when(parsed.valid) { store.write(written, parsed.bits) }
  for (i <- 0 until inputs) {
    val comes = soon && soonInput === i.U
    val goes = io.choose && io.input === i.U
    when(parsed.valid && parsedInput === i.U) { next(i) := next(i) + 1.U }
    when(goes) { oldest(i) := oldest(i) + 1.U }
    counts(i) := Mux(goes, counts(i) - !comes, counts(i) + comes) // `goes` is known late
    io.waiting(i) := counts(i) =/= 0.U
    assert(!comes || counts(i) =/= depth.U, "parsed headers were lost")
    assert(!goes || counts(i) =/= 0.U, "headers are chosen that are not there")
  }
  io.place := Cat(io.input, of(oldest, io.input))
  io.headers := store.read(io.read)

  // ---- Rules ----------------------------------------------------------------------------------------------------------
  for (table <- table) {
    table.io.host <> host.get
    table.io.counted := counted.get
    table.io.request.valid := parsed.valid
    table.io.request.bits.headers := parsed.bits
    table.io.request.bits.tag := Delay(OuterTag(parser.io.in.bits.data, parser.io.in.bits.bytes), HeaderParser.Latency)
    table.io.request.bits.input := parsedInput.pad(RuleFormats.InputBits)
    val isIp = Delay(parsed.bits.isIp4 || parsed.bits.isIp6, lookup)
    val choices = Mem(1 << (inputBits + placeBits), chiselTypeOf(choice.get))
    when(table.io.answer.valid) {
      choices.write(Delay(written, lookup), RuleChoice(table.io.answer.bits, isIp, Delay(parsed.bits.dscp, lookup)))
    }
    choice.get := choices.read(io.read)
    io.headers.dscp := choice.get.action.dscp.bits
  }
}
