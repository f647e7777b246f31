package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats.LenBits

/** Settings of a pair of queues under DualPI2. Times are in units of 64 ns. */
class DualPi2Config extends Bundle {
  val on = Bool() // if low, every packet passes
  val target, step = UInt(PieUnit.DelayBits.W)
  val alpha, beta = UInt(32.W) // p' for 64 ns of delay, unit 2^-40
  val coupling = UInt(DualPi2Unit.CouplingBits.W) // k, 1 and more
  val most = UInt(32.W) // of p': 2^32 - 1, or that by k where L must not be dropped in overload
  val mtu = UInt(PieUnit.MtuBits.W) // bytes
  val dropOverload = Bool()
}

/** A packet at the head of L or C, which may leave. */
class DualPi2Request(pairBits: Int) extends Bundle {
  val pair = UInt(pairBits.W)
  val isL = Bool()
  val ect = Bool()
  val sojourn = UInt(PieUnit.DelayBits.W) // unit: 64 ns
}

/** What belongs to a packet and is known one cycle after its request. */
class DualPi2Seen extends Bundle {
  val config = new DualPi2Config
  val backlog = UInt(LenBits.W) // bytes in both queues behind it
  val draws = Vec(2, UInt(32.W))
}

/** A pair whose base probability is updated. */
class DualPi2Update(pairBits: Int) extends Bundle {
  val pair = UInt(pairBits.W)
  val delay = UInt(PieUnit.DelayBits.W) // the greater of the sojourn times of both queues, 0 without packets
  val begins = Bool() // a new state instead: probability 0
  val config = new DualPi2Config
}

/** Decides by DualPI2 (RFC 9332) whether a packet of L or C passes, is marked CE or is dropped. One packet per cycle, of any pair.
  *
  * The rules and the arithmetic are those of `sim/model/dualpi2.h`, which is bit-exact. Which of the two queues is next is not decided here.
  * {{{
  *   packet   0 request   1 settings, backlog, draws; p', k p'   2 comparisons   3 result
  *   update   0 request   1 p', delay before   2 differences   3-4 products   5 sum   6 change   7 sum   8 new p'   9 k p'
  * }}}
  * `update` takes one pair at a time, [[DualPi2Unit.UpdateCycles]] cycles each. Packets see its result from the cycle in which `update.ready` is high again. A new
  * coupling applies from the update that follows. `ready` is low for `pairs` cycles after a reset. Latency: [[DualPi2Unit.Latency]] cycles.
  *
  * @param pairs number of pairs, 1 and more
  */
class DualPi2Unit(pairs: Int) extends Module {
  import DualPi2Unit._
  require(pairs >= 1, s"pairs is $pairs; legal are 1 and more")
  private val pairBits = log2Ceil(pairs).max(1)

  val io = IO(new Bundle {
    val request = Flipped(Valid(new DualPi2Request(pairBits)))
    val seen = Input(new DualPi2Seen) // one cycle after the request
    val drop, mark = Output(Bool()) // at most one is high
    val update = Flipped(Decoupled(new DualPi2Update(pairBits)))
    val ready = Output(Bool())
  })

  private val sweep = new SweepInit(pairs)
  private val base = new ForwardingRam(pairs, UInt(ProbBits.W)).suggestName("base")
  private val coupled = new ForwardingRam(pairs, UInt((ProbBits + CouplingBits).W)).suggestName("coupled") // k p'
  private val before = new ForwardingRam(pairs, UInt(PieUnit.DelayBits.W)).suggestName("before")
  io.ready := sweep.done

  // -- a packet --
  private val s1Valid = RegNext(io.request.valid, false.B)
  private val s1 = Delay(io.request.bits)
  private val s2Valid = RegNext(s1Valid && io.seen.config.on, false.B)
  private val s2 = Delay(s1)
  private val s2Base = Delay(base.read(io.request.bits.pair))
  private val s2Coupled = Delay(coupled.read(io.request.bits.pair))
  private val s2Draws = Delay(io.seen.draws)
  private val s2Enough = Delay(io.seen.backlog) >= (Delay(io.seen.config.mtu) << 1) // it comes late in its cycle
  private val s2Stepped = Delay(s1.sojourn > io.seen.config.step)
  private val s2MayDrop = Delay(io.seen.config.dropOverload)
  private val overload = s2Coupled(ProbBits + CouplingBits - 1, ProbBits).orR
  private val squared = s2Enough && s2Draws.map(_ <= s2Base).reduce(_ && _)
  private val hit = s2Enough && (s2Draws(0) <= s2Coupled(ProbBits - 1, 0) || overload)
  private val first = overload && s2MayDrop && squared // L in overload: dropped before anything is marked
  private val signal = s2Stepped || (hit && (s2.ect || !overload))
  private val drops = Mux(s2.isL, first || (signal && !s2.ect), squared && (!s2.ect || overload))
  private val marks = Mux(s2.isL, !first && signal && s2.ect, squared && s2.ect && !overload)
  io.drop := RegNext(s2Valid && drops, false.B)
  io.mark := RegNext(s2Valid && marks, false.B)

  // -- an update --
  private val age = RegInit(0.U(log2Ceil(UpdateCycles + 1).W)) // cycles since the request; 0: none
  private val u = Reg(new DualPi2Update(pairBits))
  private def in(cycle: Int): Bool = age === cycle.U
  private def at[T <: Data](cycle: Int, x: T): T = RegEnable(x, in(cycle))
  io.update.ready := age === 0.U && sweep.done
  when(io.update.fire) {
    u := io.update.bits
    age := 1.U
  }.elsewhen(age =/= 0.U) { age := Mux(in(UpdateCycles - 1), 0.U, age + 1.U) }
  private val uBase = at(1, base.read(io.update.bits.pair))
  private val uBefore = at(1, before.read(io.update.bits.pair))
  private val uBeyond = at(2, (u.delay -& u.config.target).asSInt)
  private val uGrown = at(2, (u.delay -& uBefore).asSInt)
  private val products = Seq(u.config.alpha.zext * uBeyond, u.config.beta.zext * uGrown).map(x => at(4, at(3, x)))
  private val uSum = at(5, products(0) +& products(1))
  // Truncated towards 0: a negative sum is shifted after it has been raised by all bits that are lost.
  private val raised = uSum + Mux(uSum < 0.S, ((1 << GainFrac) - 1).S, 0.S)
  private val uChange = at(6, raised >> GainFrac)
  private val uNew = at(7, uChange +& uBase.zext)
  private val bounded =
    Mux(uNew < 0.S, 0.U, Mux(uNew > u.config.most.zext, u.config.most, uNew.asUInt(ProbBits - 1, 0)))
  private val uProb = at(8, Mux(u.begins, 0.U, bounded))
  private val uCoupled = at(9, uProb * u.config.coupling)
  private val writes = in(UpdateCycles - 1)
  for ((ram, value) <- Seq(base -> uProb, coupled -> uCoupled, before -> Mux(u.begins, 0.U, u.delay))) {
    ram.write(writes, u.pair, value)
    ram.write(!sweep.done, sweep.address, 0.U)
  }
}

object DualPi2Unit {
  val ProbBits = 32
  val CouplingBits = 8
  private val GainFrac = 8
  val Latency: Int = 3

  /** Cycles from the request of an update to that of the next. */
  val UpdateCycles: Int = 11
}
