package vermilion.stats

import chisel3._
import chisel3.util.Valid
import vermilion.classify.FlowGroups
import vermilion.fixed.{Delay, ForwardingRam}
import vermilion.lane.LaneParams
import vermilion.policy.Decision
import vermilion.stream.Verdict

/** Finds packets that are enqueued after a packet of another flow, in a queue of a group ([[vermilion.classify.FlowGroups]]).
  *
  * A memory holds for each queue the name of the flow whose packet was enqueued last. A packet is found if all of this holds:
  *  - its verdict is `enqueue` or `mark`, after a push-out,
  *  - its queue is in a group,
  *  - its queue was not empty: `queued` of its decision, which the limit is compared with, holds a packet,
  *  - the name in the memory is not that of its flow.
  *
  * So two flows that alternate in one queue count each of their packets, and a queue that becomes empty between them counts none. Two flows have the same name with a
  * probability of 2^-16; their collisions are not found. If the packet that was enqueued last is pushed out, its name stays.
  *
  * Every enqueued packet writes its name, also in queues without a group. So a queue that is not empty has the name of a packet, and the memory is not cleared.
  *
  * `found` is high two cycles after the decision.
  */
class FlowCollisions(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val decision = Flipped(Valid(new Decision(p)))
    val found = Output(Bool())
  })
  private val d = io.decision.bits
  private val flow = d.flow.get
  private val names = new ForwardingRam(p.queues, UInt(FlowGroups.NameBits.W)).suggestName("names")
  private val isEnqueued = RegNext(io.decision.valid && !d.refresh && Verdict.admits(d.verdict), false.B)
  private val isShared = Delay(flow.grouped && d.queued.packets =/= 0.U)
  private val hash = Delay(flow.hash)
  io.found := RegNext(isEnqueued && isShared && names.read(d.queue) =/= hash, false.B)
  names.write(isEnqueued, Delay(d.queue), hash)
}
