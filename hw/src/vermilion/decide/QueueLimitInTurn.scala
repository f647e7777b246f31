package vermilion.decide

import chisel3._
import chisel3.util.{Cat, RegEnable}
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams

/** What [[QueueLimit]] says, for requests that are 8 clocks apart or more, of bytes first and of packets a clock later, with one adder for both:
  * {{{
  *   over = left - need < 0,   need = admitted + L - limit
  * }}}
  * Departures may come in every clock, and count from three clocks after it, too: what has left is read so late that the packets' compare
  * is the verdict's clock, and the bytes' the one before.
  * {{{
  *          T-4        T-3                T-2               T-1                T             T+1            T+2
  *   bytes  address    admitted + L       - limit           left is read: <    over          written
  *   packets           address            admitted + 1      - limit            <                            written
  * }}}
  * Timing, with T the verdict's clock: `ahead` in T - [[QueueLimitInTurn.Ahead]]; `request` stands from T - 3 to T, its queue is not looked at; `overBytes`
  * stands from T on, `queued` from T + 1 to T + 5. `ready` is low for two clocks for each of `queues` after reset. `lost` is
  * not looked at: what a contest costs comes as a departure.
  */
class QueueLimitInTurn(p: LaneParams) extends QueueLimiting(p) {
  import QueueLimit.TotalBits
  import QueueLimitInTurn.Ahead
  private class Total extends Bundle {
    val bytes = UInt(TotalBits.W)
    val packets = UInt(TotalBits.W)
  }
  private val sweep = new SweepInit(2 * p.queues)
  io.ready := sweep.done
  private val phases = Seq.iterate(io.ahead.valid, Ahead + 2)(RegNext(_, false.B))
  assert(!io.ahead.valid || !VecInit(phases.tail).asUInt.orR, "a request before the one ahead of it is done")

  /** So many clocks before the verdict's. */
  private def before(clocks: Int): Bool = phases(Ahead - clocks)
  private val queue = RegEnable(io.ahead.bits, io.ahead.valid)

  // -- departures --
  private val left = new ForwardingRam(p.queues, new Total)
  // In the sweep 0 is added to 0, so that nothing chooses behind the adders.
  private val counts = sweep.done && !reset.asBool
  private val departure = Delay(io.departed)
  private val departing = left.read(io.departed.bits.queue)
  private def added(what: UInt, to: UInt): UInt = Delay(Mux(counts, what, 0.U)) +& Mux(sweep.done, to, 0.U)
  private val departed = Wire(new Total)
  departed.bytes := wrap(added(io.departed.bits.lenBytes, departing.bytes), TotalBits)
  departed.packets := wrap(added(1.U, departing.packets), TotalBits)
  private val sweptQueue = sweep.address(p.queueBits - 1, 0)
  left.write(departure.valid || !sweep.done, Mux(sweep.done, departure.bits.queue, sweptQueue), departed)

  // -- what would be admitted, and what that would need to have left: bytes, packets a clock behind them --
  // In block RAM, which is 512 deep anyway.
  private val admitted = SyncReadMem((2 * p.queues).max(512), UInt(TotalBits.W))
  private val total = admitted.read(Mux(io.ahead.valid, Cat(io.ahead.bits, 0.U(1.W)), Cat(queue, 1.U(1.W))))
  private val next = Delay(total + Mux(before(3), io.request.lenBytes, 1.U)) // in T - 2, T - 1
  private val need = Delay(next - Mux(before(2), io.request.limitBytes, io.request.limitPackets)) // in T - 1, T

  // -- the compare --
  private val nowLeft = left.read(queue)
  private val heldLeft = RegEnable(nowLeft, before(1))
  // need - left - 1, whose sign says the same as that of left - need.
  private val missing = wrap(need + (~Mux(before(1), nowLeft.bytes, heldLeft.packets)).asUInt, TotalBits)
  private val short = !missing(TotalBits - 1)
  io.overBytes := RegEnable(short, before(1))
  io.over := io.overBytes || short

  // -- T + 1 and T + 2: admitted; a clock behind the verdict, which comes late --
  private val admitsBytes = RegNext(io.admit, false.B)
  private val admitsPackets = RegNext(admitsBytes, false.B)
  private val row = Cat(queue, admitsPackets)
  when(admitsBytes || admitsPackets || !sweep.done) {
    admitted.write(
      Mux(sweep.done, row, wrap(sweep.address, p.queueBits + 1)),
      Delay(Mux(counts, Delay(next, 2), 0.U))
    )
  }
  private def queued(of: UInt, left: UInt): UInt = wrap(of - left, LenBits)
  io.queued.bytes := queued(RegEnable(total, before(3)), heldLeft.bytes)
  io.queued.packets := queued(RegEnable(total, before(2)), heldLeft.packets)
}

object QueueLimitInTurn {

  /** Clocks from the request's queue to the verdict. */
  val Ahead = 4
}
