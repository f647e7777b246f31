package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.TakenPacket

/** What a queue becomes longer by, modulo 2^27 bytes: negative if more is evicted than comes. */
class QueuedBytes(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val bytes = UInt(LenBits.W)
  val packets = Option.when(p.codel)(UInt((p.cellBits + 1).W)) // modulo its range, which no queue reaches
}

/** Counts the bytes, and in builds with `codel` the packets, of every queue as its scheduler has them: what came, and was not taken.
  *
  * Each count is the difference of two totals per queue, each in a RAM with one writer. `behind` are the bytes that are queued behind the packet that was taken in the
  * cycle before. It counts what `came` in earlier cycles than that, and so does `packetsBehind`. `isEmpty` answers the `query` of the cycle before, and counts what came or was taken before
  * that query. No packet may come in the first `queues` cycles after a reset.
  */
class QueueBacklog(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val came = Flipped(Valid(new QueuedBytes(p)))
    val taken = Flipped(Valid(new TakenPacket(p)))
    val behind = Output(UInt(LenBits.W))
    val packetsBehind = Option.when(p.codel)(Output(UInt((p.cellBits + 1).W)))
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
  for ((packets, behind) <- io.came.bits.packets.zip(io.packetsBehind)) {
    val bits = p.cellBits + 1
    val packetsIn = new ForwardingRam(p.queues, UInt(bits.W)).suggestName("packetsIn")
    val packetsOut = new ForwardingRam(p.queues, UInt(bits.W)).suggestName("packetsOut")
    val sum = Arithmetic.wrap(packetsIn.read(io.came.bits.queue) + Delay(packets), bits)
    val s1Out = Arithmetic.wrap(packetsOut.read(taken.queue) + 1.U, bits)
    packetsIn.write(!sweep.done, sweep.address, 0.U)
    packetsIn.write(RegNext(io.came.valid, false.B), came.queue, sum)
    packetsOut.write(!sweep.done, sweep.address, 0.U)
    packetsOut.write(RegNext(io.taken.valid, false.B), s1.queue, s1Out)
    behind := Arithmetic.wrap(packetsIn.read(taken.queue) - s1Out, bits)
  }
  private val other = taken.queue ^ 1.U
  io.behindBoth := (
    if (p.dualpi2) Arithmetic.wrap(io.behind + bytesIn.read(other) - bytesOut.read(other), LenBits)
    else io.behind
  )
  io.isEmpty := (if (p.pie) bytesIn.read(io.query) === bytesOut.read(io.query) else false.B)

  assert(sweep.done || !(io.taken.valid || io.came.valid), "a packet came before the memories are cleared")
}
