package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._

/** The packet behind the one that was taken, before it is chosen. */
class SuccessorChoice(v: VictimParams) extends Bundle {
  val of = Vec(2, new QueuedRef(v))
  val pick = Bool() // which of these, late
  val newest = UInt(v.cellBits.W) // its queue's newest packet, as of the clock before
  val replaced = Bool() // it is unlinked in this clock, and `behind` is first in its stead; later
  val behind = new QueuedRef(v)
  val behindIsNewest = Bool()

  /** For each of the three a function of it, chosen when it is known which. */
  def late[T <: Data](f: QueuedRef => T, ofBehind: T): T =
    Mux(replaced, ofBehind.asUInt, Mux(pick, f(of(1)).asUInt, f(of(0)).asUInt)).asTypeOf(ofBehind)
  def chosen: QueuedRef = late(identity, behind)
}

/** All queues as doubly linked lists, so that a packet can be taken out of the middle.
  *
  * The ways in and out and their clocks are those of `queue/QueueManager`: one enqueue a clock, one packet taken a clock, to any queues; and
  * one unlink a clock, always of the queue that is enqueued to in the same clock: first the append, then the unlink. So who is unlinked
  * has a packet behind it, a queue's newest packet never changes by an unlink, and what the scheduler knows of a queue stays true.
  * A queue's first packet belongs to the scheduler and must not be unlinked. A packet becomes first by `awake`, or a clock behind a take
  * (`promoted`). If the very packet of the unlink would become first in its clock, the packet behind it, which there always is, becomes first in
  * its stead. That may be the one that is enqueued in this clock, and then it is its queue's only one: `newestServed` names it, and it has not
  * `joined` behind another.
  *
  * Who becomes first so is known last of all. So what hangs on that is worked out for all answers ([[SuccessorChoice]], `isPromotedIf`), and `replaced` chooses.
  *
  * Both links have two writers, the enqueue and the unlink, with a bank each. The enqueue's write to a packet's links is always the first
  * since the packet came, so two bits a link tell whose counts: the enqueue's where they are equal. The enqueue makes them equal by writing its own,
  * the unlink makes them differ by writing its own. The unlink knows the enqueue's bit of its neighbours without reading it, as links
  * carry it along (`Next.previousBit`, `Previous.nextBit`): it never changes while the packet is queued.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * newest (2 copies, and one a look) | queues | newest packet's cell and bit | enqueue
  * woken, slept | queues | one bit; they differ where the queue is awake | enqueue; asleep
  * next (2 banks x 2 copies) | cells | the packet behind: cell, length, rank, bit | enqueue; unlink
  * previous (2 banks) | cells | the packet before: cell, bit | enqueue; unlink
  * bits (2 x 2 banks) | cells | one bit | enqueue; unlink
  *
  * Timing: `enqueueQueue`, `enqueueCell` and `victim` are of the clock before `enqueue` and `unlink`. All else as QueueManager says.
  * A cell must not be enqueued again within two clocks of the take or unlink of its packet.
  * Longest path: next RAM, compare with the victim (both banks at once), `replaced`, and the choice that it makes.
  */
class QueueOrder(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val enqueueQueue = Input(UInt(v.queueBits.W))
    val enqueueCell = Input(UInt(v.cellBits.W))
    val victim = Input(UInt(v.cellBits.W))
    val enqueue = Flipped(Valid(new QueuedRef(v))) // bits need not be held back by valid
    val unlink = Input(Bool())
    val awake = Output(Bool()) // the enqueued packet is its queue's first
    val joined = Output(Bool()) // the enqueued packet stands behind another
    // The packet that may be taken, whether it is, and whether the taker thinks it the last.
    val serveQueue = Input(UInt(v.queueBits.W))
    val serveCell = Input(UInt(v.cellBits.W))
    val take = Input(Bool())
    val emptied = Input(Bool())
    val successor = Output(new QueuedRef(v)) // a clock later, as all below
    val choice = Output(new SuccessorChoice(v)) // and what it is made of
    val promoted = Output(Bool()) // the successor is its queue's first from now on
    val promotedQueue = Output(UInt(v.queueBits.W))
    val asked = Input(Vec(QueueOrder.Asked, UInt(v.cellBits.W))) // packets of the queue that is enqueued to:
    // It is the one that is promoted, if that is the one or the other of `choice.of`, or, where it is replaced, `choice.behind`.
    val isPromotedIf = Output(Vec(3, Vec(QueueOrder.Asked, Bool())))
    val newestServed = Output(UInt(v.cellBits.W))
    val refilled = Output(Bool())
    val look = Input(Vec(v.looks, UInt(v.queueBits.W)))
    val newest = Output(Vec(v.looks, UInt(v.cellBits.W)))
    val ready = Output(Bool()) // the sweep is done
  })

  private class Next extends Bundle {
    val ref = new QueuedRef(v)
    val previousBit = Bool()
  }
  private class Previous extends Bundle {
    val cell = UInt(v.cellBits.W)
    val nextBit = Bool()
  }

  private val newest = new ForwardingRam(v.queues, new Previous)
  private val woken = new ForwardingRam(v.queues, Bool())
  private val slept = new ForwardingRam(v.queues, Bool())
  private val sweep = new SweepInit(v.queues)
  private val enqueuedNext, unlinkedNext = new ForwardingRam(v.cells, new Next)
  private val enqueuedPrevious, unlinkedPrevious = new ForwardingRam(v.cells, new Previous)
  private val enqueuedNextBit, unlinkedNextBit = new ForwardingRam(v.cells, Bool())
  private val enqueuedPreviousBit, unlinkedPreviousBit = new ForwardingRam(v.cells, Bool())
  // Each reader has its own copy of the bits; they begin alike.
  private val bitSweep = new SweepInit(v.cells)
  for (bits <- Seq(enqueuedNextBit, unlinkedNextBit, enqueuedPreviousBit, unlinkedPreviousBit))
    bits.write(!bitSweep.done, bitSweep.address, false.B)
  io.ready := sweep.done && bitSweep.done

  // ---- take: t1 is the clock behind it
  private val t1Valid = RegNext(io.take, false.B)
  private val t1Queue = Delay(io.serveQueue)
  private val t1Cell = Delay(io.serveCell)
  private val t1Emptied = RegNext(io.take && io.emptied, false.B)
  private val servedNewest = newest.read(io.serveQueue)
  private val t1Last = servedNewest.cell === t1Cell
  private val asleep = t1Emptied && t1Last
  private val byEnqueue = enqueuedNext.read(io.serveCell).ref
  private val byUnlink = unlinkedNext.read(io.serveCell).ref
  private val byEnqueueCounts = enqueuedNextBit.read(io.serveCell) === unlinkedNextBit.read(io.serveCell)
  io.promoted := t1Valid && !t1Last
  io.promotedQueue := t1Queue
  io.refilled := t1Emptied && !t1Last
  slept.write(!sweep.done, sweep.address, false.B)
  slept.write(asleep, t1Queue, !slept.read(io.serveQueue))

  // ---- enqueue: e1 knows the newest packet and whether the queue sleeps; falling asleep in this clock comes first
  private val e1Queue = Delay(io.enqueueQueue)
  private val e1Cell = Delay(io.enqueueCell)
  private val e1Newest = newest.read(io.enqueueQueue)
  private val e1Woken = woken.read(io.enqueueQueue)
  private val e1Sleeps = e1Woken === slept.read(io.enqueueQueue) || (asleep && t1Queue === e1Queue)
  private val nextBit = unlinkedNextBit.read(io.enqueueCell)
  private val previousBit = unlinkedPreviousBit.read(io.enqueueCell)
  private val asNext = Wire(new Next)
  asNext.ref := io.enqueue.bits
  asNext.previousBit := previousBit
  private val asPrevious = Wire(new Previous)
  asPrevious.cell := e1Cell
  asPrevious.nextBit := nextBit
  newest.write(io.enqueue.valid, e1Queue, asPrevious)
  enqueuedNext.write(io.enqueue.valid && !e1Sleeps, e1Newest.cell, asNext)
  enqueuedPrevious.write(io.enqueue.valid, e1Cell, e1Newest)
  enqueuedNextBit.write(io.enqueue.valid, e1Cell, nextBit)
  enqueuedPreviousBit.write(io.enqueue.valid, e1Cell, previousBit)
  woken.write(!sweep.done, sweep.address, false.B)
  woken.write(io.enqueue.valid && e1Sleeps, e1Queue, !e1Woken)
  io.awake := io.enqueue.valid && e1Sleeps
  private val ownPromoted = Wire(Bool())
  io.joined := io.enqueue.valid && !e1Sleeps && !ownPromoted

  // ---- unlink: the victim's neighbours are joined; behind the newest of before stands the packet enqueued in this clock
  private val victim = Delay(io.victim)
  private val nextCounts = enqueuedNextBit.read(io.victim) === unlinkedNextBit.read(io.victim)
  private val previousCounts = enqueuedPreviousBit.read(io.victim) === unlinkedPreviousBit.read(io.victim)
  private val nextByEnqueue = enqueuedNext.read(io.victim)
  private val nextByUnlink = unlinkedNext.read(io.victim)
  private val before =
    Mux(previousCounts, enqueuedPrevious.read(io.victim).asUInt, unlinkedPrevious.read(io.victim).asUInt)
      .asTypeOf(new Previous)
  private val isNewest = e1Newest.cell === victim
  private def chooseNext[T <: Data](enqueued: T, byEnqueue: T, byUnlink: T): T =
    Mux(isNewest, enqueued.asUInt, Mux(nextCounts, byEnqueue.asUInt, byUnlink.asUInt)).asTypeOf(enqueued)
  private val behind = chooseNext(asNext, nextByEnqueue, nextByUnlink)
  unlinkedNext.write(io.unlink, before.cell, behind)
  unlinkedNextBit.write(io.unlink, before.cell, !before.nextBit)
  unlinkedPrevious.write(io.unlink, behind.ref.cell, before)
  unlinkedPreviousBit.write(io.unlink, behind.ref.cell, !behind.previousBit)

  // ---- who becomes first. All banks are compared at once, so that the choice comes late.
  private def served(ofBank: QueuedRef => Bool) = Mux(byEnqueueCounts, ofBank(byEnqueue), ofBank(byUnlink))
  private val replaced = io.unlink && io.promoted && served(_.cell === victim)
  ownPromoted := replaced && isNewest
  io.choice.of := VecInit(byUnlink, byEnqueue)
  io.choice.pick := byEnqueueCounts
  io.choice.newest := servedNewest.cell
  io.choice.replaced := replaced
  io.choice.behind := behind.ref
  io.choice.behindIsNewest := isNewest || behind.ref.cell === servedNewest.cell
  io.successor := io.choice.chosen
  io.newestServed := Mux(ownPromoted, e1Cell, servedNewest.cell)
  for (i <- 0 until 2)
    io.isPromotedIf(i) := VecInit(io.asked.map(cell => io.promoted && io.choice.of(i).cell === cell))
  io.isPromotedIf(2) := VecInit(io.asked.map { cell =>
    chooseNext(cell === e1Cell, cell === nextByEnqueue.ref.cell, cell === nextByUnlink.ref.cell)
  })

  for (i <- 0 until v.looks) io.newest(i) := newest.read(io.look(i)).cell

  assert(!io.enqueue.valid || io.ready, "a packet was queued within the first clocks after reset")
  assert(!io.enqueue.valid || io.enqueue.bits.cell === e1Cell, "another cell is enqueued than was announced")
  assert(!io.unlink || io.enqueue.valid, "an unlink comes without an enqueue")
  assert(
    !(io.unlink && RegNext(io.promoted, false.B) && Delay(io.successor.cell) === victim),
    "a packet is unlinked that became first before"
  )
  assert(!io.unlink || !e1Sleeps, "a packet is unlinked from a queue that sleeps")
}

object QueueOrder {

  /** Packets that can be asked for at once. */
  val Asked = 5
}
