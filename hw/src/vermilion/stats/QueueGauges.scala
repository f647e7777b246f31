package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** Holds the backlog of every queue and its peak: the greatest backlog just after an enqueue since the last clear.
  *
  * The gauges are in RAM, one record per queue, each with one writer:
  * {{{
  *   in    bytes and packets that went in, less those evicted      changed one cycle after the event
  *   out   bytes and packets that departed                         one cycle after the event
  *   peak  the greatest in - out                                   two cycles after the event
  * }}}
  * All counts are modulo the first power of two above what the lane's cells can hold: a byte is in one cell, a cell in one packet.
  * A departure in the cycle of an enqueue does not lower that enqueue's peak.
  *
  * `start` captures the gauges of `queue` as of the end of its cycle. They are valid from two cycles later on, and are 0 until `ready`.
  * A clear leaves the backlog, and takes effect as in [[RecordRam]].
  */
class QueueGauges(p: LaneParams, epoch: Bool, flipped: Bool, start: Bool, queue: UInt) {
  private val packetBits = p.cellBits + 1
  private val byteBits = (p.cellBits + log2Ceil(CellBytes) + 1).min(LenBits)
  private val width = packetBits + byteBits
  private val in, out = new UpdateRam(p.queues, width, false.B)
  private val peakEpoch = RegNext(epoch, false.B)
  private val peak = new UpdateRam(p.queues, width + 1, RegNext(flipped, false.B))

  val ready: Bool = Seq(in, out, peak).map(_.ready).reduce(_ && _)
  val sweeping: Bool = peak.visiting && peak.ready

  private def bytes(raw: UInt): UInt = raw(byteBits - 1, 0)
  private def packets(raw: UInt): UInt = raw(width - 1, byteBits)
  private def gated(x: UInt, on: Bool): UInt = Mux(on, x, 0.U)
  private def less(a: UInt, b: UInt): UInt =
    Cat((packets(a) - packets(b))(packetBits - 1, 0), (bytes(a) - bytes(b))(byteBits - 1, 0))

  /** Counts an enqueue, which may evict another packet of the queue, and a departure. The lengths come one cycle later. */
  def count(
      enqueued: Bool,
      enqueuedQueue: UInt,
      lenBytes: UInt,
      evicted: Option[(Bool, UInt)],
      departed: Bool,
      departedQueue: UInt,
      departedBytes: UInt
  ): Unit = {
    out.update(departed, departedQueue) { (old, isEvent) =>
      Cat(
        (packets(old) + isEvent)(packetBits - 1, 0),
        (bytes(old) + gated(departedBytes, isEvent))(byteBits - 1, 0)
      )
    }
    val gone = out.lookup(enqueuedQueue)
    val excess = Reg(UInt(width.W))
    in.update(enqueued, enqueuedQueue) { (old, isEvent) =>
      val more = (bytes(old) + gated(lenBytes, isEvent))(byteBits - 1, 0)
      val next = evicted match {
        case None => Cat((packets(old) + isEvent)(packetBits - 1, 0), more)
        case Some((leaves, lenBytes)) =>
          Cat(
            (packets(old) + (isEvent && !leaves))(packetBits - 1, 0),
            (more - gated(lenBytes, isEvent && leaves))(byteBits - 1, 0)
          )
      }
      excess := less(next, gone)
      next
    }
    peak.update(Delay(enqueued && in.ready), Delay(enqueuedQueue)) { (raw, isEvent) =>
      val old = raw & Fill(width + 1, raw(width) === peakEpoch)
      def larger(of: UInt => UInt): UInt = Mux(isEvent && of(excess) > of(old), of(excess), of(old))
      Cat(peakEpoch, larger(packets), larger(bytes))
    }
  }

  // -- the snapshot --
  private val s1 = RegNext(start, false.B)
  private val wasReady = RegEnable(ready, start)
  private val backlog = RegEnable(gated(less(in.lookup(queue), out.lookup(queue)), wasReady), s1)
  private val greatest = RegEnable(peak.lookup(Delay(queue)), RegNext(s1, false.B))
  private val means = greatest(width) === peakEpoch && wasReady

  /** Backlog in bytes and packets, greatest backlog in bytes and packets. */
  val words: Seq[UInt] =
    Seq(bytes(backlog), packets(backlog), gated(bytes(greatest), means), gated(packets(greatest), means))
}
