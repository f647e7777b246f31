package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.TakenPacket
import vermilion.stream.QueueEntry

/** What verdicts need of one queue's settings. They are written as a whole. */
class QueueVerdicts(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val codel = new CodelSettings
  val marks = new MarkSettings
  val dualPi2 = Option.when(p.dualpi2)(new DualPi2Settings)
}

/** What DualPI2 has beside its packets, in builds with it. `wake` and `busy` are those of the updates: `busy` is low until `wake`, a time in ns. */
class DualPi2Ports extends Bundle {
  val seed = Flipped(Valid(UInt(128.W)))
  val wake = Valid(UInt(TimeBits.W))
  val busy = Output(Bool())
}

/** A packet with its verdict. */
class JudgedPacket(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val queueEntry = new QueueEntry(p) // with `setCe` if the verdict is a mark
  val flushed = Bool()
  val dropped, marked = Bool() // by the verdict; low without a packet, and `marked` if `setCe` was set before
}

/** Judges each packet that a scheduler has chosen: it is sent, marked CE and sent, or dropped.
  *
  * Each queue has a [[CodelUnit]] state. The sojourn time of a packet is the time from its decision on arrival to its choice, in units of 1,024 ns.
  * Its backlog are the bytes that are queued behind it then ([[QueueBacklog]]).
  *
  * In builds with `dualpi2` the pairs of queues with DualPI2 have [[DualPi2Queues]] beside it. A queue with DualPI2 has no CoDel, but may have a `ce_threshold`. A drop goes before a mark.
  * Queues whose curves mark at departure have neither, but may have a `ce_threshold` ([[CurveMarks]]).
  *
  * A packet that is flushed is judged with a backlog of 0, as its queue may become empty by the flush, and its verdict has no effect.
  * A queue whose CoDel is turned on begins with a new state. Other changes keep the state.
  *
  * Rate: one packet per cycle. Latency: [[DepartureVerdicts.Latency]] cycles from `taken` to `judged`. No packet may come and nothing may be configured in the first `queues` cycles after a reset. A configuration takes two cycles, and
  * applies to packets that are taken after it. No queue may be configured in two consecutive cycles.
  *
  * `busy` is high while a packet is under way or a queue is not settled. When it is low, the next verdicts do not depend on how many cycles pass.
  * RAMs of `queues` records, each with one writer: `settings` (configuration), `known` (verdicts), and those of [[CodelUnit]] and [[CurveMarks]].
  *
  * @param verdict decides: a [[CodelUnit]], or what a proof has in its place
  */
class DepartureVerdicts(p: LaneParams, verdict: LaneParams => HeadVerdict) extends Module {
  import DepartureVerdicts._

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W)) // ns
    val configure = Flipped(Valid(new QueueVerdicts(p)))
    val taken = Flipped(Valid(new TakenPacket(p)))
    val behind = Input(UInt(LenBits.W)) // bytes that are queued behind it, one cycle after `taken`
    val behindBoth = Input(UInt(LenBits.W)) // and in the other queue of its pair
    val packetsBehind = Input(UInt((p.cellBits + 1).W)) // packets in its own queue
    val marks = new MarkPorts(p)
    val flushed = Input(Bool()) // with `taken`
    val judged = Valid(new JudgedPacket(p))
    val dueAgain = Output(Bool()) // with `judged`: a drop, and another drop of the queue may be due at once
    val underWay = Output(Bool()) // a packet is under way
    val busy = Output(Bool())
    val ready = Output(Bool())
  })
  val dualPi2 = Option.when(p.dualpi2)(IO(new DualPi2Ports))
  private val codel = Module(verdict(p)).suggestName("codel")
  private val settings = new ForwardingRam(p.queues, new CodelConfig).suggestName("settings")
  private val sweep = new SweepInit(p.queues)
  private val pairs = Option.when(p.dualpi2)(Module(new DualPi2Queues(p)).suggestName("pairs"))
  io.ready := codel.io.ready && pairs.map(_.io.ready).getOrElse(true.B)
  private val (pairDrops, pairMarks) = pairs match {
    case None => (false.B, false.B)
    case Some(pairs) =>
      pairs.io.now := io.now
      pairs.io.configure.valid := io.configure.valid
      pairs.io.configure.bits.queue := io.configure.bits.queue
      pairs.io.configure.bits.settings := io.configure.bits.dualPi2.get
      pairs.io.taken := io.taken
      pairs.io.flushed := io.flushed
      pairs.io.behind := io.behind
      pairs.io.behindBoth := io.behindBoth
      for (ports <- dualPi2) {
        pairs.io.seed := ports.seed
        ports.wake := pairs.io.wake
        ports.busy := pairs.io.busy
      }
      (pairs.io.drop, pairs.io.mark)
  }
  private val curveMarks =
    if (codel.isAny) false.B
    else {
      val curves = Module(new CurveMarks(p)).suggestName("curves")
      curves.io.ports := io.marks
      curves.io.configure.valid := io.configure.valid
      curves.io.configure.bits.queue := io.configure.bits.queue
      curves.io.configure.bits.settings := io.configure.bits.marks
      curves.io.taken := io.taken
      curves.io.flushed := io.flushed
      curves.io.behind := io.behind
      curves.io.packetsBehind := io.packetsBehind
      curves.io.mark
    }
  private val drops = codel.io.drop || pairDrops
  private val marks = (codel.io.mark || curveMarks) && !pairDrops || pairMarks && !codel.io.drop

  // -- configuration: the old record is read first, as it tells whether the queue's CoDel is turned on by the new one --
  private val configures = RegNext(io.configure.valid, false.B)
  private val asked = Delay(io.configure.bits)
  private val before = settings.read(io.configure.bits.queue)
  // A bit that differs from `known` restarts the queue's state: with its next packet, however often it is configured until then.
  private val known = new ForwardingRam(p.queues, Bool()).suggestName("known")
  known.write(!sweep.done, sweep.address, false.B)
  known.write(codel.io.known.valid, codel.io.known.bits.queue, codel.io.known.bits.restarts)
  private val written = Wire(new CodelConfig)
  written.settings := asked.codel
  private val turnsOn = asked.codel.on && !before.settings.on
  written.restarts := Mux(turnsOn, !known.read(io.configure.bits.queue), before.restarts)
  settings.write(!sweep.done, sweep.address, 0.U.asTypeOf(new CodelConfig))
  settings.write(configures, asked.queue, written)

  // -- the verdict --
  private val packet = io.taken.bits
  codel.io.request.valid := io.taken.valid
  codel.io.request.bits.queue := packet.queue
  codel.io.request.bits.now := ticks(io.now)
  codel.io.request.bits.enqueued := ticks(packet.queueEntry.arrival)
  codel.io.request.bits.dsField := packet.queueEntry.dsField.get
  codel.io.request.bits.isIp := packet.queueEntry.isIp4 || packet.queueEntry.isIp6
  codel.io.config := settings.read(packet.queue)
  codel.io.backlog := Mux(Delay(io.flushed), 0.U, io.behind)

  private val stages = RegInit(0.U(Latency.W))
  stages := stages(Latency - 2, 0) ## io.taken.valid
  private val last = Delay(packet, Latency)
  private val flushed = Delay(io.flushed, Latency)
  io.judged.valid := stages(Latency - 1)
  io.judged.bits.queue := last.queue
  io.judged.bits.queueEntry := last.queueEntry
  io.judged.bits.queueEntry.setCe := last.queueEntry.setCe || marks
  io.judged.bits.flushed := flushed
  io.judged.bits.dropped := drops // never that of a flushed packet, which has no backlog
  io.judged.bits.marked := marks && !last.queueEntry.setCe && !flushed
  io.dueAgain := codel.io.dueAgain
  io.underWay := io.taken.valid || stages.orR
  io.busy := io.underWay || codel.io.busy

  assert(sweep.done || !io.taken.valid, "a packet came before the memories are cleared")
  assert(
    !(configures && io.configure.valid && io.configure.bits.queue === asked.queue),
    "a queue is configured in two consecutive cycles"
  )
  assert(sweep.done || !io.configure.valid, "a queue was configured before the memories are cleared")
}

object DepartureVerdicts {

  /** Cycles from `taken` to `judged`. */
  val Latency: Int = CodelUnit.Latency
  require(CurveMarks.Latency == Latency, s"the latency of CurveMarks is ${CurveMarks.Latency}; legal is $Latency")
  require(
    DualPi2Unit.Latency == Latency,
    s"the latency of DualPi2Unit is ${DualPi2Unit.Latency}; legal is $Latency, that of CodelUnit"
  )

  /** Cycles from a verdict to the first choice that finds its queue settled. */
  val Settles: Int = CodelUnit.Settles - Latency - 1

  private val TickBits = 10 // ns in a tick of CoDel's clock, as a power of two

  private def ticks(ns: UInt): UInt = ns(TickBits + CodelUnit.TimeBits - 1, TickBits)
}
