package vermilion.average

import chisel3._
import chisel3.util.{Mux1H, Valid}
import vermilion.control.{AverageConfig, Scaled}
import vermilion.fixed.Arithmetic.{saturate, wrap}
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.{Colour, Departure}

/** The part of a queue's configuration that a queue state lookup needs. */
class LookupConfig extends Bundle {
  val unit = Bool()
  val masks = Vec(Colour.Count, UInt(Colour.Count.W))
  val lambda = new Scaled(LambdaMantBits, ShiftBits)
  val idleStep = UInt(IdleStepBits.W)
}

object LookupConfig {
  def apply(c: AverageConfig): LookupConfig = {
    val part = Wire(new LookupConfig)
    part.unit := c.unit
    part.masks := c.masks
    part.lambda := c.lambda
    part.idleStep := c.idleStep
    part
  }
}

/** The queue state that one estimator uses. */
class Seen extends Bundle {
  val length = UInt(LenBits.W) // masked backlog, bytes or packets
  val factor = UInt(18.W) // decay of an average of this queue if the length is 0 (IdleAge)
  val halvings = UInt(6.W)
}

/** The remainder of an ageing, for the next ageing of its estimator. */
class AgeRemainder extends Bundle {
  val residue = UInt(IdleStepBits.W)
  // updates that were in progress: the aged average lacks their packets' steps
  val pending = UInt(3.W)

  /** The values that the next ageing starts from. With `isPacket` it adds a step of its own. */
  def steps(step: UInt, kept: UInt, isPacket: Bool): AgeSteps = {
    val from = Wire(new AgeSteps)
    from.residue := residue
    from.kept := kept
    from.step := step
    from.steps := pending + isPacket
    from
  }
}

/** Looks up the queue state that averages need, before the packet's colour is known.
  *
  * The result has, for each estimator, the backlog of its colours and the decay of the average if that backlog is 0.
  *
  * The idle time of an empty queue is t, the shorter of two times: since the last departure of a masked colour, and since an update of the estimator.
  * That update is the newest one that is written when this one reads its base ([[AverageUnit]]), so it gave the base. Idle times of updates still
  * in progress lie within t, so they need no sum.
  *
  * The exponent is truncated to 2^-10, and an average whose base was read while updates were in progress lacks their packets' steps. Both are kept for the
  * next ageing of that estimator ([[AgeRemainder]]). So any number of short idle times loses nothing.
  *
  * All times are ages modulo 2^48 ns, counted back from `time`. A clock that is set back makes an idle time long, so the average of an empty queue becomes 0.
  * {{{
  *   cycle 0  queue, time          2  ages; config; backlog and departures for the trace     4..8  IdleAge
  *         1  RAMs' output         3  length; idle time; the updates of lookups at least six cycles before
  * }}}
  * `seen` is valid in cycle [[QueueStateLookup.Latency]], `backlog` and `lastDeparture` in cycle 2; one lookup per cycle. `update` and `ahead` of a lookup come
  * in its cycle [[QueueStateLookup.Latency]]. RAM: a time and a remainder per queue and estimator, besides those of [[BacklogCounters]].
  * `ready` is low for four times `queues` cycles after a reset.
  */
class QueueStateLookup(p: LaneParams) extends Module {
  import QueueStateLookup._
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val admitted = Flipped(Valid(new Counted(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val evicted = Flipped(Valid(new Counted(p)))
    val queue = Input(UInt(p.queueBits.W)) // in cycle 0
    val time = Input(UInt(TimeBits.W)) // in cycle 0: not before the last departure that is visible
    val isPacket = Input(Bool()) // in cycle 0: an empty queue's average ages by the packet, too
    val config = Input(new LookupConfig) // in cycle 1
    val backlog = Output(Vec(Colour.Count, new Tally))
    val lastDeparture = Output(Vec(Colour.Count, UInt(TimeBits.W))) // or eviction
    val seen = Output(Vec(Colour.Count, new Seen))
    val update = Input(Vec(Colour.Count, Bool())) // the lookup's packet or refresh changes these averages
    val ahead = Input(Vec(Colour.Count, UInt(3.W))) // with `update`: n
    val ready = Output(Bool())
  })
  private val queue = Seq.iterate(io.queue, Latency + 1)(Delay(_))
  private val time = Seq.iterate(io.time, Latency)(Delay(_))
  private val isPacket = Seq.iterate(io.isPacket, Latency + 1)(Delay(_))
  private val sweep = new SweepInit(p.queues)
  private val isReady = sweep.done && !reset.asBool

  // -- cycle 0: address the RAMs --
  private val counters = Module(new BacklogCounters(p))
  counters.io.now := io.now
  counters.io.query := io.queue
  counters.io.admitted := io.admitted
  counters.io.departed := io.departed
  counters.io.evicted := io.evicted
  io.ready := counters.io.ready && sweep.done

  // -- cycle 1: ages --
  private def age(now: UInt, since: UInt): UInt = wrap(now - since, TimeBits)
  private val s1LastDeparture = VecInit(Seq.tabulate(Colour.Count) { c =>
    val (departed, evicted) = (counters.io.lastDeparture(c), counters.io.lastEviction(c))
    if (p.victims == 0) departed else Mux(age(time(1), evicted) < age(time(1), departed), evicted, departed)
  })
  io.backlog := Delay(counters.io.backlog)
  io.lastDeparture := Delay(s1LastDeparture)
  private val s2Age = Delay(VecInit(s1LastDeparture.map(age(time(1), _))))

  // -- cycle 2: masks --
  private val s2Config = Delay(io.config)
  // The register's reset holds it at 0 while the arrays are cleared.
  private val updated = Delay(
    Mux(isReady, time(Latency - 1), 0.U)
  )
  private val spells = new IdleSpells(s2Age)
  private val s3Lambda = Delay(s2Config.lambda)
  private val s3IdleStep = Delay(s2Config.idleStep)
  private val s3Kept = Delay(AgeSteps.kept(s2Config.lambda.shift))
  for (e <- 0 until Colour.Count) {
    val mask = s2Config.masks(e)
    val lengths = Seq.tabulate(Colour.Count) { c =>
      Mux(mask(c), Mux(s2Config.unit, io.backlog(c).packets, io.backlog(c).bytes), 0.U)
    }
    val s3Length = Delay(saturate(lengths.reduce(_ +& _), LenBits))
    io.seen(e).length := Delay(s3Length, Latency - 3)

    val which = spells.shortest(mask)
    val s3Any = Delay(mask.orR)
    val s3Age = Delay(Mux1H(which, s2Age))
    val updates = new ForwardingRam(p.queues, UInt(TimeBits.W))
    val s3Updated = updates.read(queue(2))
    updates.write(io.update(e), queue(Latency), updated)
    updates.write(!sweep.done, sweep.address, updated)

    // -- cycle 3: time since the departure or the update, whichever is later --
    val s3UpdateAge = age(time(3), s3Updated)
    val decay = Module(new IdleAge)
    decay.io.idleNs := Mux(!s3Any || s3UpdateAge < s3Age, s3UpdateAge, s3Age)
    decay.io.lambda := s3Lambda
    val remainders = new ForwardingRam(p.queues, new AgeRemainder)
    decay.io.from := remainders.read(queue(2)).steps(s3IdleStep, s3Kept, isPacket(3))
    io.seen(e).factor := decay.io.factor
    io.seen(e).halvings := decay.io.halvings

    // -- cycle 8: the remainder --
    val remainder = Wire(new AgeRemainder)
    remainder.residue := Delay(Mux(isReady, Delay(decay.io.product, IdleAge.Latency - IdleAge.Product - 1), 0.U))
    remainder.pending := Mux(isReady, io.ahead(e) - 1.U, 0.U)
    val isAged = Delay(isPacket(3) && s3Length === 0.U, Latency - 3)
    remainders.write(io.update(e) && isAged, queue(Latency), remainder)
    remainders.write(!sweep.done, sweep.address, remainder)
  }
}

object QueueStateLookup {

  /** Cycles from queue to `seen`. */
  val Latency: Int = 3 + IdleAge.Latency
  require(Latency - 2 == EwmaStages, "an update's time is seen with another average than its own")

  /** Cycles from a lookup to the first one that sees its update. */
  val Visible: Int = EwmaStages
}
