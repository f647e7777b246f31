package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.parse.{HeaderParser, IpStart}

/** A gathered cell, before the ingress knows whether the cell is stalled. */
class ShownCell(p: LaneParams) extends GatheredCell(p.userBits) {
  val start = new IpStart // valid at `first`
}

object Ingress {

  /** Maximum number of frames with a descriptor that waits, for the parser or for the policy pipeline. A frame takes its place with its first cell. */
  val DescriptorDepth = 16

  /** Free cells that an ingress prefetches, so that waiting for the shared free list's arbiter does not look like an empty list. */
  val CellsAhead = 4

  /** Cells that can wait for their grant after they are assigned a place in the buffer.
    *
    * The only input that cannot be stalled gets its grant at once. If there are several, two cells of each can wait. An input that can be stalled
    * holds its cell before that point.
    */
  def cellsWaiting(p: LaneParams, input: Int): Int = if (!p.stallable(input) && p.stallable.count(!_) > 1) 2 else 0

  /** True if a cell of a frame's head can find neither a grant nor a place to wait. Then its headers are unknown (`FrameEnd.parsed`). */
  def mayMissHead(p: LaneParams, input: Int): Boolean = !p.stallable(input) && cellsWaiting(p, input) > 0

  /** Cycles from a frame's last beat to `lost`. */
  val LostLatency = 1
}

/** Splits the frames of one input into 64-byte cells of the shared buffer, with one record per frame end.
  *
  * A frame is either stored in this way or left out completely. `lost` reports each frame that is left out.
  *
  * The ingress takes a cell from `alloc` for every 64 bytes, or for the rest at tlast. It writes the cell with the link from the previous cell.
  * The first two cells of a frame get a grant even if they cannot be stored: the parser reads them on their way to the buffer ([[IngressArbiter]]).
  * If no cell is free, or the frame exceeds `maxFrameBytes`, the ingress writes no more of the frame and its descriptor says `noBuffer`.
  * Cells taken until then stay in the descriptor (`headCell`, `cells`), and the policy frees them. `cells` = 0: none was taken.
  * A frame with `bad` is written like any other. Ends are output in the order of the frames, each after the last write of its frame.
  *
  * The ingress leaves out a frame, without a cell and without a descriptor, in these cases:
  *   - A reset removed the beginning of the frame (`cut`). Two registers keep their values through a reset and record that a frame was in progress.
  *   - The first cell is complete before `running`, on an input that cannot be stalled.
  *   - All `DescriptorDepth` descriptor places are in use at the first cell, on an input that cannot be stalled.
  *
  * `lost` gives the length of the frame `LostLatency` cycles after its last beat. For a cut frame it counts the bytes after the reset.
  *
  * An input that cannot be stalled always has `ready` = 1. During reset its beats are discarded. If it is the only such input, it always gets its
  * grant in the same cycle. It then takes a grant for every cell, also for one that needs none, so the grant depends on a register only.
  * If there are several such inputs, each can hold two waiting cells. A cell that finds no place is not stored and its frame becomes `noBuffer`.
  * If it was one of the first two cells, `parsed` is false.
  *
  * An input that can be stalled has `ready` = 0 during reset and until `running`. It waits for a descriptor place and for a grant. It also waits
  * for a cell while other inputs take all cells that the free list gives (`cellsLeft`). A [[SkidBuffer]] holds one stalled cell while the beats of
  * the next cell arrive, so `ready` comes from registers.
  *
  * The ingress does not know whether the source was reset too. If it was, the first frame after the reset counts as the rest of the cut frame.
  * At power-up the two registers must be 0, as in an FPGA; otherwise the first frame may be left out.
  *
  * Latency: 1 cycle from a beat to the grant of its cell; 2 for inputs that cannot be stalled if there are several. Rate: one beat per cycle; at
  * 512 bits, one 64-byte frame per cycle.
  */
class Ingress(p: LaneParams, input: Int) extends Module {
  require(input >= 0 && input < p.inputs, s"input is $input; legal are 0 to ${p.inputs - 1}")
  private val canStall = p.stallable(input)

  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new AxisBeat(p.dataBits, p.userBits)))
    val running = Input(Bool()) // rises once after reset: descriptors are accepted from now on
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

  // ---- Beats, and frames cut by a reset -----------------------------------------------------------------------
  private val mayCome = if (canStall) io.running && !reset.asBool else true.B
  io.in.ready := (if (canStall) gather.io.in.ready && mayCome else true.B)
  gather.io.in.valid := io.in.valid && mayCome
  gather.io.in.bits := io.in.bits

  private val open = Reg(Bool()) // between a frame's first and last beat; no reset clears it
  private val cut = Reg(Bool()) // the frame at the input was open at the reset
  private val openNext = Mux(io.in.fire, !io.in.bits.last, open)
  open := openNext
  when(reset.asBool) { cut := openNext }.elsewhen(io.in.fire && io.in.bits.last) { cut := false.B }
  gather.io.cut := cut

  // ---- Frames: a place for the descriptor, or left out ----------------------------------------------------------------
  private val places = RegInit(
    0.U(Ingress.DescriptorDepth.W)
  ) // taken places, as that many ones from bit 0 on: it is known late whether a frame begins
  private val placeFree = !places(Ingress.DescriptorDepth - 1)
  private val leavingOut = Reg(Bool())
  private val stopped = Reg(Bool()) // the rest of this frame is not written

  /** The requests of a cell. */
  private class Asks extends Bundle {
    val leaveOut, store, grant, waits = Bool()
  }
  private def asksOf(cell: ShownCell): Asks = {
    val asks = Wire(new Asks)
    val barred = cell.cut || (if (canStall) false.B else !io.running || !placeFree)
    val wanted = !asks.leaveOut && (cell.first || !stopped) && !cell.tooLong
    val noPlace = if (canStall) cell.first && !placeFree else false.B
    val noCell = if (canStall) wanted && !free.valid && io.cellsLeft else false.B
    asks.leaveOut := Mux(cell.first, barred, leavingOut)
    asks.store := wanted && free.valid
    asks.grant := !asks.leaveOut && (cell.first || cell.second || asks.store)
    asks.waits := noPlace || noCell
    asks
  }
  // Requests of both the held and the arriving cell are computed, because the selection between them is known later.
  private val asks = skid.map(_.io.held).fold(asksOf(gathered.bits)) { held =>
    Mux(held.valid, asksOf(held.bits), asksOf(gathered.bits))
  }
  private val leaveOut = asks.leaveOut
  private val begins = Wire(Bool())
  private val ends = cell.fire && cell.bits.last && !leaveOut
  when(cell.valid) { leavingOut := leaveOut } // a stalled cell gives the same value again
  when(begins =/= io.descriptorTaken) {
    places := Mux(io.descriptorTaken, places >> 1, Cat(places(Ingress.DescriptorDepth - 2, 0), 1.U(1.W)))
  }
  assert(!begins || placeFree, "a frame begins without a place for its descriptor")
  assert(!io.descriptorTaken || places(0), "a descriptor was taken that had no place")
  // A cell of a frame that is left out never stalls: `fire` would only add the grant to this path.
  io.lost.valid := cell.valid && cell.bits.last && leaveOut && !reset.asBool
  assert(!io.lost.valid || cell.ready, "a frame that is left out waits")
  io.lost.bits := cell.bits.lenBytes

  // ---- Cells: take one, link it to the previous one, write it -----------------------------------------------------
  private val headCell = Reg(UInt(p.cellBits.W))
  private val previous = Reg(UInt(p.cellBits.W))
  private val taken = Reg(UInt(p.chainBits.W))

  private val inHead = cell.bits.first || cell.bits.second
  private val noPlace = if (canStall) cell.bits.first && !placeFree else false.B
  private val got = asks.store && passing.ready
  private val takenBefore = Mux(cell.bits.first, 0.U, taken)
  private val takenNow = Mux(got, takenBefore + 1.U, takenBefore)
  private val headNow = Mux(cell.bits.first, free.bits, headCell)
  when(cell.valid && cell.bits.first) { headCell := free.bits } // a stalled first cell writes it in each cycle

  // The grant arrives last, so it enters the logic last. Without a cell, nothing stalls.
  private val waitsAnyway = cell.valid && !leaveOut && asks.waits
  private val needsGrant = cell.valid && asks.grant
  cell.ready := (if (canStall) !(waitsAnyway || (needsGrant && !passing.ready)) else true.B)
  // Equal to the fire condition, less impossible cases: a frame's first cell needs a grant, and a stored cell has a free cell.
  free.ready := cell.valid && got && !noPlace
  assert(free.fire === (cell.fire && got), "a free cell is taken without a cell to store")
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

  passing.valid := cell.valid && ((!canStall && waiting == 0).B || asks.grant) && !asks.waits
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
  if (waiting > 0) when(!io.cell.valid) { io.cell.bits.first := false.B } // an empty queue has no first cell
  if (!canStall && waiting == 0) assert(!passing.valid || passing.ready, "an input that cannot wait got no grant")

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

  // An end is output after all cells of its frame are written. Without a wait queue they already are.
  private val last = finished.io.deq
  private val allWritten =
    if (waiting == 0) true.B
    else {
      val unwritten = RegInit(0.U(log2Ceil(waiting + 1).W)) // stored cells that wait for their grant
      val writes = io.cell.fire && io.cell.bits.stored
      val leaves = unwritten + (passing.fire && passing.bits.stored) - writes
      unwritten := leaves
      // Ends, by how many of these are written before them. A frame that ends is counted one cycle later.
      val (ended, endedAfter) = (RegNext(ends, false.B), RegNext(leaves))
      val endsAfter = Seq.fill(waiting + 1)(RegInit(0.U(log2Ceil(Ingress.DescriptorDepth + 1).W)))
      val known = endsAfter.zipWithIndex.map { case (count, n) => count + (ended && endedAfter === n.U) } :+ 0.U
      for ((count, n) <- endsAfter.zipWithIndex) {
        val come = Mux(writes, known(n + 1), 0.U)
        count := (if (n == 0) known(0) - io.end.fire + come else Mux(writes, known(n + 1), known(n)))
      }
      endsAfter.head =/= 0.U
    }
  if (waiting > 0) assert(!allWritten || last.valid, "a frame's end is written that there is not")
  io.end.valid := (if (waiting == 0) last.valid else allWritten)
  io.end.bits := last.bits
  last.ready := io.end.ready && allWritten
}
