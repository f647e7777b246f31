package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.decide.RandomSource
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.TakenPacket

/** Settings of a pair's DualPI2, with its T_update. They are written as a whole, with the settings of C's queue. */
class DualPi2Settings extends Bundle {
  val dualPi2 = new DualPi2Config
  val interval = UInt(UpdateSweep.IntervalBits.W) // in ticks of 2^16 ns; 1 and more
}

/** The settings of a pair, with the number of one of its queues. Of those with L's queue only `on` has an effect. */
class QueueDualPi2(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val settings = new DualPi2Settings
}

/** DualPI2 (RFC 9332) in all pairs of queues that have it: a [[DualPi2Unit]], the settings of the pairs, their delays, a random source, and the updates
  * ([[UpdateSweep]]).
  *
  * Queue 2 i is C, for classic congestion control, and queue 2 i + 1 is L, for scalable congestion control. Which of the two is served next is the scheduler's affair.
  *
  * A pair is on if both of its queues are. The delay of a queue is the sojourn time of the packet that was taken last, 0 if nothing was queued behind it or if it was flushed. An update takes the greater of the two delays of its pair
  * and counts departures of packets that were taken 3 cycles before it is asked for, or earlier.
  *
  * A packet is decided from `taken` on, in [[DualPi2Unit.Latency]] cycles. One that is flushed is not decided and takes no draw; neither is a packet of a pair that is off.
  * Settings apply to packets that are taken after the cycle of the configuration. A pair decides from the pass of the sweep on that follows after it is turned on.
  *
  * Nothing may come, and nothing may be configured, in the first `queues` cycles after a reset.
  */
class DualPi2Queues(p: LaneParams) extends Module {
  private val pairs = p.queues / 2
  private val pairBits = log2Ceil(pairs).max(1)

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W)) // ns
    val configure = Flipped(Valid(new QueueDualPi2(p)))
    val seed = Flipped(Valid(UInt(128.W)))
    val taken = Flipped(Valid(new TakenPacket(p)))
    val flushed = Input(Bool()) // with `taken`
    val behind = Input(UInt(LenBits.W)) // bytes that are queued behind it in its queue; one cycle after `taken`
    val behindBoth = Input(UInt(LenBits.W)) // and in both queues of the pair
    val drop, mark = Output(Bool()) // at most one is high
    val wake = Valid(UInt(TimeBits.W)) // of the updates; `busy` is low until then
    val busy = Output(Bool())
    val ready = Output(Bool())
  })
  private class ForPackets extends Bundle {
    val on, dropOverload = Bool()
    val step = UInt(PieUnit.DelayBits.W)
    val mtu = UInt(PieUnit.MtuBits.W)
  }
  private class ForUpdates extends Bundle {
    val sweep = new UpdateSettings
    val target = UInt(PieUnit.DelayBits.W)
    val alpha, beta, most = UInt(32.W)
    val coupling = UInt(DualPi2Unit.CouplingBits.W)
  }
  private val unit = Module(new DualPi2Unit(pairs))
  private val updates = Module(new UpdateSweep(pairs))
  private val clear = new SweepInit(pairs)
  io.ready := unit.io.ready && updates.io.ready && clear.done
  private def pairOf(queue: UInt): UInt = if (pairs == 1) 0.U else queue(p.queueBits - 1, 1)
  private def isL(queue: UInt): Bool = queue(0)

  // -- settings --
  private val configure = Wire(Valid(new QueueDualPi2(p)))
  configure.valid := RegNext(io.configure.valid, false.B)
  configure.bits := Delay(io.configure.bits)
  private val settings = configure.bits.settings.dualPi2
  private def ofPairs[T <: Data](record: T, name: String, written: T): ForwardingRam[T] = {
    val ram = new ForwardingRam(pairs, record).suggestName(name)
    ram.write(!clear.done, clear.address, 0.U.asTypeOf(record))
    ram.write(configure.valid && !isL(configure.bits.queue), pairOf(configure.bits.queue), written)
    ram
  }
  private val writtenForPackets = Wire(new ForPackets)
  writtenForPackets.on := settings.on
  writtenForPackets.dropOverload := settings.dropOverload
  writtenForPackets.step := settings.step
  writtenForPackets.mtu := settings.mtu
  private val writtenForUpdates = Wire(new ForUpdates)
  writtenForUpdates.sweep.on := settings.on
  writtenForUpdates.sweep.interval := configure.bits.settings.interval
  writtenForUpdates.target := settings.target
  writtenForUpdates.alpha := settings.alpha
  writtenForUpdates.beta := settings.beta
  writtenForUpdates.most := settings.most
  writtenForUpdates.coupling := settings.coupling
  private val forPackets = ofPairs(new ForPackets, "forPackets", writtenForPackets)
  private val lowIsOn = new ForwardingRam(pairs, Bool()).suggestName("lowIsOn")
  lowIsOn.write(!clear.done, clear.address, false.B)
  lowIsOn.write(configure.valid && isL(configure.bits.queue), pairOf(configure.bits.queue), settings.on)
  private val forUpdates = ofPairs(new ForUpdates, "forUpdates", writtenForUpdates)

  // -- the delays of the queues --
  private val entry = io.taken.bits.queueEntry
  private val sojourn = PieUnit.time(io.now) - PieUnit.time(entry.arrival)
  // A packet from the future, after the clock was set back, has no delay.
  private val delay = Mux(sojourn(PieUnit.TimeBits - 1), 0.U, Arithmetic.saturate(sojourn, PieUnit.DelayBits))
  private val s1Valid = RegNext(io.taken.valid, false.B)
  private val s1Queue = Delay(io.taken.bits.queue)
  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2Queue = Delay(s1Queue)
  private val s2Delay = Delay(Mux(io.behind === 0.U || Delay(io.flushed), 0.U, Delay(delay)))
  private val delays =
    Seq("delayC", "delayL").map(name => new ForwardingRam(pairs, UInt(PieUnit.DelayBits.W)).suggestName(name))
  for ((ram, l) <- delays.zipWithIndex) {
    ram.write(!clear.done, clear.address, 0.U)
    ram.write(s2Valid && isL(s2Queue) === (l == 1).B, pairOf(s2Queue), s2Delay)
  }
  private val Seq(delayC, delayL) = delays.map(_.read(updates.io.index))

  // -- packets --
  private val asked = forPackets.read(pairOf(io.taken.bits.queue))
  unit.io.request.valid := io.taken.valid && !io.flushed
  unit.io.request.bits.pair := pairOf(io.taken.bits.queue)
  unit.io.request.bits.isL := isL(io.taken.bits.queue)
  unit.io.request.bits.ect := (entry.isIp4 || entry.isIp6) && entry.dsField.get(1, 0).orR
  unit.io.request.bits.sojourn := delay
  updates.io.query := pairOf(io.taken.bits.queue)
  private val decides = asked.on && lowIsOn.read(pairOf(io.taken.bits.queue)) && updates.io.active
  unit.io.seen.config := DontCare // what packets do not use
  unit.io.seen.config.on := decides
  unit.io.seen.config.dropOverload := asked.dropOverload
  unit.io.seen.config.step := asked.step
  unit.io.seen.config.mtu := asked.mtu
  unit.io.seen.backlog := io.behindBoth
  private val random = Module(new RandomSource(pairs = true, atReset = RandomSource.resetState.reverse))
  random.io.seed := io.seed
  random.io.next := RegNext(unit.io.request.valid, false.B) && decides
  unit.io.seen.draws := VecInit(random.io.draw, random.io.second.get)
  io.drop := unit.io.drop
  io.mark := unit.io.mark

  // -- updates --
  updates.io.now := io.now
  updates.io.configured := configure.valid
  private val updated = forUpdates.read(updates.io.index)
  updates.io.settings.on := updated.sweep.on && lowIsOn.read(updates.io.index)
  updates.io.settings.interval := updated.sweep.interval
  unit.io.update.valid := updates.io.update.valid
  updates.io.update.ready := unit.io.update.ready
  unit.io.update.bits.pair := updates.io.update.bits.index
  unit.io.update.bits.begins := updates.io.update.bits.begins
  unit.io.update.bits.delay := Mux(delayC > delayL, delayC, delayL)
  unit.io.update.bits.config := DontCare // what updates do not use
  unit.io.update.bits.config.target := updated.target
  unit.io.update.bits.config.alpha := updated.alpha
  unit.io.update.bits.config.beta := updated.beta
  unit.io.update.bits.config.most := updated.most
  unit.io.update.bits.config.coupling := updated.coupling
  io.wake := updates.io.wake
  io.busy := updates.io.busy

  assert(clear.done || !io.taken.valid, "a packet came before the memories are cleared")
  assert(clear.done || !io.configure.valid, "a pair was configured before the memories are cleared")
}
