package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** [[QueueLook]]: an average of an empty queue never stands still, and no packet's step is lost or taken twice.
  *
  * The build's queues stay empty, time stands still (the shortest interval there is), and each packet's step is a quarter of what an average can decay by.
  * Looks of both queues begin in any clock; whether each is a packet, and whether it updates the estimator, is free.
  *
  * An average goes back to the newest one that its look could see, that to another one, and so on. Along this line `applied` counts the units by which it
  * decayed, `packets` all packets that updated the estimator so far. Of their steps, four a unit, at most 8 are still to come: less than one unit, and those of
  * up to five packets that were in the pipeline beside the look.
  */
class QueueLookChecks(p: LaneParams) extends Module {
  import QueueLookChecks._
  val free = IO(Input(new Bundle {
    val queue = UInt(p.queueBits.W)
    val isPacket, updates = Bool()
  }))
  private val look = Module(new QueueLook(p))
  look.io := DontCare
  Seq(look.io.admitted, look.io.departed, look.io.evicted).foreach(_.valid := false.B)
  look.io.now := 0.U
  look.io.time := 0.U
  look.io.queue := free.queue
  look.io.isPacket := free.isPacket
  look.io.config := 0.U.asTypeOf(look.io.config)
  look.io.config.lambda.shift := StepShift.U
  look.io.config.idleStep := 1.U
  for (e <- 0 until Colour.Count) look.io.config.masks(e) := 7.U

  // ---- what the averages know of updates: those of the last five looks are under way
  private val queue = Delay(free.queue, QueueLook.Latency)
  private val updates = look.io.ready && free.updates && Delay(free.isPacket, QueueLook.Latency)
  private val before = (1 until QueueLook.Visible).map(k => RegNextN(updates, k) && Delay(queue, k) === queue)
  look.io.update := VecInit(Seq.fill(Colour.Count)(updates))
  look.io.ahead := VecInit(Seq.fill(Colour.Count)(PopCount(before) + 1.U))

  // ---- packets so far, and the units by which the average that this look updates has decayed
  private val packets = RegInit(VecInit.fill(p.queues)(0.U(CountBits.W)))
  private val applied = RegInit(VecInit.fill(p.queues)(0.U(CountBits.W)))
  private val seen = look.io.seen(0)
  private val units = PriorityEncoder(IdleAge.rom.take(Units).map(seen.factor === _.U))
  private val here = applied(queue) + units
  private val there = packets(queue) + 1.U
  when(updates) { packets(queue) := there }
  when(RegNextN(updates, QueueLook.Visible - 1)) {
    applied(Delay(queue, QueueLook.Visible - 1)) := Delay(here, QueueLook.Visible - 1)
  }
  private val toCome = (there - (here << StepShift)(CountBits - 1, 0))(CountBits - 1, 0)
  assert(!updates || (seen.length === 0.U && seen.halvings === 0.U), "an empty queue is seen with a length")
  assert(!updates || IdleAge.rom.take(Units).map(seen.factor === _.U).reduce(_ || _), "an average decays by too much")
  assert(!updates || toCome <= MostToCome.U, "a packet's step is lost, or taken twice")

  private def RegNextN(x: Bool, n: Int): Bool = Seq.iterate(x, n + 1)(RegNext(_, false.B)).last
}

object QueueLookChecks {

  /** Four steps are a unit. */
  private val StepShift = 2

  /** Units that one ageing can apply: (3 + 6) / 4, and none. */
  private val Units = 3
  private val CountBits = 6
  private val MostToCome = 8
}
