package vermilion.nic

import chisel3._
import chisel3.util._

/** The lane's results for the host's frames of one port: as `lane/FateReport`, for these frames only. `keep` answers `fate` in the same cycle. */
class TxReport extends Bundle {
  val fate = Valid(new Bundle {
    val tag = UInt(NicParams.TagBits.W)
    val ptpEvent = Bool()
    val admitted = Bool() // if false, the frame is dropped
  })
  val keep = Input(UInt(NicParams.TagBits.W)) // the tag that an admitted frame carries from then on
  val evicted = Valid(UInt(NicParams.TagBits.W)) // the tag kept for a frame that was removed from its queue
}

/** Events of the host's frames of one port. Each lasts one cycle. */
class TxEvents extends Bundle {
  val taken = Bool() // the wire lane has accepted a frame of the host
  val forDrop = Bool() // completions of the app block, when they become due
  val forEviction = Bool()
  val atEnqueue = Bool()
  val ofMac = Bool() // a completion of the MAC is passed on
  val ours = Bool() // a completion of the app block is sent
}

/** Completes the host's frames that go through a wire lane, and passes on the MAC's completions.
  *
  * A frame requests a completion with the highest bit of its tag. It gets exactly one, from the app block ("own") or from
  * the MAC:
  * {{{
  *   dropped at its verdict, or lost at the input             own, at once
  *   admitted, `atEnqueue`, and no PTP event frame            own, at once; the frame continues with the bit cleared
  *   admitted otherwise, keeps its tag, and leaves            the MAC's
  *                       or is evicted or flushed             own
  * }}}
  * The MAC completes every frame that it sends. A completion with a tag that does not request one (completed before, or
  * forwarded) ends here. The choice is made at the verdict, by the tag that the lane keeps. Later changes of `atEnqueue`
  * have no effect on a frame that has its verdict.
  *
  * No completion can be lost. A frame that requests one is accepted only while fewer than [[TxCompletions.Credits]] are
  * due. Its completion is due from its first beat until the own completion is sent or the frame leaves. So there is a
  * place for every completion that may become necessary.
  *
  * After a reset the lane may lose the first frame of its input, and no other: it takes that frame as the rest of a frame
  * that the reset cut (stream/Ingress). So this module keeps the tag of the first frame.
  *
  * Latency: an own completion can be sent 2 cycles after the verdict, and one of the MAC in the cycle after its arrival.
  * Completions of the MAC have priority: the MAC's store is small and loses what does not fit. Own completions have
  * places, by the credits. `keep` answers in the cycle of `fate`.
  */
class TxCompletions extends Module {
  import TxCompletions._
  val io = IO(new Bundle {
    val atEnqueue = Input(Bool())
    val tag = Input(UInt(NicParams.TagBits.W)) // of the frame at the lane's input
    val mayBegin = Output(Bool()) // the lane may accept the frame
    val begins = Input(Bool()) // the lane accepts the frame's first beat
    val report = Flipped(new TxReport)
    val lost = Input(Bool()) // a frame of the host's input
    val leaves = Flipped(Valid(UInt(NicParams.TagBits.W))) // a frame's last beat leaves the lane
    val mac = Flipped(Decoupled(new Completion))
    val out = Decoupled(new Completion)
    val events = Output(new TxEvents)
  })
  private def asks(tag: UInt): Bool = tag(NicParams.TagBits - 1)

  // -- at the verdict --
  private val fate = io.report.fate.bits
  private val fateAsks = io.report.fate.valid && asks(fate.tag)
  private val early = fate.admitted && io.atEnqueue && !fate.ptpEvent
  io.report.keep := Cat(asks(fate.tag) && !early, fate.tag(NicParams.TagBits - 2, 0))
  private val forDrop = fateAsks && !fate.admitted
  private val atEnqueue = fateAsks && early

  // -- completions that are due, from the first beat on --
  private val owed = RegInit(0.U(log2Ceil(Credits + 1).W))
  private val handedOver = Wire(Bool())
  io.mayBegin := !asks(io.tag) || owed =/= Credits.U
  owed := owed + (io.begins && asks(io.tag)) - handedOver - (io.leaves.valid && asks(io.leaves.bits))
  assert(owed <= Credits.U, "more or fewer completions than frames that ask for one")

  // -- own completions, in the order in which they become due, except for evictions --
  private def store(valid: Bool, tag: UInt): DecoupledIO[UInt] = {
    val queue = Module(new Queue(UInt(NicParams.TagBits.W), Credits))
    queue.io.enq.valid := valid
    queue.io.enq.bits := tag
    assert(!valid || queue.io.enq.ready, "a completion that is owed has no place")
    queue.io.deq
  }
  private val evicted = io.report.evicted
  private val forEviction = evicted.valid && asks(evicted.bits)
  private val first = RegInit(true.B) // no frame was accepted since the reset
  private val firstTag = Reg(UInt(NicParams.TagBits.W))
  when(io.begins) {
    first := false.B
    when(first) { firstTag := io.tag }
  }
  private val lost = Wire(Decoupled(UInt(NicParams.TagBits.W)))
  private val lostOwed = RegInit(false.B)
  when(lost.fire) { lostOwed := false.B }
  when(io.lost && asks(firstTag)) { lostOwed := true.B }
  lost.valid := lostOwed
  lost.bits := firstTag

  private val sources = Seq(lost, store(forDrop || atEnqueue, fate.tag), store(forEviction, evicted.bits))
  private val ours = Module(new RRArbiter(UInt(NicParams.TagBits.W), sources.size))
  ours.io.in.zip(sources).foreach { case (to, from) => to <> from }

  // -- the MAC's completions --
  private val merge = Module(new Arbiter(new Completion, 2))
  // The MAC completes every frame; the host's engine waits only for completions with a tag that requests one.
  private val macAsks = asks(io.mac.bits.tag)
  merge.io.in(0).valid := io.mac.valid && macAsks
  merge.io.in(0).bits := io.mac.bits
  io.mac.ready := merge.io.in(0).ready || !macAsks
  merge.io.in(1).valid := ours.io.out.valid
  merge.io.in(1).bits.ts := 0.U
  merge.io.in(1).bits.tag := ours.io.out.bits
  ours.io.out.ready := merge.io.in(1).ready
  handedOver := ours.io.out.fire
  io.out <> Queue(merge.io.out, 2)

  io.events.taken := io.begins
  io.events.forDrop := forDrop || (io.lost && asks(firstTag))
  io.events.forEviction := forEviction
  io.events.atEnqueue := atEnqueue
  io.events.ofMac := merge.io.in(0).fire
  io.events.ours := handedOver
}

object TxCompletions {

  /** Maximum number of completions that can be due at the same time. A Corundum engine waits for at most 32. */
  val Credits = 64
}
