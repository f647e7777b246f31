package vermilion.report

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** An event with its number. */
class NumberedEvent(p: LaneParams) extends Bundle {
  val event = new ReportEvent(p)
  val number = UInt(32.W) // of the events that were offered before it
  val lost = UInt(32.W) // how many of them, or of those before sampling, were lost
}

/** An event with the first bytes of its packet. */
class ReportRecord(p: LaneParams) extends NumberedEvent(p) {
  val hasHead = Bool() // `head` has the packet's bytes
  val head = UInt((CellBytes * 8).W)
}

/** Reads the first cell of each reported packet from the cell buffer, while its bytes are still there.
  *
  * An event waits until its cell passes the buffer's read port: in a cycle that the readers of packets do not need (`request`), or because the packet is
  * just being sent. A packet that is still queued keeps its cells. Those of a packet that was dropped on arrival return to the free list
  * [[ReportHeads.HoldCycles]] cycles later than otherwise. A packet that was dropped at departure has no such time. If its cell, or that of any other event, is written
  * again before it was read, the report has no bytes.
  *
  * [[ReportHeads.Waiting]] events can wait here, and [[ReportHeads.Done]] after it. An event that finds no place is lost. Rate: one event per cycle. Latency: 2 cycles.
  */
class ReportHeads(p: LaneParams) extends Module {
  import ReportHeads._
  val io = IO(new Bundle {
    val in = Flipped(Valid(new ReportEvent(p)))
    val missed = Input(Bool()) // an event was lost before
    val written = Flipped(Valid(UInt(p.cellBits.W))) // a cell that the buffer writes
    val request = Valid(UInt(p.cellBits.W)) // the cell that the read port should read, if nobody else needs it
    val readAddress = Input(UInt(p.cellBits.W)) // what it reads
    val readData = Input(UInt((CellBytes * 8).W)) // what it read in the cycle before
    val out = Decoupled(new ReportRecord(p))
    val counts = Output(new ReportCounts)
  })

  // -- events that wait for their cell --
  private val waiting = Module(new EventQueue(p, new NumberedEvent(p), Waiting)(_.event))
  private val number, lost = RegInit(0.U(32.W))
  waiting.io.written := io.written

  private val enters = waiting.io.enq.fire
  waiting.io.enq.valid := io.in.valid
  waiting.io.enq.bits.event := io.in.bits
  waiting.io.enq.bits.number := number
  waiting.io.enq.bits.lost := lost
  private val lostNow = (io.in.valid && !enters).asUInt +& io.missed
  when(io.in.valid) { number := number + 1.U }
  lost := lost + lostNow

  // -- the first of them --
  private val first = waiting.io.deq
  private val event = first.bits.event
  private val hasNone = event.gone || !event.stored
  private val read = Delay(io.readAddress) === event.cell // the port shows this cell
  private val done = Module(new Queue(new ReportRecord(p), Done))
  io.request.valid := first.valid && !hasNone && !read && done.io.enq.ready
  io.request.bits := event.cell
  done.io.enq.valid := first.valid && (hasNone || read)
  done.io.enq.bits.event := event
  done.io.enq.bits.number := first.bits.number
  done.io.enq.bits.lost := first.bits.lost
  done.io.enq.bits.hasHead := !hasNone
  done.io.enq.bits.head := io.readData
  first.ready := done.io.enq.fire
  io.out <> done.io.deq

  io.counts.offered := io.in.valid
  io.counts.lost := lostNow
  io.counts.limited := false.B // the selector counts these
  io.counts.headless := first.fire && event.gone && event.stored
}

object ReportHeads {

  /** Events that can wait for their cell, and reports that can wait for the stream. */
  val Waiting = 4
  val Done = 16

  /** Cycles for which the cells of a packet that was dropped on arrival are kept. */
  val HoldCycles = 64
}
