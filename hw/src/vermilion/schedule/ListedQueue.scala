package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.queue.{PacketRef, QueueHead}

/** Numbers the lists: strict levels from 0, the highest, to 7; in builds with `fq` the list of new flows (RFC 8290); and the DRR list. */
object Level {
  private val Strict = 8
  val New = Strict // in builds with `fq`
  def drr(p: LaneParams): Int = if (p.fq) New + 1 else Strict
  def count(p: LaneParams): Int = drr(p) + 1

  /** The lists whose queues have a deficit. */
  def withDeficit(p: LaneParams): Seq[Int] = Strict to drr(p)
  val Bits = log2Ceil(Strict + 1)

  def apply(p: LaneParams, service: ServiceRecord): UInt =
    Mux(service.strict, 7.U(Bits.W) - service.priority, drr(p).U(Bits.W))
}

/** A queue with its first packet and its deficit: the bytes that it may still send in this DRR turn. */
class ListedQueue(p: LaneParams) extends Bundle {
  val head = new QueueHead(p)
  val deficit = UInt(Scheduler.DeficitBits.W) // has no meaning in a strict level
}

/** The place in the DRR list of a queue without a packet ([[KeptPlaces]]), if it is one. */
class KeptPlace extends Bundle {
  val isEmpty = Bool() // the queue holds no packet
  val turn = Bool()
}

/** A deficit to which bytes have been given back. */
class RestoredDeficit extends Bundle {
  val deficit = UInt(Scheduler.DeficitBits.W)
  val covered = Bool() // it covers the queue's packet
}

/** What [[ServiceLists]] holds in registers of the first queue of a list. */
private class FirstQueue(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val more, shaped, moved = Bool()
  val judged = Option.when(p.codel)(Bool())
  val flows = Option.when(p.fq)(Bool())
  val place = Option.when(p.fq)(new KeptPlace)
  val covered = Bool() // its deficit covers its packet; in a strict level always true
  val lone = Bool() // it is the last, too
  val byPush = Bool() // its packet came by a push
}

/** What it holds in RAM of every queue. */
private class StoredQueue(p: LaneParams) extends Bundle {
  val packet = new PacketRef(p)
  val deficit = UInt(Scheduler.DeficitBits.W)
  val covered = Bool() // the deficit covers the packet
  val place = Option.when(p.fq)(new KeptPlace)
}
