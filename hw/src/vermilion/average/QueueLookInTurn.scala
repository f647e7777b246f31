package vermilion.average

import chisel3._
import chisel3.util.{Cat, Mux1H, RegEnable}
import vermilion.fixed.Arithmetic.{saturate, wrap}
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SnapshotRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** What averages see of a queue, as [[QueueLook]] says, where two looks are eight clocks apart or more: the estimators' spells are found in turn, and
  * aged by one [[IdleAge]]. All is of one clock, that of the look.
  * {{{
  *   clock 0  start, queue, time      3, 4, 5  the spell since a departure; address the next estimator's update
  *         1  config; age of 0 and 1  4, 5, 6  since the later of departure and update; the backlog of a colour
  *         2  age of 2                5..9     IdleAge
  *                                    7, 8, 9  length
  *                                    8, 9, 10 `seen` of estimator 0, 1, 2
  * }}}
  * `evicted` is not looked at: an eviction comes as a departure.
  * `update` comes in clock [[QueueLookInTurn.Updated]] of its own look, and is in the next. For the trace `lastDeparture` stands from clock 2 of a look to
  * clock 1 of the next, `backlog` of colour c from clock 5 + c to 4 + c. RAM: besides [[BacklogInTurn]], a time and a remainder per queue and estimator.
  * `ready` is low for four times `queues` clocks after reset.
  */
class QueueLookInTurn(p: LaneParams) extends QueueLooking(p) {
  import QueueLookInTurn._
  private val sweep = new SweepInit(p.queues * 4)
  private val clearing = !sweep.done || reset.asBool
  private val at = new Turns(io.start, Updated + 2)
  assert(!io.start || !at.within(1, 7), "a look within eight clocks of another")
  private val queue = at.held(0, io.queue)
  private val time = at.held(0, io.time)
  private val isPacket = at.held(0, io.isPacket)
  private val config = at.held(1, io.config)

  private val counters = Module(new BacklogInTurn(p))
  counters.io.now := io.now
  counters.io.start := io.start
  counters.io.query := io.queue
  counters.io.admitted := io.admitted
  counters.io.departed := io.departed
  io.ready := counters.io.ready && sweep.done

  // -- updates: told when the next look may have begun --
  private val pastQueue = at.held(7, queue)
  private val pastTime = Reg(UInt(TimeBits.W)) // 0 while the array is cleared
  when(clearing) { pastTime := 0.U }.elsewhen(at(7)) { pastTime := time }
  private val told = at.held(Updated, io.update)
  private val isUpdated =
    at(Updated) && io.update(0) || (1 until Colour.Count).map(e => at(Updated + e) && told(e)).reduce(_ || _)
  private val updates = new ForwardingRam((p.queues * 4).max(SnapshotRam.BlockDepth), UInt(TimeBits.W))
  updates.write(isUpdated, Cat(pastQueue, at.index(Updated)), pastTime)
  updates.write(!sweep.done, sweep.address, pastTime)
  private val s3Updated = updates.read(Cat(queue, at.index(2))) // addressed in clocks 2 to 4
  private val remainders =
    new ForwardingRam((p.queues * 4).max(SnapshotRam.BlockDepth), new AgeRemainder(pendingBits = 0))
  // Addressed a clock later, in clocks 3 to 5, so it is written by then: nothing is forwarded.
  private val s4Remainder = remainders.glance(Cat(queue, at.index(3)))

  // -- clocks 1 to 3: ages, two subtracts for six --
  private def age(since: UInt): UInt = wrap(time - since, TimeBits)
  private val left = counters.io.lastDeparture
  for (c <- 0 until Colour.Count) io.lastDeparture(c) := at.held(1, left(c))
  private val ageA = age(Mux(at(1), left(0), s3Updated))
  private val ageB = age(Mux(at(1), left(1), Delay(left(2))))
  private val age0 = at.held(1, ageA)
  private val s4UpdateAge = Delay(ageA)
  private val ageLast = RegEnable(ageB, at(1) || at(2)) // of colour 1, then of 2
  private val age1 = at.held(2, ageLast)

  // -- clocks 3 to 5: the shortest, with two compares for three --
  private val notLonger0 = age0 <= ageLast
  private val never = Seq.fill(Colour.Count)(false.B)
  private val spells = new IdleSpells(
    Seq(Seq(false.B, at.held(2, notLonger0), notLonger0), Seq(false.B, false.B, age1 <= ageLast), never)
  )
  private val mask = at.each(3, config.masks)
  private val s4Any = Delay(mask.orR)
  private val s4Age = Delay(Mux1H(spells.shortest(mask), Seq(age0, age1, ageLast)))

  // -- clocks 4 to 6: since the later of departure and update --
  private val decay = Module(new IdleAge(inTurn = true))
  decay.io.idleNs := Mux(!s4Any || s4UpdateAge < s4Age, s4UpdateAge, s4Age)
  decay.io.lambda := config.lambda
  decay.io.from := s4Remainder.steps(config.idleStep, at.held(2, AgeSteps.kept(config.lambda.shift)), isPacket)
  io.seen(0).factor := decay.io.factor
  io.seen(0).halvings := decay.io.halvings

  // -- clocks 4 to 6: colour after colour to the lengths; 7 to 9: the lengths --
  private val tally = counters.io.tally
  for (c <- 0 until Colour.Count) io.backlog(c) := at.held(4 + c, tally)
  private val counts = Mux(config.unitPackets, tally.packets, tally.bytes)
  private val lengths = config.masks.map { mask =>
    val length = Reg(UInt((LenBits + 2).W))
    when(at(3)) { length := 0.U }.elsewhen(at.within(4, 6)) {
      length := length + Mux(at.each(4, mask.asBools), counts, 0.U)
    }
    length
  }
  io.seen(0).length := Delay(saturate(VecInit(lengths)(at.index(7)), LenBits))

  // -- clocks 10 to 12: what each ageing leaves over; nothing is under way beside it --
  private val remainder = Wire(new AgeRemainder(pendingBits = 0))
  remainder.residue := Delay(Mux(clearing, 0.U, Delay(decay.io.product, Updated - 5 - IdleAge.Product)))
  remainder.pending := 0.U
  private val isAged = Delay(io.seen(0).length === 0.U, Updated - Latency) && at.held(7, isPacket)
  remainders.write(isUpdated && isAged, Cat(pastQueue, at.index(Updated)), remainder)
  remainders.write(!sweep.done, sweep.address, remainder)
}

object QueueLookInTurn {

  /** From queue to what the first of its averages sees; the next is a clock later, and the last two. */
  val Latency: Int = 4 + IdleAge.LatencyInTurn

  /** The clock of a look in which it is told what it has updated. */
  val Updated: Int = Latency + 2
  require(Latency == 8, "the lengths come at another time than the decays")
}
