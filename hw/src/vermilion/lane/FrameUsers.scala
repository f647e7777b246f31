package vermilion.lane

import chisel3._
import chisel3.util._
import vermilion.fixed.{Memory, MemoryKind}
import vermilion.policy.Decision
import vermilion.stream.{PacketDescriptor, Verdict}

/** The result for a frame, in the cycle of its decision: one for each frame that gets a verdict, in order. */
class FrameFate(p: LaneParams) extends Bundle {
  val input = UInt(p.inputBits.W)
  val user = UInt(p.userBits.W) // as it arrived
  val ptpEvent = Bool() // EtherType 0x88f7, or UDP to port 319 (IEEE 1588 annexes C to F)
  val admitted = Bool() // if false, the frame is dropped
}

/** The results for a lane's frames, for a module that must answer for each frame, such as a NIC with its completions.
  *
  * `keep` answers `fate` in the same cycle: it is the `user` that an admitted frame carries from then on. `evicted` reports an admitted frame that a
  * push-out or a flush removed from its queue, or that was dropped at departure. It gives the lowest bits of the `user` that was kept for the frame (`LaneParams.evictedBits`).
  */
class FateReport(p: LaneParams) extends Bundle {
  val fate = Valid(new FrameFate(p))
  val keep = Input(UInt(p.userBits.W))
  val evicted = Valid(UInt(FrameUsers.evictedBits(p).W))
}

/** Carries the `user` bits of frames in parallel with the pipeline, from the descriptor to the egress.
  *
  * From the descriptor to the decision the bits wait in a queue, because both come in the same order. From there to the egress they are in a RAM,
  * addressed by head cell.
  *
  * {{{
  *   descriptor -> Queue -> fate -> keep -+-> RAM by head cell -> Queue -> sent, or evicted by a flush or at departure
  *                                       +-> a second RAM, lowest bits -> evicted by a push-out
  * }}}
  * `evicted` comes one cycle after the decision that causes it, or after `discarded`. `mayDiscard` keeps these two apart. `sent` is the `user` of the
  * frame that is being sent, or of the next one.
  * A frame leaves, or is evicted, at least one cycle after its decision. Its cells are read through a FIFO of queue entries
  * ([[vermilion.schedule.EgressQueues]]), and a push-out settles later than the packets before it.
  */
class FrameUsers(p: LaneParams) extends Module {
  require(p.userBits > 0, s"userBits is ${p.userBits}; legal are 1 to 128")
  val io = IO(new Bundle {
    val descriptor = Flipped(Valid(new PacketDescriptor(p)))
    val decision = Flipped(Valid(new Decision(p)))
    val report = new FateReport(p)
    val leaving =
      Flipped(Vec(p.egresses, Valid(UInt(p.cellBits.W)))) // head cell of a frame that enters the rewrite; one per cycle
    val mayDiscard = Output(Bool())
    val discarded = Flipped(
      Valid(UInt(p.cellBits.W))
    ) // head cell of a frame that is flushed, or dropped at departure; not with `leaving`
    val sent = Output(Vec(p.egresses, UInt(p.userBits.W)))
    val sentLast = Input(Vec(p.egresses, Bool())) // the frame's last beat is accepted
  })

  private class Waiting extends Bundle {
    val user = UInt(p.userBits.W)
    val ptpEvent = Bool()
  }
  private val decided = io.decision.valid && !io.decision.bits.refresh
  private val waiting = Module(new Queue(new Waiting, FrameUsers.Deciding))
  private val headers = io.descriptor.bits.headers
  waiting.io.enq.valid := io.descriptor.valid
  waiting.io.enq.bits.user := io.descriptor.bits.user
  waiting.io.enq.bits.ptpEvent := headers.isPtpType ||
    headers.hasPorts && headers.proto === FrameUsers.Udp.U && headers.dstPort === FrameUsers.PtpEventPort.U
  waiting.io.deq.ready := decided
  assert(
    !io.descriptor.valid || waiting.io.enq.ready,
    "more frames between descriptor and decision than there are places"
  )
  assert(!decided || waiting.io.deq.valid, "a decision of a frame without a descriptor")

  private val admitted = Verdict.admits(io.decision.bits.verdict)
  io.report.fate.valid := decided
  io.report.fate.bits.input := io.decision.bits.input
  io.report.fate.bits.user := waiting.io.deq.bits.user
  io.report.fate.bits.ptpEvent := waiting.io.deq.bits.ptpEvent
  io.report.fate.bits.admitted := admitted

  // Not in UltraRAM: a card would have none left.
  private def kept(bits: Int) = {
    val memory = new Memory(p.cells, UInt(bits.W), MemoryKind.of(p.cells))
    memory.write(decided && admitted, io.decision.bits.headCell, io.report.keep(bits - 1, 0))
    memory
  }

  private val outcome = io.decision.bits.outcome
  private val evicts = if (p.victims == 0) false.B else decided && io.decision.bits.pushOut && outcome.evicted
  io.mayDiscard := !evicts
  io.report.evicted.valid := RegNext(evicts || io.discarded.valid, false.B)
  private val leaving = io.leaving :+ io.discarded
  private val leavingUser = kept(p.userBits).read(Mux1H(leaving.map(l => l.valid -> l.bits)))
  assert(PopCount(leaving.map(_.valid)) <= 1.U, "two frames leave at once")
  private val evictedBits = FrameUsers.evictedBits(p)
  private val victim =
    if (p.victims == 0 || evictedBits == 0) 0.U else kept(evictedBits).read(outcome.victim.cell)
  io.report.evicted.bits := (
    if (evictedBits == 0) 0.U
    else Mux(RegNext(io.discarded.valid, false.B), leavingUser(evictedBits - 1, 0), victim)
  )
  assert(!(evicts && io.discarded.valid), "one frame is evicted and another discarded in the same cycle")
  for (e <- 0 until p.egresses) {
    val sent = Module(new Queue(UInt(p.userBits.W), FrameUsers.Leaving))
    sent.suggestName(if (p.egresses == 1) "sent" else s"sent_$e")
    sent.io.enq.valid := RegNext(io.leaving(e).valid, false.B)
    sent.io.enq.bits := leavingUser
    sent.io.deq.ready := io.sentLast(e)
    io.sent(e) := sent.io.deq.bits
    assert(!sent.io.enq.valid || sent.io.enq.ready, "more frames leave than there are places")
    assert(!io.sentLast(e) || sent.io.deq.valid, "a frame left before its user was there")
  }
}

object FrameUsers {

  /** Bits of `user` that are available for an evicted frame. */
  def evictedBits(p: LaneParams): Int = p.evictedBits.getOrElse(p.userBits)

  /** Maximum number of frames between descriptor and decision: one per cycle, over the slot, the policy pipeline and the victim search. */
  val Deciding = 64

  /** Maximum number of frames between the cell reader and the last beat: two in the rewrite, one in the serializer, one on its way to this module. */
  val Leaving = 4

  val Udp = 17 // IANA protocol number
  val PtpEventPort = 319 // IEEE 1588 annexes C and D
}
