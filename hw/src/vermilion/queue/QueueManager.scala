package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.ForwardingRam
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream._

/** What a look at the head of a queue says. */
class QueueHead extends Bundle {
  val valid = Bool() // the queue holds a packet
  val lenBytes = UInt(PktLenBits.W) // of its first packet
  val last = Bool() // that packet is its only one
}

/** A packet taken from its queue. */
class TakenPacket(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val descriptor = new Descriptor(p)
}

/** All queues: a queue is a list of packets, a packet is named by its head cell.
  *
  * One enqueue a clock, always accepted, and one look or take a clock, to any mixture of queues.
  *
  * Taking is two steps: `peek` names a queue, `head` answers one clock later, and `take` in that same clock removes the packet;
  * its descriptor follows on `taken` one clock after that. A scheduler must know a length before it may take, so one port
  * serves both and a packet never has to be put back.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * tail (twice) | queues | head cell of the newest packet | enqueue
  * headE | queues | first packet and its length, when it came to an empty queue | enqueue
  * headD | queues | first packet and its length, when it followed another | take
  * next | cells | the packet behind, and its length | enqueue
  * descriptors | cells | descriptor by head cell | enqueue
  *
  * Every RAM has one writer, which is why the head is kept twice; the bit `fresh` says which one holds. `nonEmpty` and `fresh` are
  * registers: the scheduler searches the first in one clock, and both make an initialisation of the RAMs unnecessary.
  * No packet counts are kept: a taken packet was the last exactly when it is the tail.
  *
  * Tie-break, enqueue and take of one queue in one clock: the take comes first. If it emptied the queue, the newcomer starts a new list
  * (the taken packet's `next` is never written, as its cells may already be someone else's). So `next` needs no forwarding.
  *
  * Latency: enqueue to `nonEmpty` 2 clocks; take to `nonEmpty` 1. It keeps no byte counts and evicts nobody.
  */
class QueueManager(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val enqueue = Flipped(Valid(new EnqueueRequest(p)))
    val nonEmpty = Output(UInt(p.queues.W))
    val peek = Flipped(Valid(UInt(p.queueBits.W)))
    val head = Output(new QueueHead)
    val take = Input(Bool())
    val taken = Valid(new TakenPacket(p))
  })

  private class PacketRef extends Bundle {
    val cell = UInt(p.cellBits.W)
    val lenBytes = UInt(PktLenBits.W)
  }

  private val tail = new ForwardingRam(p.queues, UInt(p.cellBits.W))
  private val headE = new ForwardingRam(p.queues, new PacketRef)
  private val headD = new ForwardingRam(p.queues, new PacketRef)
  private val next = SyncReadMem(p.cells, new PacketRef)
  private val descriptors = SyncReadMem(p.cells, new Descriptor(p))
  private val nonEmpty = RegInit(VecInit.fill(p.queues)(false.B))
  private val fresh = RegInit(VecInit.fill(p.queues)(false.B))
  io.nonEmpty := nonEmpty.asUInt

  // ---- take, stage 1: what was peeked at the clock before
  private val t1Valid = RegNext(io.peek.valid, false.B)
  private val t1Queue = RegNext(io.peek.bits)
  private val t2Valid = RegNext(io.take, false.B)
  private val t2Queue = RegNext(t1Queue)
  private val t2Next = Wire(new PacketRef)

  private val t1Followed = Mux(t2Valid && t2Queue === t1Queue, t2Next, headD.read(io.peek.bits))
  private val t1Head = Mux(fresh(t1Queue), headE.read(io.peek.bits), t1Followed)
  io.head.valid := t1Valid && nonEmpty(t1Queue)
  io.head.lenBytes := t1Head.lenBytes
  io.head.last := t1Head.cell === tail.read(io.peek.bits)
  private val t1Empties = io.take && io.head.last

  // ---- take, stage 2: the successor becomes the head
  t2Next := next.read(t1Head.cell, io.take)
  io.taken.valid := t2Valid
  io.taken.bits.queue := t2Queue
  io.taken.bits.descriptor := descriptors.read(t1Head.cell, io.take)
  headD.write(t2Valid, t2Queue, t2Next)

  // ---- enqueue, stage 1: the tail is known
  private val e1Valid = RegNext(io.enqueue.valid, false.B)
  private val e1 = RegNext(io.enqueue.bits)
  private val e1Ref = Wire(new PacketRef)
  e1Ref.cell := e1.descriptor.headCell
  e1Ref.lenBytes := e1.descriptor.lenBytes
  private val e1Empty = !nonEmpty(e1.queue) || (t1Empties && t1Queue === e1.queue)

  private val e1Tail = tail.read(io.enqueue.bits.queue)
  tail.write(e1Valid, e1.queue, e1Ref.cell)
  headE.write(e1Valid && e1Empty, e1.queue, e1Ref)
  when(e1Valid) { descriptors.write(e1Ref.cell, e1.descriptor) }
  when(e1Valid && !e1Empty) { next.write(e1Tail, e1Ref) }

  // ---- the two bits a queue; the enqueue stands last and so wins
  when(io.take) {
    fresh(t1Queue) := false.B
    nonEmpty(t1Queue) := !io.head.last
  }
  when(e1Valid) {
    nonEmpty(e1.queue) := true.B
    when(e1Empty) { fresh(e1.queue) := true.B }
  }

  // Simulators read the new value on a collision; a RAM need not.
  assert(!(io.take && e1Valid && !e1Empty && e1Tail === t1Head.cell), "`next` is read in the clock of its write")
  assert(!(io.take && e1Valid && e1Ref.cell === t1Head.cell), "a descriptor is read in the clock of its write")
  assert(!io.take || io.head.valid, "a packet was taken from an empty queue")
  assert(!io.taken.valid || io.taken.bits.descriptor.cells =/= 0.U, "a packet without cells was queued")
  assert(
    !io.taken.valid || io.taken.bits.descriptor.headCell === RegNext(t1Head.cell),
    "a descriptor does not belong to its head cell"
  )
  assert(!io.enqueue.valid || io.enqueue.bits.queue < p.queues.U(log2Ceil(p.queues + 1).W), "no such queue")
}
