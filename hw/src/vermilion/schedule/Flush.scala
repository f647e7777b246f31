package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** Selects the queues that are flushed: all queues of some egresses, and one more queue.
  *
  * A packet of such a queue is discarded when its scheduler chooses it, instead of being sent. It departs, but goes to no reader, and its cells become free.
  * Shapers, a pause and a blocked egress do not hold it, and no shaper is charged for it. The order stays:
  * a queue that is flushed alone waits for the queues that are served before it.
  * Arriving packets are decided and queued as usual, and discarded while the flush is set.
  */
class FlushSettings(p: LaneParams) extends Bundle {
  val egresses = Vec(p.egresses, Bool())
  val queue = Valid(UInt(p.queueBits.W))

  /** Whether the queue is flushed. */
  def has(of: UInt): Bool = {
    val whole = if (p.egresses == 1) egresses.head else egresses(of(p.queueBits - 1, p.queueBits - p.egressBits))
    whole || isAlone(of)
  }

  /** Whether the queue is the one that is flushed alone. */
  def isAlone(of: UInt): Bool = queue.valid && queue.bits === of

  def any: Bool = egresses.asUInt.orR || queue.valid
}
