package vermilion.nic

import chisel3._
import chisel3.util._

/** What becomes of the host's frames of one port in its lane: as `lane/FateReport`, of these frames alone. `keep` answers `fate` in the same clock. */
class TxReport extends Bundle {
  val fate = Valid(new Bundle {
    val tag = UInt(NicParams.TagBits.W)
    val ptpEvent = Bool()
    val admitted = Bool() // else it is dropped
  })
  val keep = Input(UInt(NicParams.TagBits.W)) // the tag that an admitted frame goes on with
  val evicted = Valid(UInt(NicParams.TagBits.W)) // what was kept of a frame that was taken out of its queue again
}

/** What happens to the host's frames of one port, each for one clock. */
class TxEvents extends Bundle {
  val taken = Bool() // a frame of the host, by the wire lane
  val forDrop = Bool() // completions that are ours, as they come to be owed
  val forEviction = Bool()
  val atEnqueue = Bool()
  val ofMac = Bool() // a completion of the MAC, passed on
  val ours = Bool() // a completion that is ours, given
}

/** Answers for the host's frames that go through a wire lane, and passes on the MAC's completions.
  *
  * A frame asks for a completion with the highest bit of its tag. It gets exactly one:
  * {{{
  *   dropped at its verdict, or lost at the input             ours, at once
  *   admitted, `atEnqueue`, and no PTP event frame            ours, at once; it goes on with the bit cleared
  *   admitted else, goes on with its tag, and leaves          the MAC's
  *                  or is evicted or flushed                  ours
  * }}}
  * The MAC completes every frame it sends; a completion whose tag does not ask (completed before, or forwarded) ends here.
  * Which of them is fixed at the verdict, by the tag that the lane keeps: whatever `atEnqueue` does later changes
  * nothing for a frame that has its verdict.
  *
  * None can be lost: a frame that asks is taken only while fewer than [[TxCompletions.Credits]] are owed. It is owed
  * one from its first beat until ours is handed over or the frame leaves, so there is a place for every completion that
  * any of them may come to need.
  *
  * After a reset the lane may lose the first frame of its input, which it takes for the rest of a frame that the reset
  * cut (lane/Ingress); no other. So the tag of the first frame is kept here.
  *
  * Latency: a completion of ours can be handed over 2 clocks after the verdict, one of the MAC's in the clock after it
  * came. The MAC's go first: its store is small and loses what it cannot hold; ours wait on credit. `keep` answers in
  * the clock of `fate`.
  */
class TxCompletions extends Module {
  import TxCompletions._
  val io = IO(new Bundle {
    val atEnqueue = Input(Bool())
    val tag = Input(UInt(NicParams.TagBits.W)) // of the frame that is offered to the lane
    val mayBegin = Output(Bool()) // it may be taken
    val begins = Input(Bool()) // it is: its first beat
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

  // -- owed, from the first beat on --
  private val owed = RegInit(0.U(log2Ceil(Credits + 1).W))
  private val handedOver = Wire(Bool())
  io.mayBegin := !asks(io.tag) || owed =/= Credits.U
  owed := owed + (io.begins && asks(io.tag)) - handedOver - (io.leaves.valid && asks(io.leaves.bits))
  assert(owed <= Credits.U, "more or fewer completions than frames that ask for one")

  // -- ours, in the order in which they came to be owed, but for evictions --
  private def store(valid: Bool, tag: UInt): DecoupledIO[UInt] = {
    val queue = Module(new Queue(UInt(NicParams.TagBits.W), Credits))
    queue.io.enq.valid := valid
    queue.io.enq.bits := tag
    assert(!valid || queue.io.enq.ready, "a completion that is owed has no place")
    queue.io.deq
  }
  private val evicted = io.report.evicted
  private val forEviction = evicted.valid && asks(evicted.bits)
  private val first = RegInit(true.B) // no frame was taken since the reset
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

  // -- and the MAC's --
  private val merge = Module(new Arbiter(new Completion, 2))
  // The MAC completes every frame; the host's engine waits for those alone whose tags ask.
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

  /** Completions that may be owed at once. A Corundum engine waits for 32 at most. */
  val Credits = 64
}
