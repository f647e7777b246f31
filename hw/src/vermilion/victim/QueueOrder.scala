package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** The bodies of all queues as doubly linked lists, so that a packet can be taken out of the middle.
  *
  * One packet is enqueued in a clock, to any queue, and one is unlinked, of any queue; first the append, then the unlink. Whether a body is empty is not
  * known here but told (`isEmpty`).
  *
  * A packet that is not the first has a packet before it, which links to it; the first has none, and `first` of its queue holds what that link would.
  * With the link stands what must be known of the packet when it becomes head. So a packet that is marked where it stands (`mark`, never with `unlink`) is written anew there.
  *
  * Both links have two writers, the enqueue and the unlink, with a bank each. The enqueue's write to a packet's links is always the first
  * since the packet came, so two bits a link tell whose counts: the enqueue's where they are equal. The enqueue makes them equal by writing its own,
  * the unlink makes them differ by writing its own. The unlink knows the enqueue's bit of its neighbours without reading it, as links
  * carry it along (`Next.previousBit`, `Previous.nextBit`): it never changes while the packet is queued.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * newest (2 copies) | queues | newest packet's cell and bit | enqueue
  * first | queues | the first packet: [[QueuedRef]] and bit: a [[SharedRam]] | enqueue to an empty body; unlink or mark of the first
  * next (2 banks) | cells | the packet behind: [[QueuedRef]] and bit | enqueue; unlink or mark
  * previous (2 banks) | cells | the packet before: cell, bit, or that it is the first | enqueue; unlink
  * bits (2 x 2 banks) | cells | one bit | enqueue; unlink
  *
  * Timing, in stages of [[VictimPipeline]]: `firstOf` s3, `first` s4; `enqueueQueue`, `enqueueCell`, `unlinkQueue` and `unlinkCell` s4; all else s5.
  */
class QueueOrder(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val firstOf = Input(UInt(v.queueBits.W)) // s3
    // s4: the body's first packet, as the slots up to that in s5 leave it; means something where the body holds one.
    val first = Output(new QueuedRef(v))
    // But if `isLinked`, it is one of these: `linked(0)` if `isEnqueued`, which `enqueue` linked, else `linked(1)`. Both bits are known late.
    val linked = Output(Vec(2, new QueuedRef(v)))
    val isLinked, isEnqueued = Output(Bool())
    val serves = Input(Bool()) // s4
    val servesLinked = Output(Bool()) // `serves && isLinked`: worked out here, so that it does not wait for `isLinked`
    val unlinksFirst =
      Input(Bool()) // s5: `unlinkCell` is the first of its body; means something with `unlink` and `mark`
    val enqueueQueue = Input(UInt(v.queueBits.W)) // s4
    val enqueueCell = Input(UInt(v.cellBits.W))
    val unlinkQueue = Input(UInt(v.queueBits.W))
    val unlinkCell = Input(UInt(v.cellBits.W))
    val isEmpty = Input(Bool()) // s5: the body that is enqueued to
    val enqueue = Flipped(Valid(new QueuedRef(v))) // bits need not be held back by valid
    val unlink = Input(Bool())
    val mark = Input(Bool()) // `unlinkCell` stays, leaves its list and is marked CE
    val unlinkRank = Input(new Rank(v)) // with `mark`
    val ready = Output(Bool()) // the sweeps are done
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
    val isFirst = Bool() // there is none
    val newest = new Newest // what was the newest packet when this one came, or has come in its place
  }

  private val newest = new ForwardingRam(v.queues, new Newest)
  private val first = new SharedRam(v.queues, new Next, 2)
  private val enqueuedNext, unlinkedNext = new ForwardingRam(v.cells, new Next)
  private val enqueuedPrevious, unlinkedPrevious = new ForwardingRam(v.cells, new Previous)
  private val enqueuedNextBit, unlinkedNextBit = new ForwardingRam(v.cells, Bool())
  private val enqueuedPreviousBit, unlinkedPreviousBit = new ForwardingRam(v.cells, Bool())
  // Each reader has its own copy of the bits; they begin alike.
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

  // ---- unlink: its neighbours are joined; behind the newest of before may stand the packet enqueued in this clock
  private val unlinkQueue = Delay(io.unlinkQueue)
  private val unlinkCell = Delay(io.unlinkCell)
  private val unlinkComplement = Delay(~io.unlinkCell) // an inverted copy, for the compare alone
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
  private val behind = choose(isNewest, asNext, linked)
  private val hasBehind = !isNewest || followsIt
  private val rejoins = io.unlink && hasBehind
  private val asMarked = Wire(new Next)
  asMarked.ref.cell := unlinkCell
  asMarked.ref.rank := io.unlinkRank
  asMarked.ref.listed := false.B
  asMarked.ref.marked := true.B
  asMarked.previousBit := ownPreviousBit
  // Behind the packet before, or as the first. Where nothing is behind, the packet was its body's only one, and `first` means nothing until the next is enqueued.
  private val rewrites = io.unlink || io.mark
  private val following = choose(io.mark, asMarked, behind)
  first.write(1, io.unlinkQueue, rewrites && io.unlinksFirst, following)
  unlinkedNext.write(rewrites && !io.unlinksFirst, previous.newest.cell, following)
  unlinkedNextBit.write(rewrites && !io.unlinksFirst, previous.newest.cell, !previous.newest.nextBit)
  unlinkedPrevious.write(rejoins, behind.ref.cell, previous)
  unlinkedPreviousBit.write(rejoins, behind.ref.cell, !behind.previousBit)
  // Of a newest packet that is unlinked and was not the first, the one before it is the newest.
  private val shortens = io.unlink && isNewest && !followsIt && !previous.isFirst
  assert(!shortens, "a newest packet is unlinked, and others stay")

  // ---- the first, with what this clock makes of it
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

  assert(!io.enqueue.valid || io.ready, "a packet was queued within the first clocks after reset")
  assert(!io.enqueue.valid || io.enqueue.bits.cell === enqueueCell, "another cell is enqueued than was announced")
}
