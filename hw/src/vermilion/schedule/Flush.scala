package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams

/** Which queues are flushed: all of an egress, and one more.
  *
  * A packet of such a queue is discarded where it would be sent, when its scheduler chooses it. It departs, but goes to no reader, and its cells are free
  * again. Neither shapers nor a pause nor an egress that takes nothing holds it, and it is charged to no shaper. The order stays: a queue that is
  * flushed alone waits for those that go before it. Packets that come are decided and queued as ever, and discarded as long as the flush stands.
  */
class FlushSettings(p: LaneParams) extends Bundle {
  val egresses = Vec(p.egresses, Bool())
  val queue = Valid(UInt(p.queueBits.W))

  /** Whether a queue is among them. */
  def has(of: UInt): Bool = {
    val whole = if (p.egresses == 1) egresses.head else egresses(of(p.queueBits - 1, p.queueBits - p.egressBits))
    whole || isAlone(of)
  }

  /** Whether it is the queue that is flushed alone. */
  def isAlone(of: UInt): Bool = queue.valid && queue.bits === of

  def any: Bool = egresses.asUInt.orR || queue.valid
}
