package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats.LenBits
import vermilion.lane.LaneParams

/** Settings of a queue's CoDel. Times are in units of 1,024 ns. */
class CodelSettings extends Bundle {
  val on = Bool() // if low, every packet passes
  val target, interval = UInt(CodelUnit.TimeBits.W)
  val ceThreshold = UInt(CodelUnit.TimeBits.W) // marks what waited longer; 2^31 - 1: nothing
  val mtu = UInt(LenBits.W) // bytes: no drop and no mark while no more are queued behind the packet
  val ecn = Bool() // mark instead of drop
  val ceMask, ceSelector = UInt(8.W) // `ceThreshold` applies if (DS field & ceMask) is ceSelector, or if ceMask is 0
}

/** The settings of a queue's CoDel, and a bit that restarts it. */
class CodelConfig extends Bundle {
  val settings = new CodelSettings
  val restarts =
    Bool() // if it is not what [[KnownRestart]] told last (low after a reset), the queue's state starts anew
}

/** A packet has started its queue's state anew, or has found nothing to start: `restarts` of the settings that it had. */
class KnownRestart(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val restarts = Bool()
}

/** A packet at the head of its queue, which may leave. */
class HeadRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val now, enqueued = UInt(CodelUnit.TimeBits.W) // unit: 1,024 ns
  val dsField = UInt(8.W) // DSCP and ECN
  val isIp = Bool()
}

/** Ports of a block that decides about the packet at the head of a queue. */
class HeadVerdictPorts(p: LaneParams) extends Bundle {
  val request = Flipped(Valid(new HeadRequest(p)))
  val config = Input(new CodelConfig) // one cycle after the request
  val backlog = Input(UInt(LenBits.W)) // bytes in its queue behind it; one cycle after the request
  val drop, mark = Output(Bool()) // at most one is high
  val dueAgain = Output(Bool()) // with `drop`: another drop may be due at once
  val known = Valid(new KnownRestart(p))
  val busy = Output(
    Bool()
  ) // a queue is not settled by a request that is past stage 1: the next verdicts depend on the cycles that pass
  val ready = Output(Bool())
}

/** A block that decides about the packet at the head of a queue, [[CodelUnit.Latency]] cycles after the request. */
abstract class HeadVerdict(p: LaneParams) extends Module {
  val io: HeadVerdictPorts

  /** It stands for all verdicts, in a proof: a packet may be marked for any reason. */
  def isAny: Boolean = false
}

/** Decides by CoDel (RFC 8289) whether the packet at the head of a queue passes, is marked CE or is dropped. One packet per cycle, of any queues.
  *
  * The algorithm, its state and its arithmetic are those of `sim/model/codel.h`, which is bit-exact. If each decision finds its queue settled, verdicts and
  * state are those of Linux's code.
  *
  * What a decision needs is compared in one cycle with state that is ready ("loop"), so packets of one queue may follow back to back:
  * {{{
  *   may   the sojourn time has been at the target or above for an interval: now > mayDropAt
  *   due   now >= next drop
  * }}}
  * A drop or a mark changes `count`. The new inverse square root and the new interval take a pipeline of multipliers; [[CodelUnit.Settles]] cycles after
  * its request a decision of the same queue sees them. A queue is not settled until then, and drops and marks nothing by its count.
  * So a queue drops or marks at most one packet in that many cycles: 17.9 million per second at 250 MHz. A scheduler that chooses the queue again before
  * it is settled lets a packet pass that Linux would drop.
  * `dueAgain` tells that this may happen: the packet is dropped half of the present interval or more after the time at which the drop was due.
  * `known` is what the loop knows of `restarts` from the next cycle on.
  * A packet that is flushed must be a request with a backlog of 0. No request may come while `ready` is low.
  *
  * {{{
  *   stage 0 request   1 settings; sojourn time   2 loop   3 result
  *   change: 3 operands   4 count   5-8 count y y   9-12 new y   13-14 interval y, and its own y y   written to the RAM
  * }}}
  * RAM | written by | holds
  * --- | --- | ---
  * fast | loop | phase, mayDropAt, whether the next drop is `step` after `base`
  * slow | change | count, lastCount, inverse square root y, y y, `base`, `step` = interval y
  *
  * Each has a bit that changes with each change of `count`; the queue is settled while the two are equal. `config` and `backlog` are those of the
  * request's queue, one cycle after the request. `ready` is low for `queues` cycles after a reset. Latency: [[CodelUnit.Latency]] cycles.
  */
class CodelUnit(p: LaneParams) extends HeadVerdict(p) {
  import CodelUnit._

  val io = IO(new HeadVerdictPorts(p))

  private class Fast extends Bundle {
    val phase = Phase()
    val later = Bool() // the next drop is at base + step, not at base
    val isAbove = Bool()
    val mayDropAt = UInt(TimeBits.W)
    val isFresh = Bool() // no drop and no mark since the last restart
    val changes = Bool()
    val restarts = Bool()
  }
  private class Slow extends Bundle {
    val count, lastCount = UInt(CountBits.W)
    val y = UInt(RootBits.W)
    val square = UInt((2 * RootBits).W) // y y, U0.32
    val base, step = UInt(TimeBits.W)
    val changes = Bool()
  }
  private val sweep = new SweepInit(p.queues)
  private val fast = new ForwardingRam(p.queues, new Fast).suggestName("fast")
  private val slow = new ForwardingRam(p.queues, new Slow).suggestName("slow")
  io.ready := sweep.done

  /** True if `a` is later than `b`, by less than half of the range. */
  private def after(a: UInt, b: UInt): Bool = a =/= b && Arithmetic.reached(a, b)

  // -- stage 1 --
  private val s1Valid = RegNext(io.request.valid, false.B)
  private val s1 = Delay(io.request.bits)
  private val s1Sojourn = Delay(io.request.bits.now - io.request.bits.enqueued)
  private val s1Config = io.config.settings
  private val s1Ect = s1.isIp && s1.dsField(1, 0) =/= 0.U
  private val s1Selected = s1Config.ceMask === 0.U || (s1.dsField & s1Config.ceMask) === s1Config.ceSelector
  private val s1High = !after(s1Config.target, s1Sojourn) && io.backlog > s1Config.mtu

  // -- stage 2: the loop --
  private val s2Valid = RegNext(s1Valid && s1Config.on, false.B)
  private val s2 = Delay(s1)
  private val s2High = Delay(s1High)
  private val s2Marks = Delay(s1Config.ecn && s1Ect)
  private val s2OverThreshold = Delay(
    s1Ect && s1Selected && !s1Sojourn(TimeBits - 1) && after(s1Sojourn, s1Config.ceThreshold)
  )
  private val s2Interval = Delay(s1Config.interval)
  private val s2MayDropAt = Delay(s1.now + s1Config.interval)
  private val s2Restarts = Delay(io.config.restarts)
  private val changed = Wire(new Fast)
  private val s1Again = s2Valid && s2.queue === s1.queue
  private val known = fast.read(io.request.bits.queue)
  private val last = Mux(s1Again, changed, known)
  private val restarted = WireDefault(last)
  when(Mux(s1Again, s2Restarts, known.restarts) =/= io.config.restarts) {
    restarted.phase := Phase.Below
    restarted.isAbove := false.B
    restarted.isFresh := true.B
  }
  private val held = Delay(restarted)
  private val old = Delay(slow.read(io.request.bits.queue))

  private val isSettled = held.changes === old.changes
  private val isLater = held.later || held.phase === Phase.Dropped
  private val next =
    old.base + Mux(isLater, old.step, 0.U) // the next drop; in phase Dropped, if the packet may be dropped
  private val late = next + (old.step >> 1) // another drop is not due earlier
  private val may = s2High && held.isAbove && after(s2.now, held.mayDropAt)
  private val isDropping = held.phase === Phase.Dropping || held.phase === Phase.Dropped
  private val enters = held.phase === Phase.Below && may && isSettled
  private val continues = isDropping && may && isSettled && Arithmetic.reached(s2.now, next)
  private val wants = enters || continues
  changed.isAbove := s2High
  changed.mayDropAt := Mux(held.isAbove, held.mayDropAt, s2MayDropAt)
  changed.changes := held.changes ^ wants
  changed.isFresh := held.isFresh && !wants
  changed.restarts := s2Restarts
  changed.later := Mux(wants, enters || s2Marks, held.later || (held.phase === Phase.Dropped && may && isSettled))
  changed.phase := MuxCase(
    held.phase,
    Seq(
      (held.phase === Phase.Entered) -> Phase.Dropping,
      enters -> Mux(s2Marks, Phase.Dropping, Phase.Entered),
      continues -> Mux(s2Marks, Phase.Dropping, Phase.Dropped),
      (isDropping && !may) -> Phase.Below,
      (isDropping && isSettled) -> Phase.Dropping
    )
  )
  fast.write(s2Valid, s2.queue, changed)
  io.known.valid := s2Valid
  io.known.bits.queue := s2.queue
  io.known.bits.restarts := s2Restarts

  // -- stage 3: result --
  io.drop := RegNext(s2Valid && wants && !s2Marks, false.B)
  io.dueAgain := RegNext(s2Valid && continues && !s2Marks && Arithmetic.reached(s2.now, late), false.B)
  io.mark := RegNext(s2Valid && Mux(wants, s2Marks, s2OverThreshold), false.B)

  // -- a change of the count --
  private class Change extends Bundle {
    val queue = UInt(p.queueBits.W)
    val enters, isFresh = Bool()
    val now, base, interval = UInt(TimeBits.W)
    val count, lastCount = UInt(CountBits.W)
    val y = UInt(RootBits.W)
    val square = UInt((2 * RootBits).W)
    val changes = Bool()
  }
  private val change = Wire(Valid(new Change))
  change.valid := s2Valid && wants
  change.bits.queue := s2.queue
  change.bits.enters := enters
  change.bits.isFresh := held.isFresh
  change.bits.now := s2.now
  change.bits.base := next
  change.bits.interval := s2Interval
  change.bits.count := old.count
  change.bits.lastCount := old.lastCount
  change.bits.y := old.y
  change.bits.square := old.square
  change.bits.changes := changed.changes

  private val c3 = Delay(change.bits)
  private val c3Grown = c3.count - c3.lastCount
  private val c3Since = c3.now - c3.base
  // A state that begins soon after the last one begins at that one's rate, otherwise with a count of 1.
  private val c4Soon =
    Delay(c3Grown > 1.U && !c3.isFresh) && after(Delay(c3.interval << 4)(TimeBits - 1, 0), Delay(c3Since))
  private val c4 = Delay(c3)
  private val c4Fresh = c4.enters && !c4Soon
  private val c4Count = Mux(c4.enters, Mux(c4Soon, Delay(c3Grown), 1.U), c4.count + 1.U)
  private val c5Count = Delay(c4Count)
  private val c5Y = Delay(c4.y)
  private val c8Product = Delay(Delay(Delay(Delay(c4.square) * c5Count))) // count y y, U32.32
  private val c8Rest = (BigInt(3) << 32).U(64.W) - c8Product // 3 - count y y
  private val c9Rest = Delay((c8Rest >> 2)(RestBits - 1, 0)) // as many bits as reach the result
  private val c11Product = Delay(Delay(c9Rest * Delay(c5Y, 4)))
  private val c11Y = Mux(Delay(c4Fresh, 7), Fill(RootBits, 1.U(1.W)), c11Product(RestBits - 1, RestBits - RootBits))
  private val c12Y = Delay(c11Y)
  private val c14Square = Delay(Delay(c12Y * c12Y))
  private val c14Step = Delay(Delay((c12Y * Delay(c4.interval, 8)) >> RootBits))
  private val c14 = Delay(c4, 10)
  private val c14Count = Delay(c5Count, 9)
  private val written = Wire(new Slow)
  written.count := c14Count
  written.lastCount := Mux(c14.enters, c14Count, c14.lastCount)
  written.y := Delay(c12Y, 2)
  written.square := c14Square
  written.base := Mux(c14.enters, c14.now, c14.base)
  written.step := c14Step
  written.changes := c14.changes
  private val changing = Seq.iterate(change.valid, Settles - Loop + 1)(RegNext(_, false.B))
  slow.write(changing.last, c14.queue, written)
  io.busy := VecInit(changing).asUInt.orR

  // After a reset.
  private val empty = Wire(new Fast)
  empty.phase := Phase.Below
  empty.later := false.B
  empty.isAbove := false.B
  empty.mayDropAt := 0.U
  empty.isFresh := true.B
  empty.changes := false.B
  empty.restarts := false.B
  fast.write(!sweep.done, sweep.address, empty)
  slow.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Slow))

}

object CodelUnit {
  val TimeBits = 32
  val CountBits = 32
  val RootBits = 16
  private val RestBits = 47
  private val Loop = 2
  val Latency: Int = Loop + 1

  /** Cycles from a request that drops or marks by its queue's count to the first request of the queue that may do so again. */
  val Settles = 14

  object Phase extends ChiselEnum {
    val Below, Entered, Dropping, Dropped = Value
  }
}
