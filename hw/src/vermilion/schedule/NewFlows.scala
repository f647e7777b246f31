package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams

/** A queue that holds no more packets and leaves its list. */
class EmptiedQueue(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val wasNew = Bool() // it was in the list of new flows
}

object NewFlows {

  /** Bits of the counts of queues that enter and leave the DRR list: at one per cycle of 4 ns they reach half of their range after 137 s. */
  val CountBits = 36
}

/** Tells whether a queue that becomes backlogged is a new flow (RFC 8290, section 4.2).
  *
  * In the RFC a new flow that becomes empty goes to the end of the list of old flows. There it stays without a packet until it comes first. Until then it is
  * not new again. So nobody gets more than one quantum out of turn while the old flows are served once.
  *
  * Here no list holds an empty queue. Instead its place in the DRR list, the list of old flows, is noted: the number of queues that had been inserted there
  * when it became empty. It has come first when as many have left that list. A queue that becomes empty in the DRR list is first there, and may be new at once.
  *
  * With the victim search the scheduler cannot tell a queue whose head ran empty from an empty one ([[vermilion.victim.HeadPlaces]]). There each queue that leaves its
  * list waits until those in the DRR list have had their turn.
  *
  * The counts wrap. So a queue that becomes backlogged after 2^35^ turns or more may count as an old flow once.
  *
  * `isNew` answers `queue` one cycle later, with what left up to the cycle of `queue` and what became empty before.
  * RAM: `places`, queues x 36 b, 1W 1R.
  */
class NewFlows(p: LaneParams, countBits: Int = NewFlows.CountBits) extends Module {
  val io = IO(new Bundle {
    val emptied = Flipped(Valid(new EmptiedQueue(p)))
    val entered, left = Input(Bool()) // a queue enters or leaves the DRR list
    val queue = Input(UInt(p.queueBits.W))
    val isNew = Output(Bool())
  })

  private val entered, left = RegInit(0.U(countBits.W))
  when(io.entered) { entered := entered + 1.U }
  when(io.left) { left := left + 1.U }

  private val places = new ForwardingRam(p.queues, UInt(countBits.W))
  private val sweep = new SweepInit(p.queues)
  private val waits = if (p.victims == 0) io.emptied.bits.wasNew else true.B
  places.write(!sweep.done, sweep.address, 0.U)
  // One cycle later, so that it counts the queue whose turn ended just before and that enters in the cycle of `emptied`.
  private val place = Mux(Delay(waits), entered, left)
  places.write(RegNext(io.emptied.valid, false.B), Delay(io.emptied.bits.queue), place)
  private val after = left - places.read(io.queue)
  io.isNew := !after(countBits - 1)
}
