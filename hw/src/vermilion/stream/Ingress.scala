package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.{HeaderParser, IpStart}

/** A cell, looked at before it is known whether it waits. */
class ShownCell(p: LaneParams) extends GatheredCell(p.userBits) {
  val start = new IpStart // counts at `first`
}

object Ingress {

  /** Frames whose descriptor may wait, for the parser or for the policy pipeline; each has its place from its first cell on. */
  val DescriptorDepth = 16

  /** Free cells held ready, so that inputs that share one free list do not take its turns for emptiness. */
  val CellsAhead = 4

  /** Cells that may wait for their turn when they have their places in the buffer. An input that cannot be stalled and is alone of its kind has its
    * turn at once. Where there are more of the kind, two of each may wait. An input that can be stalled holds its cell before that.
    */
  def cellsWaiting(p: LaneParams, input: Int): Int = if (!p.stallable(input) && p.stallable.count(!_) > 1) 2 else 0

  /** Can a cell of a frame's head find no turn and no place to wait for one? Then nothing is known of its headers (`FrameEnd.parsed`). */
  def mayMissHead(p: LaneParams, input: Int): Boolean = !p.stallable(input) && cellsWaiting(p, input) > 0

  /** Clocks from a frame's last beat to `lost`. */
  val LostLatency = 1
}

/** One input: frames become 64-byte cells in the shared buffer and one word of their end each, or are left out whole and shown on `lost`.
  *
  * A cell is taken from `alloc` for every 64 bytes, or what remains at tlast, and written with the link from the cell before.
  * A frame's first two cells have a turn even if they cannot be stored, as they are parsed on their way to the buffer ([[IngressArbiter]]).
  * When none is free, or the frame outgrows `maxFrameBytes`, nothing more of that frame is written and its descriptor says `noBuffer`;
  * cells taken until then stay in the descriptor (`headCell`, `cells`) for the policy to free. `cells` = 0: none was taken.
  * A frame with `bad` is written like any other. Ends come in the order of the frames, each after its last write is done.
  *
  * Left out, without a cell and without a descriptor, is a frame
  *   - whose beginning went with a reset, `cut`: two registers outlive the reset and know that a frame was under way;
  *   - that begins (its first cell is complete) before `running`, on an input that cannot be stalled;
  *   - whose first cell finds all `DescriptorDepth` places for descriptors taken, on an input that cannot be stalled.
  *
  * `lost` shows it with its length, `LostLatency` clocks after its last beat; of a cut frame the bytes behind the reset.
  *
  * What cannot be stalled has `ready` = 1 always, in reset too, where beats vanish. Alone of its kind it has its turn in the same clock, always,
  * and takes it with a cell that needs none, too: so who has the turn hangs on nothing but a register.
  * Where there are more of them, two cells of each may wait; one that finds no place to wait is not taken, its frame becomes `noBuffer`, and
  * if it was one of the first two, `parsed` is false. What can be stalled has `ready` = 0 in reset and until `running`, and waits for a
  * place for its descriptor, for its turn, and for a cell while other inputs take all that the free list gives (`cellsLeft`). One cell waits in a
  * [[SkidBuffer]] while the beats of the next come in, so `ready` comes from registers.
  *
  * It does not know whether the source was reset too: then the first frame behind the reset is taken for the rest of the one that was cut.
  * When power comes, the two registers must be 0, as an FPGA's are; else the first frame may be left out.
  *
  * Latency: 1 clock from a beat to its cell's turn; 2 for inputs that cannot be stalled where there are more of the kind. Rate: a beat a clock; at 512 bits a 64-byte frame a clock.
  */
class Ingress(p: LaneParams, input: Int) extends Module {
  require(input >= 0 && input < p.inputs, s"input is $input; legal are 0 to ${p.inputs - 1}")
  private val canStall = p.stallable(input)

  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new AxisBeat(p.dataBits, p.userBits)))
    val running = Input(Bool()) // rises once after reset: descriptors are taken from now on
    val alloc = Flipped(Decoupled(UInt(p.cellBits.W)))
    val cellsLeft = Input(Bool()) // the free list has a cell, for whichever input
    val cell = Decoupled(new IngressCell(p))
    val end = Decoupled(new FrameEnd(p))
    val descriptorTaken = Input(Bool()) // the policy pipeline has taken one of its descriptors
    val lost = Valid(UInt(PktLenBits.W)) // saturating
  })

  private val gather = Module(new CellGather(p.dataBits, p.maxFrameBytes, p.userBits))
  private val free = ShortQueue(io.alloc, Ingress.CellsAhead)
  private val passing = Wire(Decoupled(new IngressCell(p)))
  private val waiting = Ingress.cellsWaiting(p, input)
  private val gathered = Wire(Decoupled(new ShownCell(p)))
  gathered.valid := gather.io.out.valid
  gather.io.out.ready := gathered.ready
  for ((name, field) <- gather.io.out.bits.elements) gathered.bits.elements(name) := field
  gathered.bits.start := {
    if (p.dataBits == CellBytes * 8) RegEnable(IpStart(io.in.bits.data), gather.io.in.fire) // a cell is a beat
    else IpStart(gather.io.out.bits.data)
  }
  private val skid = Option.when(canStall)(Module(new SkidBuffer(new ShownCell(p))))
  skid.foreach(_.io.in <> gathered)
  private val cell = skid.fold(gathered)(_.io.out)

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

  // ---- Frames: a place for the descriptor, or left out ----------------------------------------------------------------
  private val places = RegInit(
    0.U(Ingress.DescriptorDepth.W)
  ) // taken: so many ones from bit 0 on, as who begins is known late
  private val placeFree = !places(Ingress.DescriptorDepth - 1)
  private val leavingOut = Reg(Bool())
  private val stopped = Reg(Bool()) // no more of this frame is written

  /** What a cell asks for. */
  private class Asks extends Bundle {
    val leaveOut, store, turn, waits = Bool()
  }
  private def asksOf(cell: ShownCell): Asks = {
    val asks = Wire(new Asks)
    val barred = cell.cut || (if (canStall) false.B else !io.running || !placeFree)
    val wanted = !asks.leaveOut && (cell.first || !stopped) && !cell.tooLong
    val noPlace = if (canStall) cell.first && !placeFree else false.B
    val noCell = if (canStall) wanted && !free.valid && io.cellsLeft else false.B
    asks.leaveOut := Mux(cell.first, barred, leavingOut)
    asks.store := wanted && free.valid
    asks.turn := !asks.leaveOut && (cell.first || cell.second || asks.store)
    asks.waits := noPlace || noCell
    asks
  }
  // Of the cell that waits and of the one that comes: which of them it is, is known later than what they ask.
  private val asks = skid.map(_.io.held).fold(asksOf(gathered.bits)) { held =>
    Mux(held.valid, asksOf(held.bits), asksOf(gathered.bits))
  }
  private val leaveOut = asks.leaveOut
  private val begins = Wire(Bool())
  private val ends = cell.fire && cell.bits.last && !leaveOut
  when(cell.valid) { leavingOut := leaveOut } // what waits is asked again, and says the same
  when(begins =/= io.descriptorTaken) {
    places := Mux(io.descriptorTaken, places >> 1, Cat(places(Ingress.DescriptorDepth - 2, 0), 1.U(1.W)))
  }
  assert(!begins || placeFree, "a frame begins without a place for its descriptor")
  assert(!io.descriptorTaken || places(0), "a descriptor was taken that had no place")
  // What is left out never waits: `fire` would only bring the wait for a turn into this path.
  io.lost.valid := cell.valid && cell.bits.last && leaveOut && !reset.asBool
  assert(!io.lost.valid || cell.ready, "a frame that is left out waits")
  io.lost.bits := cell.bits.lenBytes

  // ---- Cells: take one, link it to the one before, write it -----------------------------------------------------
  private val headCell = Reg(UInt(p.cellBits.W))
  private val previous = Reg(UInt(p.cellBits.W))
  private val taken = Reg(UInt(p.chainBits.W))

  private val inHead = cell.bits.first || cell.bits.second
  private val noPlace = if (canStall) cell.bits.first && !placeFree else false.B
  private val got = asks.store && passing.ready
  private val takenBefore = Mux(cell.bits.first, 0.U, taken)
  private val takenNow = Mux(got, takenBefore + 1.U, takenBefore)
  private val headNow = Mux(cell.bits.first, free.bits, headCell)
  when(cell.valid && cell.bits.first) { headCell := free.bits } // of one that waits again and again, until it goes

  // The turn is known last, so it is asked last. Where no cell is there, nothing waits.
  private val waitsAnyway = cell.valid && !leaveOut && asks.waits
  private val wantsTurn = cell.valid && asks.turn
  cell.ready := (if (canStall) !(waitsAnyway || (wantsTurn && !passing.ready)) else true.B)
  // The same without what cannot be: a frame's first cell needs a turn, and one that is stored lacks no cell.
  free.ready := cell.valid && got && !noPlace
  assert(free.fire === (cell.fire && got), "a free cell goes without a cell to keep in it")
  begins := cell.valid && cell.bits.first && !leaveOut && !asks.waits && (if (canStall) passing.ready else true.B)
  assert(begins === (cell.fire && cell.bits.first && !leaveOut), "a frame begins without its first cell")
  when(cell.fire) {
    stopped := !got
    taken := takenNow
    when(got) { previous := free.bits }
  }

  private val missedBefore = Reg(Bool())
  private val missed =
    if (Ingress.mayMissHead(p, input)) (!cell.bits.first && missedBefore) || (inHead && !passing.ready) else false.B
  when(cell.fire) { missedBefore := missed }

  passing.valid := cell.valid && ((!canStall && waiting == 0).B || asks.turn) && !asks.waits
  passing.bits.write.cell := free.bits
  passing.bits.write.data := cell.bits.data
  passing.bits.write.hasPrevious := !cell.bits.first
  passing.bits.write.previous := previous
  passing.bits.stored := asks.store
  passing.bits.first := cell.bits.first
  passing.bits.endsHead := (cell.bits.second || (cell.bits.first && cell.bits.last)) && !leaveOut && !missed
  passing.bits.start := cell.bits.start
  passing.bits.headBytes := Mux(
    cell.bits.lenBytes > HeaderParser.HeadBytes.U,
    HeaderParser.HeadBytes.U,
    cell.bits.lenBytes(7, 0)
  )
  io.cell <> (if (waiting == 0) passing else ShortQueue(passing, waiting))
  if (waiting > 0) when(!io.cell.valid) { io.cell.bits.first := false.B } // an empty queue shows no cell
  if (!canStall && waiting == 0) assert(!passing.valid || passing.ready, "an input that cannot wait found no turn")

  // ---- The frame's end -------------------------------------------------------------------------------------------
  private val finished = Module(new Queue(new FrameEnd(p), Ingress.DescriptorDepth))
  finished.io.enq.valid := ends
  finished.io.enq.bits.lenBytes := cell.bits.lenBytes
  finished.io.enq.bits.headCell := headNow
  finished.io.enq.bits.cells := takenNow
  finished.io.enq.bits.bad := cell.bits.bad
  finished.io.enq.bits.noBuffer := !got
  finished.io.enq.bits.user := cell.bits.user
  finished.io.enq.bits.parsed := !missed
  assert(!ends || finished.io.enq.ready, "a frame's end had no place")

  // Not before all its cells are written; those that did not wait are.
  private val last = finished.io.deq
  private val allWritten =
    if (waiting == 0) true.B
    else {
      val unwritten = RegInit(0.U(log2Ceil(waiting + 1).W)) // stored cells that wait for their turn
      val writes = io.cell.fire && io.cell.bits.stored
      val leaves = unwritten + (passing.fire && passing.bits.stored) - writes
      unwritten := leaves
      // Ends, by how many of these are written before them. A frame that ends is counted in the clock behind.
      val (ended, endedBehind) = (RegNext(ends, false.B), RegNext(leaves))
      val behind = Seq.fill(waiting + 1)(RegInit(0.U(log2Ceil(Ingress.DescriptorDepth + 1).W)))
      val known = behind.zipWithIndex.map { case (count, n) => count + (ended && endedBehind === n.U) } :+ 0.U
      for ((count, n) <- behind.zipWithIndex) {
        val come = Mux(writes, known(n + 1), 0.U)
        count := (if (n == 0) known(0) - io.end.fire + come else Mux(writes, known(n + 1), known(n)))
      }
      behind.head =/= 0.U
    }
  if (waiting > 0) assert(!allWritten || last.valid, "a frame's end is written that there is not")
  io.end.valid := (if (waiting == 0) last.valid else allWritten)
  io.end.bits := last.bits
  last.ready := io.end.ready && allWritten
}
