package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.stream._

/** A packet in a queue: its name there, and its length. */
class PacketRef(p: LaneParams) extends Bundle {
  val name = UInt(p.nameBits.W)
  val lenBytes = UInt(PktLenBits.W)
}

/** A queue and its first packet. */
class QueueHead(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val packet = new PacketRef(p)
}

/** A packet taken from its queue. */
class TakenPacket(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val queueEntry = new QueueEntry(p)
}

/** Ports between all queues and the schedulers, one per egress; timing as in [[QueueManager]]. At most one scheduler takes a packet per cycle. */
class QueuePorts(p: LaneParams) extends Bundle {
  val enqueue = Flipped(Valid(new EnqueueRequest(p)))
  val place = Option.when(p.victims != 0)(Input(UInt(p.nameBits.W))) // the packet's place, with `enqueue`
  val becameBacklogged = Valid(new QueueHead(p))
  val appended = Valid(new QueueHead(p))
  // The packet that may be taken, whether it is taken, and whether the scheduler considers it the last.
  val serve = Input(new QueueHead(p))
  val take = Input(Bool())
  val emptied = Input(Bool())
  // A packet of `askQueue` (its first or a later one) that is known to have a successor. One cycle later come the successor and the queue's
  // newest packet. With `take` the queue is that of `serve`.
  val ask = Flipped(Vec(p.egresses, Valid(UInt(p.nameBits.W))))
  val askQueue = Input(Vec(p.egresses, UInt(p.queueBits.W)))
  val successor = Output(Vec(p.egresses, new PacketRef(p)))
  val newestServed = Output(Vec(p.egresses, UInt(p.nameBits.W)))
  val reactivated = Valid(new QueueHead(p)) // the queue that was emptied holds a packet again
  val taken = Valid(new TakenPacket(p))
  // Two more lookups of a queue's newest packet for each egress; the answer comes one cycle later.
  val lookup = Input(Vec(p.egresses, Vec(2, UInt(p.queueBits.W))))
  val newest = Output(Vec(p.egresses, Vec(2, UInt(p.nameBits.W))))
  // For the first lookup: the length of that packet, and the name of the packet before it.
  val newestLength = Output(Vec(p.egresses, UInt(PktLenBits.W)))
  val newestBefore = Output(Vec(p.egresses, UInt(p.nameBits.W)))

  /** The egress of a queue. */
  def egressOf(queue: UInt): UInt =
    if (p.egresses == 1) 0.U else queue(p.queueBits - 1, p.queueBits - p.egressBits)
}

/** Holds all queues, each as a list of packets.
  *
  * A packet's name is its head cell. Builds with the victim search keep only the heads of queues here. A packet's name is then its place
  * among the packets of the head, together with its queue.
  *
  * Rate: one enqueue per cycle, always accepted, and one packet taken per cycle, from any mixture of queues.
  *
  * Only the scheduler knows the first packet of a queue. It gets it from `becameBacklogged` when a packet finds its queue idle, and from
  * `successor`. A queue is idle after reset. A backlogged queue belongs to the scheduler. An arriving packet is chained after the newest
  * (`appended` reports it), even if all others have been taken. A queue becomes idle in the cycle after its last packet is taken:
  * `emptied` requests that with the take. If another packet has come meanwhile, `reactivated` reports it and the queue stays backlogged.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * newest (one copy, and three per egress) | queues | name of the newest packet | enqueue
  * latest (one copy per egress) | queues | its length, and the packet before it | enqueue
  * becameBacklogged, becameIdle | queues | one bit; they differ while the queue is backlogged | enqueue; becomesIdle
  * next (one copy per egress) | cells, or queues x places | the successor and its length | enqueue
  * queueEntries | cells, or queues x places | queue entry by name | enqueue
  *
  * Every RAM has one writer, and there is no register per queue. No packet counts are kept: a packet is its queue's last exactly if it is the
  * newest. After reset the bits are cleared in `queues` cycles. Nothing may be enqueued in that time.
  *
  * Packets leave only from the head. `victim/VictimQueues`, upstream of this block, holds the bodies of queues, from which packets can be evicted.
  *
  * In builds with `protect` all RAMs hold codewords (`protect/ScrubbedRam`). A packet with an uncorrectable queue entry does not come out of
  * `taken`. Neither does a packet that is taken after a memory of the lane has failed. No packet follows until a reset.
  * In these builds nothing may be enqueued until `guard.ready`.
  *
  * Latency: 1 cycle from enqueue to `becameBacklogged` or `appended`, from `ask` to `successor` and `newestServed`, and from `take` to `taken` and
  * `reactivated`. It keeps no byte counts.
  */
class QueueManager(p: LaneParams) extends Module {
  val io = IO(new QueuePorts(p))

  private val guards = new Guards(p.protect)
  private val packets = if (p.victims == 0) p.cells else 1 << (p.queueBits + p.nameBits)
  private val newest = guards.ram(p.queues, UInt(p.nameBits.W))
  private val latest = guards.ram(p.queues, new PacketRef(p))
  private val becameBacklogged = guards.ram(p.queues, Bool())
  private val becameIdle = guards.ram(p.queues, Bool())
  private val next = guards.unforwarded("next", packets, new PacketRef(p))
  private val queueEntries = guards.unforwarded("queueEntries", packets, new QueueEntry(p))
  private val sweep = new SweepInit(p.queues)

  /** The address of a packet in the RAMs of packets. */
  private def at(queue: UInt, name: UInt): UInt = if (p.victims == 0) name else queue ## name

  // ---- take: t1 is the cycle after it
  private val t1Valid = RegNext(io.take, false.B)
  private val t1Queue = Delay(io.serve.queue)
  private val t1Name = Delay(io.serve.packet.name)
  private val t1Emptied = RegNext(io.take && io.emptied, false.B)
  for (e <- 0 until p.egresses) {
    val asked = RegNext(io.ask(e).valid, false.B)
    io.successor(e) := next.read(at(io.askQueue(e), io.ask(e).bits), asked)
    io.newestServed(e) := newest.read(io.askQueue(e), t1Valid && io.egressOf(t1Queue) === e.U || asked)
  }
  private val (t1Entry, t1Unknown) = queueEntries.check(at(io.serve.queue, io.serve.packet.name), t1Valid, io.take)
  io.taken.valid := t1Valid && !t1Unknown && !guards.failed
  io.taken.bits.queue := t1Queue
  io.taken.bits.queueEntry := t1Entry
  private val t1Last = io.newestServed(io.egressOf(t1Queue)) === t1Name
  // A scheduler that sets `emptied` has seen all packets of earlier cycles, so only a packet that is enqueued in the cycle of the take can follow.
  private val follows = io.appended.valid && io.appended.bits.queue === io.serve.queue
  private val t1Followed = RegNext(follows, false.B)
  private val t1Follower = Wire(new PacketRef(p))
  private val becomesIdle = RegNext(io.take && io.emptied && !follows, false.B)
  assert(!t1Emptied || t1Followed === !t1Last, "a queue is reported as empty and is not, or the reverse")
  io.reactivated.valid := t1Emptied && t1Followed
  io.reactivated.bits.queue := t1Queue
  io.reactivated.bits.packet := t1Follower
  becameIdle.write(!sweep.done, sweep.address, false.B)
  becameIdle.write(becomesIdle, t1Queue, !becameIdle.read(io.serve.queue, becomesIdle))

  // ---- enqueue: e1 knows the newest packet and whether the queue is idle. A queue that becomes idle in this cycle counts as idle.
  private val e1Valid = RegNext(io.enqueue.valid, false.B)
  private val e1 = RegNext(io.enqueue.bits)
  private val e1Newest = newest.read(io.enqueue.bits.queue, e1Valid)
  private val e1BecameBacklogged = becameBacklogged.read(io.enqueue.bits.queue, e1Valid)
  private val e1WasIdle = e1BecameBacklogged === becameIdle.read(io.enqueue.bits.queue, e1Valid)
  private val e1IsTaken = RegNext(io.serve.queue === io.enqueue.bits.queue) // e1.queue is t1Queue
  private val e1IsIdle = e1WasIdle || (becomesIdle && e1IsTaken)
  private val e1Ref = Wire(new PacketRef(p))
  e1Ref.name := io.place.map(Delay(_)).getOrElse(e1.queueEntry.headCell)
  e1Ref.lenBytes := e1.queueEntry.lenBytes
  t1Follower := Delay(e1Ref)
  newest.write(e1Valid, e1.queue, e1Ref.name)
  // If a queue becomes idle in this cycle, its newest is the packet just taken. No later read uses that packet's link.
  private val e1Links = e1Valid && !e1WasIdle
  next.write(e1Links, at(e1.queue, e1Newest), e1Ref)
  queueEntries.write(e1Valid, at(e1.queue, e1Ref.name), e1.queueEntry)
  becameBacklogged.write(!sweep.done, sweep.address, false.B)
  becameBacklogged.write(e1Valid && e1IsIdle, e1.queue, !e1BecameBacklogged)
  io.becameBacklogged.valid := e1Valid && e1IsIdle
  io.becameBacklogged.bits.queue := e1.queue
  io.becameBacklogged.bits.packet := e1Ref
  io.appended.valid := e1Valid && !e1IsIdle
  io.appended.bits.queue := e1.queue
  io.appended.bits.packet := e1Ref

  private val e1Latest = Wire(new PacketRef(p)) // its name is that of the packet before
  e1Latest.name := e1Newest
  e1Latest.lenBytes := e1Ref.lenBytes
  latest.write(e1Valid, e1.queue, e1Latest)
  for (e <- 0 until p.egresses) {
    for (i <- 0 until 2) io.newest(e)(i) := newest.read(io.lookup(e)(i), true.B)
    val found = latest.read(io.lookup(e)(0), true.B)
    io.newestLength(e) := found.lenBytes
    io.newestBefore(e) := found.name
  }

  // On a collision simulators read the new value. A RAM need not.
  private val e1Newests = at(e1.queue, e1Newest)
  private val linked = io.ask
    .zip(io.askQueue)
    .map { case (ask, queue) => ask.valid && at(queue, ask.bits) === e1Newests }
    .reduce(_ || _) && e1Links
  assert(!linked, "a link is read in the cycle of its write")
  assert(
    !io.take || io.askQueue(io.egressOf(io.serve.queue)) === io.serve.queue,
    "another queue is asked for than the one that is served"
  )
  private val served = at(io.serve.queue, io.serve.packet.name)
  assert(
    !(io.take && e1Valid && at(e1.queue, e1Ref.name) === served),
    "a queue entry is read in the cycle of its write"
  )
  assert(!io.taken.valid || io.taken.bits.queueEntry.cells =/= 0.U, "a packet without cells was queued")
  if (p.victims == 0)
    assert(!io.taken.valid || t1Entry.headCell === t1Name, "a queue entry does not belong to its head cell")
  assert(!io.enqueue.valid || sweep.done, "a packet was queued before the memories are cleared")
  assert(!io.enqueue.valid || io.enqueue.bits.queue < p.queues.U(log2Ceil(p.queues + 1).W), "no such queue")

  val guard = guards.ports()
}
