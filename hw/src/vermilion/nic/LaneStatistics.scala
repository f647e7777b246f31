package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats.PktLenBits
import vermilion.stream.Verdict

/** What a lane counts of one of its egresses, for one clock. Bytes go with the bits beside them. */
class LaneEvents extends Bundle {
  val verdict = Valid(UInt(Verdict.Bits.W))
  val evicted = UInt(2.W) // frames, by push-outs and flushes
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

/** Adds up what a lane counts of an egress, and hands it on in increments.
  *
  * Counters ask in turn, each when it is visited ([[EventTotals]]); one that is behind stays until its increment has
  * been taken, so all come to their turn, however seldom `out` is ready. Totals hold 2^48 - 1.
  *
  * Latency: an event is offered after 4 to 36 clocks where nobody waits for `out`. Rate: at best an increment a clock;
  * where `out` is seldom ready, one a readiness or one in 16 clocks, whichever is less.
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
  private val due = RegInit(0.U(log2Ceil(NicParams.StatIds).W)) // who may hand on next
  private val full = RegInit(false.B)
  private val increment = Reg(new LaneIncrement)
  private val handed = Mux((totals.sum >> NicParams.StatIncBits).orR, most, totals.sum(NicParams.StatIncBits - 1, 0))
  private val hasTurn = totals.valid && totals.slot === due && (!full || io.out.ready)
  private val gives = hasTurn && handed =/= 0.U
  when(io.out.ready) { full := false.B }
  when(hasTurn) { due := due + 1.U }
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
