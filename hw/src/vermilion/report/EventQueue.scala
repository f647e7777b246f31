package vermilion.report

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** A queue of events. Those whose cell is written while they wait are `gone`, like those that came so.
  *
  * `deq` tells of the writes up to the cycle before. Rate: one event per cycle. Latency: 1 cycle.
  *
  * @param eventOf the event in an entry
  */
class EventQueue[T <: Data](p: LaneParams, gen: T, entries: Int)(eventOf: T => ReportEvent) extends Module {
  require(isPow2(entries), s"entries is $entries; legal are powers of two")
  val io = IO(new Bundle {
    val enq = Flipped(Decoupled(gen))
    val written = Flipped(Valid(UInt(p.cellBits.W))) // a cell that the buffer writes
    val deq = Decoupled(gen)
  })
  private val queue = Module(new Queue(gen, entries))
  private val cells = Reg(Vec(entries, UInt(p.cellBits.W))) // of these events, and in their order
  private val isGone = Reg(Vec(entries, Bool()))
  private val from, to = RegInit(0.U(log2Ceil(entries).W))

  queue.io.enq <> io.enq
  for (i <- 0 until entries) when(io.written.valid && io.written.bits === cells(i)) { isGone(i) := true.B }
  when(io.enq.fire) {
    val event = eventOf(io.enq.bits)
    cells(to) := event.cell
    isGone(to) := event.gone || EventQueue.isWritten(io.written, event)
    to := to + 1.U
  }
  io.deq <> queue.io.deq
  eventOf(io.deq.bits).gone := isGone(from)
  when(io.deq.fire) { from := from + 1.U }
}

private[report] object EventQueue {

  /** The buffer writes the event's cell in this cycle. */
  def isWritten(written: Valid[UInt], event: ReportEvent): Bool = written.valid && written.bits === event.cell
}
