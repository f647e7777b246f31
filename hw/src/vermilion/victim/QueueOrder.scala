package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** Keeps the bodies of all queues as doubly linked lists, so that a packet can be removed from the middle.
  *
  * Rate: per cycle one packet is enqueued to any queue, and one is unlinked from any queue. The append comes first, then the unlink.
  * `isEmpty` tells whether a body is empty; this block does not know it.
  *
  * A packet that is not the first has a packet before it, which links to it. For the first packet, `first` of its queue holds what that link would hold.
  * The link also holds what must be known of the packet when it becomes head of line. So a packet that is marked in its place (`mark`, never with
  * `unlink`) gets a new record there.
  *
  * Both links have two writers, the enqueue and the unlink, with one bank each. The enqueue's write to a packet's links is always the first
  * since the packet came. Two bits per link tell which bank is valid: the enqueue's if the bits are equal. The enqueue writes its own bit equal to the other.
  * The unlink writes its own bit different from the other. The unlink does not read the enqueue's bit of its neighbours: links carry it
  * (`Next.previousBit`, `Previous.nextBit`). It never changes while the packet is queued.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * newest (2 copies) | queues | newest packet's cell and bit | enqueue
  * first | queues | the first packet: [[QueuedRef]] and bit: a [[SharedRam]] | enqueue to an empty body; unlink or mark of the first
  * next (2 banks) | cells | the next packet: [[QueuedRef]] and bit | enqueue; unlink or mark
  * previous (2 banks) | cells | the packet before: cell, bit, or that it is the first | enqueue; unlink
  * bits (2 x 2 banks) | cells | one bit | enqueue; unlink
  *
  * Timing, in stages of [[VictimPipeline]]: `firstOf` s3, `first` s4; `enqueueQueue`, `enqueueCell`, `unlinkQueue` and `unlinkCell` s4; all else s5.
  */
class QueueOrder(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val firstOf = Input(UInt(v.queueBits.W)) // s3
    // s4: the body's first packet, as of the slots up to that in s5. It has a meaning only if the body holds a packet.
    val first = Output(new QueuedRef(v))
    // If `isLinked`, the first packet is one of these instead: `linked(0)` if `isEnqueued`, which `enqueue` linked, else `linked(1)`. Both bits are known late.
    val linked = Output(Vec(2, new QueuedRef(v)))
    val isLinked, isEnqueued = Output(Bool())
    val serves = Input(Bool()) // s4
    val servesLinked = Output(Bool()) // `serves && isLinked`: computed here, so that it does not wait for `isLinked`
    val unlinksFirst =
      Input(Bool()) // s5: `unlinkCell` is the first of its body; has a meaning only with `unlink` or `mark`
    val enqueueQueue = Input(UInt(v.queueBits.W)) // s4
    val enqueueCell = Input(UInt(v.cellBits.W))
    val unlinkQueue = Input(UInt(v.queueBits.W))
    val unlinkCell = Input(UInt(v.cellBits.W))
    val isEmpty = Input(Bool()) // s5: the body that the packet is enqueued to is empty
    val enqueue = Flipped(Valid(new QueuedRef(v))) // bits may be anything while valid is low
    val unlink = Input(Bool())
    val mark = Input(Bool()) // `unlinkCell` stays, leaves its list by distance and is marked CE
    val unlinkRank = Input(new Rank(v)) // with `mark`
    val ready = Output(Bool()) // the clearing after reset is done
  })

  private class Next extends Bundle {
    val ref = new QueuedRef(v)
    val previousBit = Bool()
  }
  private class Newest extends Bundle {
    val cell = UInt(v.cellBits.W)
    val nextBit = Bool()
  }
  private class Previous extends Bundle {
    val isFirst = Bool() // there is no packet before
    val newest = new Newest // the newest packet when this one came, or the packet that has replaced it
  }

  private val newest = new ForwardingRam(v.queues, new Newest)
  private val first = new SharedRam(v.queues, new Next, 2)
  private val enqueuedNext, unlinkedNext = new ForwardingRam(v.cells, new Next)
  private val enqueuedPrevious, unlinkedPrevious = new ForwardingRam(v.cells, new Previous)
  private val enqueuedNextBit, unlinkedNextBit = new ForwardingRam(v.cells, Bool())
  private val enqueuedPreviousBit, unlinkedPreviousBit = new ForwardingRam(v.cells, Bool())
  // Each reader has its own copy of the bits. All copies must start equal.
  private val bitSweep = new SweepInit(v.cells)
  for (bits <- Seq(enqueuedNextBit, unlinkedNextBit, enqueuedPreviousBit, unlinkedPreviousBit))
    bits.write(!bitSweep.done, bitSweep.address, false.B)
  io.ready := bitSweep.done && first.ready

  // ---- enqueue
  private val enqueueQueue = Delay(io.enqueueQueue)
  private val enqueueCell = Delay(io.enqueueCell)
  private val before = newest.read(io.enqueueQueue)
  private val nextBit = unlinkedNextBit.read(io.enqueueCell)
  private val previousBit = unlinkedPreviousBit.read(io.enqueueCell)
  private val asNext = Wire(new Next)
  asNext.ref := io.enqueue.bits
  asNext.previousBit := previousBit
  private val asNewest = Wire(new Newest)
  asNewest.cell := enqueueCell
  asNewest.nextBit := nextBit
  private val asPrevious = Wire(new Previous)
  asPrevious.isFirst := io.isEmpty
  asPrevious.newest := before
  newest.write(io.enqueue.valid, enqueueQueue, asNewest)
  first.write(0, io.enqueueQueue, io.enqueue.valid && io.isEmpty, asNext)
  enqueuedNext.write(io.enqueue.valid && !io.isEmpty, before.cell, asNext)
  enqueuedPrevious.write(io.enqueue.valid, enqueueCell, asPrevious)
  enqueuedNextBit.write(io.enqueue.valid, enqueueCell, nextBit)
  enqueuedPreviousBit.write(io.enqueue.valid, enqueueCell, previousBit)

  // ---- unlink: its neighbours are linked. The packet enqueued in this cycle may follow the previously newest packet.
  private val unlinkQueue = Delay(io.unlinkQueue)
  private val unlinkCell = Delay(io.unlinkCell)
  private val unlinkComplement = Delay(~io.unlinkCell) // an inverted copy, used only by the comparator
  private val nextCounts = enqueuedNextBit.read(io.unlinkCell) === unlinkedNextBit.read(io.unlinkCell)
  private val ownPreviousBit = enqueuedPreviousBit.read(io.unlinkCell)
  private val previousCounts = ownPreviousBit === unlinkedPreviousBit.read(io.unlinkCell)
  private def choose[T <: Data](pick: Bool, one: T, other: T): T = Mux(pick, one.asUInt, other.asUInt).asTypeOf(one)
  private val links = Seq(enqueuedNext, unlinkedNext).map(_.read(io.unlinkCell))
  private val linked = choose(nextCounts, links(0), links(1))
  private val previous =
    choose(previousCounts, enqueuedPrevious.read(io.unlinkCell), unlinkedPrevious.read(io.unlinkCell))
  private val isNewest = newest.read(io.unlinkQueue).cell === ~unlinkComplement
  private val followsIt = io.enqueue.valid && RegNext(io.enqueueQueue === io.unlinkQueue)
  private val after = choose(isNewest, asNext, linked)
  private val hasAfter = !isNewest || followsIt
  private val rejoins = io.unlink && hasAfter
  private val asMarked = Wire(new Next)
  asMarked.ref.cell := unlinkCell
  asMarked.ref.rank := io.unlinkRank
  asMarked.ref.listed := false.B
  asMarked.ref.marked := true.B
  asMarked.previousBit := ownPreviousBit
  // Written to the link of the packet before, or as the first. If no packet follows, the body is empty, and `first` has no meaning until the next enqueue.
  private val rewrites = io.unlink || io.mark
  private val following = choose(io.mark, asMarked, after)
  first.write(1, io.unlinkQueue, rewrites && io.unlinksFirst, following)
  unlinkedNext.write(rewrites && !io.unlinksFirst, previous.newest.cell, following)
  unlinkedNextBit.write(rewrites && !io.unlinksFirst, previous.newest.cell, !previous.newest.nextBit)
  unlinkedPrevious.write(rejoins, after.ref.cell, previous)
  unlinkedPreviousBit.write(rejoins, after.ref.cell, !after.previousBit)
  // If the newest packet is unlinked and was not the first, the packet before it becomes the newest.
  private val shortens = io.unlink && isNewest && !followsIt && !previous.isFirst
  assert(!shortens, "a newest packet is unlinked, and others stay")

  // ---- the first packet, including the changes of this cycle
  private val ofFirst = io.unlinksFirst && RegNext(io.unlinkQueue === io.firstOf)
  private val firstGoes = io.unlink && ofFirst
  io.isLinked := firstGoes && !isNewest
  io.servesLinked := (firstGoes && io.serves) && !isNewest
  io.isEnqueued := nextCounts
  io.linked := VecInit(links.map(_.ref))
  io.first := choose(firstGoes, asNext.ref, first.read(io.firstOf).ref)
  when(io.mark && ofFirst) {
    io.first.listed := false.B
    io.first.marked := true.B
  }
  assert(!(io.unlink && io.mark), "a packet is unlinked and marked")
  assert(!(io.unlink || io.mark) || io.unlinksFirst === previous.isFirst, "another packet is the first than was said")

  assert(!io.enqueue.valid || io.ready, "a packet was queued before the memories are cleared")
  assert(!io.enqueue.valid || io.enqueue.bits.cell === enqueueCell, "another cell is enqueued than was announced")
}
