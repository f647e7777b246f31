package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams

/** A place in the DRR list that ends: that of a queue without a packet which has come first. */
class EndedPlace(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val turn = Bool() // as in [[KeptPlaces]]
}

/** Knows the empty queues that keep a place in the DRR list, the list of old flows (RFC 8290, section 4.2).
  *
  * In the RFC a flow that becomes empty goes to the end of the list of old flows, without a packet. There it is no new flow: a packet that arrives is sent when
  * the queue comes first. If none has arrived by then, the queue leaves the list. So no flow gets more than one quantum out of turn while the old flows are
  * served once.
  *
  * A queue that becomes empty (`emptied`) waits here until a cycle is free to insert it (`offer`). If a packet arrives before (`arrival`), the queue goes
  * to the end of the list with this packet, and the offer is cancelled.
  *
  * Whether a queue is in the list without a packet is the exclusive or of two bits: `inserted` is written when it is inserted or its packet arrives, `ended`
  * when it leaves the list. So each memory has one writer. The bit that is written at the insertion stays with the list's entry as `turn`, and `ended`
  * becomes equal to it.
  *
  * `isListed` and `waited` belong to the queue of `arrival` or `offer` of the cycle before. `isListed` counts what left the list up to that cycle.
  * No packet of a flow may be taken while `isFull`, so that there is room for the queue that it leaves empty. It counts cancelled offers that still wait, too.
  * RAMs: `inserted`, `ended`, queues x 1 b, 1W 1R each.
  */
class KeptPlaces(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val emptied = Flipped(Valid(UInt(p.queueBits.W))) // one cycle after its last packet was taken
    val arrival =
      Flipped(Valid(UInt(p.queueBits.W))) // is inserted with a packet in the next cycle; then no offer is taken
    val offer = Decoupled(UInt(p.queueBits.W)) // is inserted without a packet in the next cycle
    val isListed = Output(Bool()) // the queue has a place, and no packet
    val waited = Output(Bool()) // it waited to be inserted without a packet, which it is not any more
    val turn = Output(Bool()) // for the entry that is inserted
    val inserts, fills =
      Input(Bool()) // in the cycle after: it is inserted without a packet; its packet is put into its place
    val ends = Flipped(Valid(new EndedPlace(p)))
    val isFull = Output(Bool())
    val isIdle = Output(Bool()) // no queue waits
  })
  private val Waiting = 4

  private val waiting = Reg(Vec(Waiting, UInt(p.queueBits.W)))
  private val cancelled = Reg(Vec(Waiting, Bool()))
  private val from, to = RegInit(0.U(log2Ceil(Waiting).W))
  private val count = RegInit(0.U(log2Ceil(Waiting + 1).W))
  private val some = count =/= 0.U
  private def arrives(queue: UInt): Bool = io.arrival.valid && io.arrival.bits === queue
  private val hits = VecInit.tabulate(Waiting) { i =>
    val held = (i.U - from)(log2Ceil(Waiting) - 1, 0) < count
    held && !cancelled(i) && arrives(waiting(i))
  }
  for (i <- 0 until Waiting) { when(hits(i)) { cancelled(i) := true.B } }
  private val hitsEmptied = io.emptied.valid && arrives(io.emptied.bits)
  io.waited := RegNext(hits.asUInt.orR || hitsEmptied, false.B)

  private val enters = io.emptied.valid && !hitsEmptied
  when(enters) {
    waiting(to) := io.emptied.bits
    cancelled(to) := false.B
    to := to + 1.U
  }
  io.offer.valid := some && !cancelled(from)
  io.offer.bits := waiting(from)
  private val leaves = some && (cancelled(from) || io.offer.ready)
  when(leaves) { from := from + 1.U }
  when(enters =/= leaves) { count := Mux(enters, count + 1.U, count - 1.U) }
  assert(!enters || count =/= Waiting.U, "no place is free for a queue that became empty")
  assert(!(io.arrival.valid && io.offer.ready), "two queues are inserted at once")
  // One may be under way here, and one be taken in this cycle.
  io.isFull := count > (Waiting - 2).U
  io.isIdle := !some && !io.emptied.valid

  private val inserted, ended = new ForwardingRam(p.queues, Bool())
  private val sweep = new SweepInit(p.queues)
  private val queue = Mux(io.arrival.valid, io.arrival.bits, waiting(from))
  private val (wasInserted, wasEnded) = (inserted.read(queue), ended.read(queue))
  io.isListed := wasInserted =/= wasEnded
  io.turn := !wasEnded
  inserted.write(io.inserts || io.fills, Delay(queue), Mux(io.inserts, !wasEnded, wasEnded))
  ended.write(io.ends.valid, io.ends.bits.queue, io.ends.bits.turn)
  when(!sweep.done) {
    inserted.write(true.B, sweep.address, false.B)
    ended.write(true.B, sweep.address, false.B)
  }
  assert(!io.inserts || !io.isListed, "a queue has two places in the DRR list")
  assert(!io.fills || io.isListed, "a packet is put into a place that its queue does not have")
}
