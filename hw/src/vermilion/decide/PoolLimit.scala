package vermilion.decide

import chisel3._
import chisel3.util._
import vermilion.average.Counted
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Departure

/** Configures how queues share the buffer's cells. All numbers are cells of 64 bytes. */
class PoolSettings(p: LaneParams) extends Bundle {
  // Cells that all queued packets together may take, including the reserves; 0: the pool is off.
  val size = UInt(
    (p.cellBits + 1).W
  )
  val reserve = Vec(p.egresses, UInt((p.cellBits + 1).W)) // cells that are always available to the egress
  val cap = Vec(p.egresses, UInt((p.cellBits + 1).W)) // most cells that the egress may take; 0: no cap
}

/** Shares the buffer's cells among egresses and queues, and tells whether the pool has room for a packet.
  *
  * A packet of c cells is refused in these cases:
  *  - Its egress would hold more cells than its cap.
  *  - Its egress would hold more than its reserve, and the shared part has not enough free cells. The shared part is `size` less all reserves.
  *  - Its egress would hold more than its reserve, and its queue more than its dynamic threshold. That is alpha times the free cells of the shared part
  *    (Choudhury and Hahne 1998).
  *
  * The cells that an egress holds above its reserve are in the shared part. `alpha` is 2^(code - 8), code 1 to 11; 0: no threshold. n queues that are always
  * full hold alpha B / (1 + n alpha) cells each of a shared part of B cells.
  *
  * A packet counts from its verdict until it departs, is evicted, or loses a push-out. A verdict sees what was admitted, departed and lost up to
  * [[PoolLimit.Lag]] cycles before. So in a burst of one packet per cycle, up to `Lag` - 1 packets more are admitted than the rules allow. `size` must leave
  * room for them, and for the cells of frames that are being received.
  *
  * Timing: `queue` in cycle t, `lenBytes` in t+1, `alpha` in t+2, `over` and `admit` in t+4. `ready` is low for `queues` cycles after a reset.
  */
class PoolLimit(p: LaneParams) extends Module {
  private val countBits = p.cellBits + 1
  val io = IO(new Bundle {
    val settings = Input(new PoolSettings(p))
    val queue = Input(UInt(p.queueBits.W))
    val lenBytes = Input(UInt(PktLenBits.W))
    val alpha = Input(UInt(PoolLimit.AlphaBits.W))
    val over = Output(Bool())
    val admit = Input(Bool())
    val departed = Flipped(Valid(new Departure(p)))
    val lost = Flipped(Valid(new Counted(p)))
    val used = Output(Vec(p.egresses, UInt(countBits.W)))
    val ready = Output(Bool())
  })
  private def cells(lenBytes: UInt): UInt = (lenBytes +& (CellBytes - 1).U) >> 6 // also of frames that are too long
  private def egressOf(queue: UInt): UInt =
    if (p.egresses == 1) 0.U else queue(p.queueBits - 1, p.queueBits - p.egressBits)
  private def ofEgress(all: Vec[UInt], queue: UInt): UInt = if (p.egresses == 1) all.head else all(egressOf(queue))

  // ---- the packet; numbers are cycles before its verdict
  private val q4 = io.queue
  private val Seq(q3, q2, q1, q0) = Seq.iterate(Delay(q4), 4)(Delay(_))
  private val c3 = cells(io.lenBytes)
  private val Seq(c2, c1, c0) = Seq.iterate(Delay(c3), 3)(Delay(_))

  // ---- admissions, departures and losses, one cycle later
  private class Change extends Bundle {
    val queue = UInt(p.queueBits.W)
    val cells = UInt(p.chainBits.W)
  }
  private def change(valid: Bool, queue: UInt, cells: UInt): Valid[Change] = {
    val out = Wire(Valid(new Change))
    out.valid := RegNext(valid, false.B)
    out.bits.queue := Delay(queue)
    out.bits.cells := Delay(wrap(cells, p.chainBits)) // only stored packets count, and their cells fit
    out
  }
  private val comes = change(io.admit, q0, c0)
  private val goes = change(io.departed.valid, io.departed.bits.queue, cells(io.departed.bits.lenBytes))
  private val loses = Option.when(p.victims != 0)(
    change(io.lost.valid, io.lost.bits.queue, cells(io.lost.bits.lenBytes))
  )

  // ---- cells of each egress, and of the shared part
  private val used = RegInit(VecInit.fill(p.egresses)(0.U(countBits.W)))
  for ((count, e) <- used.zipWithIndex) {
    def of(change: Valid[Change]): UInt =
      Mux(change.valid && egressOf(change.bits.queue) === e.U, change.bits.cells, 0.U).pad(countBits)
    val gone = loses.map(of(_) + of(goes)).getOrElse(of(goes))
    count := wrap(count + of(comes) - gone, countBits)
  }
  io.used := used
  // Settings change rarely, so values computed from them alone are registered. A packet's comparisons all use the settings of the same cycle.
  private val isOn = RegNext(RegNext(RegNext(RegNext(io.settings.size =/= 0.U, false.B), false.B), false.B), false.B)
  private val one = Delay(io.settings)
  private val two = Delay(one)
  private def sum(of: Seq[UInt]): UInt = of.map(_.pad(countBits + p.egressBits)).reduce(_ + _)
  private val reserved = Delay(sum(one.reserve))
  private val shared = Delay(Mux(two.size > reserved, wrap(two.size - reserved, countBits), 0.U))
  private val taken = Delay(sum(used.zip(two.reserve).map { case (count, reserve) =>
    Mux(count > reserve, count - reserve, 0.U)
  }))
  private val free = Mux(shared > taken, wrap(shared - taken, countBits), 0.U)

  // ---- cells of the queue
  private val totalBits = p.cellBits + 2
  private val sweep = new SweepInit(p.queues)
  io.ready := sweep.done
  private def total(change: Valid[Change], next: UInt): UInt = {
    val ram = new ForwardingRam(p.queues, UInt(totalBits.W))
    ram.write(change.valid, change.bits.queue, wrap(ram.read(next) + change.bits.cells, totalBits))
    ram.write(!sweep.done, sweep.address, 0.U)
    ram.read(q4)
  }
  private val departures = Seq(total(goes, io.departed.bits.queue)) ++ loses.map(total(_, io.lost.bits.queue))
  private val held3 = wrap(total(comes, q0) - departures.reduce(_ + _), totalBits)
  private val held1 = Delay(held3, 2)

  // ---- the rules
  private val used2 = Delay(ofEgress(used, q3))
  private val reserve2 = Delay(ofEgress(two.reserve, q3))
  private val cap2 = Delay(ofEgress(two.cap, q3))
  private val with2 = used2 +& c2
  private val need1 = Delay(Mux(used2 < reserve2, wrap(with2 - reserve2, countBits), c2.pad(countBits)))
  private val inReserve1 = Delay(with2 <= reserve2)
  private val overCap1 = Delay(cap2 =/= 0.U && with2 > cap2)
  private val free1 = Delay(free)
  // alpha free = free 2^(code - 8)
  private val threshold1 = Delay((free << io.alpha) >> 8)
  private val hasThreshold1 = Delay(io.alpha =/= 0.U)
  private val overThreshold = hasThreshold1 && held1 +& c1 > threshold1
  io.over := RegNext(isOn && (overCap1 || (!inReserve1 && (need1 > free1 || overThreshold))), false.B)
}

object PoolLimit {

  /** Cycles from an admission, a departure or a loss to the first verdict that sees it. */
  val Lag = 5

  /** Cycles from `queue` to `over`. */
  val Ahead = 4

  /** Bits of alpha's code: alpha is 2^(code - 8), code 1 to 11. */
  val AlphaBits = 4
}
