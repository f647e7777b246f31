package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** [[QueueStateLookup]]: an average of an empty queue never stands still, and no packet's step is lost or taken twice.
  *
  * The build's queues stay empty, time stands still (the shortest interval there is), and each packet's step is a quarter of what an average can decay by.
  * Lookups of both queues begin in any clock; whether each is a packet, and whether it updates the estimator, is free.
  *
  * An average goes back to the newest one that its lookup could see, that to another one, and so on. Along this line `applied` counts the units by which it
  * decayed, `packets` all packets that updated the estimator so far. Of their steps, four a unit, at most 8 are still to come: less than one unit, and those of
  * up to five packets that were in the pipeline beside the lookup.
  */
class QueueStateLookupChecks(p: LaneParams) extends Module {
  import QueueStateLookupChecks._
  val free = IO(Input(new Bundle {
    val queue = UInt(p.queueBits.W)
    val isPacket, updates = Bool()
  }))
  private val lookup = Module(new QueueStateLookup(p))
  lookup.io := DontCare
  Seq(lookup.io.admitted, lookup.io.departed, lookup.io.evicted).foreach(_.valid := false.B)
  lookup.io.now := 0.U
  lookup.io.time := 0.U
  lookup.io.queue := free.queue
  lookup.io.isPacket := free.isPacket
  lookup.io.config := 0.U.asTypeOf(lookup.io.config)
  lookup.io.config.lambda.shift := StepShift.U
  lookup.io.config.idleStep := 1.U
  for (e <- 0 until Colour.Count) lookup.io.config.masks(e) := 7.U

  // ---- what the averages know of updates: those of the last five lookups are under way
  private val queue = Delay(free.queue, QueueStateLookup.Latency)
  private val updates = lookup.io.ready && free.updates && Delay(free.isPacket, QueueStateLookup.Latency)
  private val before = (1 until QueueStateLookup.Visible).map(k => RegNextN(updates, k) && Delay(queue, k) === queue)
  lookup.io.update := VecInit(Seq.fill(Colour.Count)(updates))
  lookup.io.ahead := VecInit(Seq.fill(Colour.Count)(PopCount(before) + 1.U))

  // ---- packets so far, and the units by which the average that this lookup updates has decayed
  private val packets = RegInit(VecInit.fill(p.queues)(0.U(CountBits.W)))
  private val applied = RegInit(VecInit.fill(p.queues)(0.U(CountBits.W)))
  private val seen = lookup.io.seen(0)
  private val units = PriorityEncoder(IdleAge.rom.take(Units).map(seen.factor === _.U))
  private val here = applied(queue) + units
  private val there = packets(queue) + 1.U
  when(updates) { packets(queue) := there }
  when(RegNextN(updates, QueueStateLookup.Visible - 1)) {
    applied(Delay(queue, QueueStateLookup.Visible - 1)) := Delay(here, QueueStateLookup.Visible - 1)
  }
  private val toCome = (there - (here << StepShift)(CountBits - 1, 0))(CountBits - 1, 0)
  assert(!updates || (seen.length === 0.U && seen.halvings === 0.U), "an empty queue is seen with a length")
  assert(!updates || IdleAge.rom.take(Units).map(seen.factor === _.U).reduce(_ || _), "an average decays by too much")
  assert(!updates || toCome <= MostToCome.U, "a packet's step is lost, or taken twice")

  private def RegNextN(x: Bool, n: Int): Bool = Seq.iterate(x, n + 1)(RegNext(_, false.B)).last
}

object QueueStateLookupChecks {

  /** Four steps are a unit. */
  private val StepShift = 2

  /** Units that one ageing can apply: (3 + 6) / 4, and none. */
  private val Units = 3
  private val CountBits = 6
  private val MostToCome = 8
}
