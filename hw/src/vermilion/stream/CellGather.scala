package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._

/** Up to 64 bytes of a frame. Bytes past the frame's end are undefined. */
class GatheredCell(userBits: Int) extends Bundle {
  val data = UInt((CellBytes * 8).W)
  val first = Bool() // the frame's cell 0
  val second = Bool() // the frame's cell 1
  val last = Bool()
  val bad = Bool() // valid at last
  val user = UInt(userBits.W) // valid at last
  val cut = Bool() // of a frame that lost its beginning to a reset
  val tooLong = Bool() // lenBytes is over maxFrameBytes
  val lenBytes = UInt(PktLenBits.W) // the frame's bytes up to this cell's end, saturating
}

/** Gathers AXI-Stream beats into 64-byte cells. A frame always begins a new cell.
  *
  * Latency: one cycle from the beat that completes a cell to the cell. Rate: one beat per cycle.
  * An illegal `keep` (a hole, no byte, or not full before the last beat) makes the frame bad.
  * Every beat before the last counts as full, whatever its `keep`.
  * The module flags frames longer than `maxFrameBytes` and drops nothing.
  */
class CellGather(dataBits: Int, maxFrameBytes: Int, userBits: Int = 0) extends Module {
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(new AxisBeat(dataBits, userBits)))
    val cut = Input(Bool()) // accompanies `in`, the same for all beats of a frame
    val inBytes = Output(UInt(log2Ceil(dataBits / 8 + 1).W)) // valid bytes of `in`
    val out = Decoupled(new GatheredCell(userBits))
  })

  private val beatBytes = dataBits / 8
  private val beats = CellBytes / beatBytes
  private val advance = !io.out.valid || io.out.ready
  io.in.ready := advance

  // ---- Bytes of the beat ----------------------------------------------------------------------------------------
  private val beat = io.in.bits
  private val keep = beat.keep
  private val ends = VecInit(Seq.tabulate(beatBytes)(i => keep(i) && (if (i + 1 < beatBytes) !keep(i + 1) else true.B)))
  private val hole = (keep >> 1 & ~keep(beatBytes - 2, 0)).orR || !keep(0)
  private val badKeep = Mux(beat.last, hole, !keep.andR)
  private val bytes = Mux(beat.last, OHToUInt(ends.asUInt) +& 1.U, beatBytes.U)
  io.inBytes := bytes

  // ---- Position in the cell ---------------------------------------------------------------------------------------
  private val slot = RegInit(0.U(log2Ceil(beats).max(1).W))
  private val cellIndex = RegInit(0.U(2.W)) // 0, 1, then 2 for all others
  // Beats of the frame so far, saturating: when the top bit is set, the length is saturated.
  private val beatsBefore = RegInit(0.U((PktLenBits - log2Ceil(beatBytes) + 1).W))
  private val frameBad = RegInit(false.B)

  private val take = io.in.fire
  private val complete = beat.last || slot === (beats - 1).U
  // The byte count of `keep` is known late. All earlier beats are full, so it selects one of two counts, and no adder follows it.
  private val (top, laneBits) = (PktLenBits - log2Ceil(beatBytes), log2Ceil(beatBytes))
  private val beatsWith = Mux(beatsBefore(top), beatsBefore, beatsBefore + 1.U)
  private val whole = Mux(bytes(laneBits), beatsWith, beatsBefore)
  private val lengthNow =
    Mux(whole(top), ((1 << PktLenBits) - 1).U, Cat(whole(top - 1, 0), bytes(laneBits - 1, 0)))
  private val (most, mostOver) = (maxFrameBytes / beatBytes, maxFrameBytes % beatBytes)
  private val badNow = frameBad || badKeep

  private val slots = Reg(Vec(beats, UInt(dataBits.W)))
  private val cell = Reg(new GatheredCell(userBits))
  private val cellValid = RegInit(false.B)
  when(advance) { cellValid := take && complete }
  when(take) {
    if (beats == 1) slots(0) := beat.data else slots(slot) := beat.data
    slot := Mux(complete, 0.U, slot + 1.U)
    beatsBefore := Mux(beat.last, 0.U, beatsWith)
    frameBad := !beat.last && badNow
    when(complete) { cellIndex := Mux(beat.last, 0.U, Mux(cellIndex === 2.U, 2.U, cellIndex + 1.U)) }
    cell.first := cellIndex === 0.U
    cell.second := cellIndex === 1.U
    cell.last := beat.last
    cell.cut := io.cut
    cell.bad := badNow || beat.bad
    cell.user := beat.user
    cell.lenBytes := lengthNow
    cell.tooLong := beatsBefore > most.U || (beatsBefore === most.U && bytes > mostOver.U)
  }
  io.out.valid := cellValid
  io.out.bits := cell
  io.out.bits.data := slots.asUInt
}
