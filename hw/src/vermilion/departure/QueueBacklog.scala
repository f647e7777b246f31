package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.TakenPacket

/** The bytes by which a queue becomes longer, modulo 2^27: negative if more are evicted than come. */
class QueuedBytes(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val bytes = UInt(LenBits.W)
}

/** Counts the bytes of every queue as its scheduler has them: what came, and was not taken.
  *
  * It is the difference of two totals per queue, each in a RAM with one writer. `behind` are the bytes that are queued behind the packet that was taken in the
  * cycle before. It counts what `came` in earlier cycles than that. `isEmpty` answers the `query` of the cycle before, and counts what came or was taken before
  * that query. No packet may come in the first `queues` cycles after a reset.
  */
class QueueBacklog(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val came = Flipped(Valid(new QueuedBytes(p)))
    val taken = Flipped(Valid(new TakenPacket(p)))
    val behind = Output(UInt(LenBits.W))
    val behindBoth = Output(UInt(LenBits.W)) // in builds with `dualpi2`, and what the other queue of the pair holds
    val query = Input(UInt(p.queueBits.W))
    val isEmpty = Output(Bool())
  })
  private val bytesIn = new ForwardingRam(p.queues, UInt(LenBits.W)).suggestName("bytesIn")
  private val bytesOut = new ForwardingRam(p.queues, UInt(LenBits.W)).suggestName("bytesOut")
  private val sweep = new SweepInit(p.queues)

  private val came = Delay(io.came.bits)
  bytesIn.write(!sweep.done, sweep.address, 0.U)
  bytesIn.write(
    RegNext(io.came.valid, false.B),
    came.queue,
    Arithmetic.wrap(bytesIn.read(io.came.bits.queue) + came.bytes, LenBits)
  )

  private val taken = io.taken.bits
  private val s1 = Delay(taken)
  private val s1Out = Arithmetic.wrap(bytesOut.read(taken.queue) + s1.queueEntry.lenBytes, LenBits)
  bytesOut.write(!sweep.done, sweep.address, 0.U)
  bytesOut.write(RegNext(io.taken.valid, false.B), s1.queue, s1Out)
  io.behind := Arithmetic.wrap(bytesIn.read(taken.queue) - s1Out, LenBits)
  private val other = taken.queue ^ 1.U
  io.behindBoth := (
    if (p.dualpi2) Arithmetic.wrap(io.behind + bytesIn.read(other) - bytesOut.read(other), LenBits)
    else io.behind
  )
  io.isEmpty := (if (p.pie) bytesIn.read(io.query) === bytesOut.read(io.query) else false.B)

  assert(sweep.done || !(io.taken.valid || io.came.valid), "a packet came before the memories are cleared")
}
