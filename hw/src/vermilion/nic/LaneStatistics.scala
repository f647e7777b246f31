package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats.PktLenBits
import vermilion.stream.Verdict

/** The events of one egress of a lane in one cycle. */
class LaneEvents extends Bundle {
  val verdict = Valid(UInt(Verdict.Bits.W))
  val evicted = UInt(2.W) // frames, by push-outs and flushes, and dropped at departure
  val lost = UInt(4.W) // frames, of all inputs
  val sent = Valid(UInt(PktLenBits.W)) // bytes
  val droppedBytes = UInt((PktLenBits + 4).W)
  val ceWritten = Bool()
  val completion = Bool()
  val ptp = Bool()
}

/** An increment of one of a lane's counters. */
class LaneIncrement extends Bundle {
  val data = UInt(NicParams.StatIncBits.W)
  val index = UInt(log2Ceil(NicParams.StatIds).W)
}

/** Accumulates the events of an egress and sends them as increments.
  *
  * The counters send in order, each in the cycle of its slot ([[EventTotals]]). The next counter follows only when the
  * current one has sent its increment, or has none. So each counter is served, however seldom `out` is ready. Totals hold
  * up to 2^48 - 1.
  *
  * Latency: an event is offered after 4 to 36 cycles if no other increment waits for `out`. Rate: at most one increment
  * per cycle. If `out` is seldom ready: one per ready cycle or one in 16 cycles, whichever is less.
  */
class LaneStatistics extends Module {
  val io = IO(new Bundle {
    val events = Input(new LaneEvents)
    val out = Decoupled(new LaneIncrement)
  })
  private val e = RegNext(io.events, 0.U.asTypeOf(new LaneEvents))
  private def verdict(code: Int): UInt = (e.verdict.valid && e.verdict.bits === code.U).asUInt
  private val amounts = Seq.tabulate(1 << Verdict.Bits)(verdict) ++ Seq(
    e.evicted,
    e.lost,
    e.sent.valid.asUInt,
    Mux(e.sent.valid, e.sent.bits, 0.U),
    e.droppedBytes,
    e.ceWritten.asUInt,
    e.completion.asUInt,
    e.ptp.asUInt
  )
  require(amounts.size == NicParams.StatIds, s"${amounts.size} counters; legal are ${NicParams.StatIds}")
  private val totals = new EventTotals(amounts, LaneStatistics.TotalBits)

  private val most = ((BigInt(1) << NicParams.StatIncBits) - 1).U
  private val due = RegInit(0.U(log2Ceil(NicParams.StatIds).W)) // the counter that sends next
  private val full = RegInit(false.B)
  private val increment = Reg(new LaneIncrement)
  private val handed = Mux((totals.sum >> NicParams.StatIncBits).orR, most, totals.sum(NicParams.StatIncBits - 1, 0))
  private val atSlot = totals.valid && totals.slot === due && (!full || io.out.ready)
  private val gives = atSlot && handed =/= 0.U
  when(io.out.ready) { full := false.B }
  when(atSlot) { due := due + 1.U }
  when(gives) {
    full := true.B
    increment.data := handed
    increment.index := totals.slot
  }
  totals.close(Mux(gives, handed, 0.U))
  io.out.valid := full
  io.out.bits := increment
}

object LaneStatistics {
  val TotalBits = 48
}
