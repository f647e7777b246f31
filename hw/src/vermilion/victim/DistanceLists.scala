package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** The packet that is selected from a list. */
class Candidate(v: VictimParams) extends Bundle {
  val valid = Bool()
  val packet = new ListedRef(v)
  val list = new ListName(v)
  val ofSecond = Bool() // it is from the second list
}

/** Keeps the packets of the queues' bodies in lists by rank.
  *
  * Each queue and rank has a list of the queue's packets of that rank, oldest first. Each queue has a bitmap of its lists that hold packets.
  *
  * A packet is inserted at a list's end (push). It leaves only at the list's head (pop), as a victim or because it becomes head of line.
  * A packet that becomes head of line is the body's oldest, so it is also its list's oldest.
  * Rate: one push and one pop per cycle, each to any list.
  *
  * A search reads the bitmap (`lookup` to `found`), then the heads of two lists (the lowest rank and the second lowest). In s4 it gives the
  * selected packet. The selection is final: the packet is out of its list in the next cycle, s5.
  * A packet that becomes head of line also leaves its list, if it is in it (`isListed`).
  * {{{
  *   s2  pick              the heads of both lists are addressed
  *   s3                    each head, or what the pop in s5 leaves there
  *   s4  candidate         each head, or what the pop in s5 leaves there: of the first list, or else of the second
  *   s5                    it is popped; the next packet of its list is known
  * }}}
  * Within a cycle the push comes first, then the pop. A push to a list that a pop empties still finds it not empty. It appends to the packet that leaves.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * bitmaps (2 and 3 copies) | queues | 3 x distances bits; their exclusive or is the bitmap | push and victims; packets that become head
  * heads (2 copies) | lists | head, or that the list is empty: a [[SharedRam]] | push to an empty list; pop
  * tail | lists | newest cell | push
  * link | cells | the next packet in its list | push
  * own, hasLink (1 and 2 copies) | cells | one bit each; they differ if the link is valid | push of the packet itself; push that writes the link
  *
  * After reset the bitmaps, the owner bits of the heads and all single bits are cleared. This takes as many cycles as there are lists or cells.
  * Until `ready` nothing may be pushed.
  * Longest path, from RAM to RAM: s5, the link. It becomes the candidate of the next search, and that candidate's link is read.
  * This block does not know the order of packets of different lists.
  */
class DistanceLists(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val lookup = Input(UInt(log2Ceil(v.indexed).max(1).W))
    val found = Output(UInt(v.bitmapBits.W)) // one cycle later
    val pick = Input(Vec(2, new ListName(v))) // s2: the list of the lowest rank, and of the second lowest
    val wants = Input(Vec(2, Bool())) // s4: a packet of it may be selected; never the second's without the first's
    val candidate = Output(new Candidate(v)) // s4: the selected packet
    val makesHead = Input(Bool()) // s4: the first packet of a body becomes head; never with `wants`
    val goes = Input(UInt(v.cellBits.W)) // s4: the packet that becomes head, or the candidate
    val newHeadFrom = Input(new ListName(v)) // s4: the list in which the packet that becomes head may be
    val isListed = Input(Bool()) // s4: there is such a packet, and it is in its list
    val pushList = Input(new ListName(v)) // s4
    val pushCell = Input(UInt(v.cellBits.W)) // s4
    val push = Flipped(Valid(new ListedRef(v))) // s5
    val ready = Output(Bool()) // the clearing after reset is done
  })

  private class Head extends Bundle {
    val valid = Bool()
    val packet = new ListedRef(v)
  }
  private val (pusher, popper) = (0, 1)
  private val lists = 1 << v.listBits

  /** The packet at a list's end, with its bit in `own`, which the writer of its link must know. */
  private class Tail extends Bundle {
    val cell = UInt(v.cellBits.W)
    val own = Bool()
  }
  private val heads = new SharedRam(lists, new Head, 2)
  private val tail = new ForwardingRam(lists, new Tail)
  private val link = new ForwardingRam(v.cells, new ListedRef(v))
  private val own, hasLink = new ForwardingRam(v.cells, Bool())
  private val byArrivals = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val byNewHeads = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val sweep = new SweepInit(v.indexed)
  private val cellSweep = new SweepInit(v.cells)
  for (bits <- Seq(own, hasLink)) bits.write(!cellSweep.done, cellSweep.address, false.B)
  for (words <- Seq(byArrivals, byNewHeads)) words.write(!sweep.done, sweep.address, 0.U)
  io.ready := sweep.done && heads.ready && cellSweep.done

  private def choose[T <: Data](pick: Bool, one: T, other: T): T = Mux(pick, one.asUInt, other.asUInt).asTypeOf(one)

  io.found := byArrivals.read(io.lookup) ^ byNewHeads.read(io.lookup)

  // ---- push: the state of its list, in s5
  private val pushList = Delay(io.pushList)
  private val pushBit = pushList.rank.oneHot
  private val pushTail = tail.read(io.pushList.asUInt)
  private val arrivalWord = byArrivals.read(io.pushList.queue)
  private val bitmap = arrivalWord ^ byNewHeads.read(io.pushList.queue)
  private val pushToEmpty = io.push.valid && (bitmap & pushBit) === 0.U
  private val pushToOthers = io.push.valid && (bitmap & pushBit) =/= 0.U
  private val alone = Wire(new Head)
  alone.valid := true.B
  alone.packet := io.push.bits
  heads.write(pusher, io.pushList.asUInt, pushToEmpty, alone)
  private val pushed = Wire(new Tail)
  pushed.cell := io.push.bits.cell
  pushed.own := hasLink.read(io.pushCell)
  tail.write(io.push.valid, pushList.asUInt, pushed)
  own.write(io.push.valid, io.push.bits.cell, pushed.own)
  link.write(pushToOthers, pushTail.cell, io.push.bits)
  hasLink.write(pushToOthers, pushTail.cell, !pushTail.own)

  // ---- pop: the next packet becomes the head of the list
  private val listed = RegNext(io.isListed, false.B)
  private val isVictim = RegNext(io.candidate.valid, false.B)
  private val popsNext = io.candidate.valid || io.isListed
  private val pops = RegNext(popsNext, false.B)
  private val goesFrom = choose(io.makesHead, io.newHeadFrom, io.candidate.list)
  private val popList = Delay(goesFrom)
  private val popHasLink = own.read(io.goes) ^ hasLink.read(io.goes)
  private val popLink = link.read(io.goes)

  /** The head of the list after a pop, for a leaving packet that has a link, or has none. */
  private val remainingWith = Seq(false, true).map { isLinked =>
    val remaining = Wire(new Head)
    remaining.valid := isLinked.B || (io.push.valid && pushList.is(popList))
    remaining.packet := (if (isLinked) popLink else io.push.bits)
    remaining
  }
  private val remaining = choose(popHasLink, remainingWith(1), remainingWith(0))
  heads.write(popper, goesFrom.asUInt, pops, remaining)

  // ---- search: the heads, and the selected packet
  private val s3Lists = Delay(io.pick)
  private val s3Heads = VecInit(io.pick.zip(s3Lists).map { case (pick, list) =>
    choose(pops && popList.is(list), remaining, heads.read(pick.asUInt))
  })
  private val s4Lists = Delay(s3Lists)
  private val s4Heads = Delay(s3Heads)
  private val isFirst = Wire(Bool()) // the candidate is from the first list
  // Whether the pop in s5 is from one of the lists in s4 is computed in the cycle before, for each packet that may be selected then.
  private val poppedNext = s3Lists.map { list =>
    popsNext && Mux(
      io.makesHead,
      io.newHeadFrom.is(list),
      Mux(isFirst, s4Lists(0).is(list), s4Lists(1).is(list))
    )
  }
  private val popped = poppedNext.map(RegNext(_, false.B))
  for ((isPopped, list) <- popped.zip(s4Lists))
    assert(isPopped === (pops && popList.is(list)), "it is not known whether a list is popped")
  // Whether there is a link is known last, so both results are computed before.
  private val found = remainingWith.map { remaining =>
    val fronts = s4Heads.zip(popped).map { case (head, isPopped) => choose(isPopped, remaining, head) }
    val valid = fronts.zip(io.wants).map { case (front, wants) => front.valid && wants }
    (valid, choose(valid(0), fronts(0).packet, fronts(1).packet))
  }
  private def known[T <: Data](of: ((Seq[Bool], ListedRef)) => T): T = choose(popHasLink, of(found(1)), of(found(0)))
  isFirst := known(_._1(0))
  io.candidate.valid := known(_._1.reduce(_ || _))
  io.candidate.ofSecond := !isFirst
  io.candidate.packet := known(_._2)
  io.candidate.list := choose(isFirst, s4Lists(0), s4Lists(1))

  // ---- the bitmaps
  private val popBit = popList.rank.oneHot
  private val emptiedByVictim = isVictim && !remaining.valid
  private def gated(bits: UInt, on: Bool): UInt = bits & Fill(v.bitmapBits, on)
  // With each victim comes a push. Whether the victim's list becomes empty is known late.
  byArrivals.write(
    io.push.valid,
    pushList.queue,
    arrivalWord ^ (pushBit & ~bitmap) ^ gated(popBit, emptiedByVictim)
  )
  private val newHeadWord = byNewHeads.read(goesFrom.queue)
  byNewHeads.write(listed, popList.queue, newHeadWord ^ gated(popBit, !remaining.valid))

  assert(!io.push.valid || io.ready, "a packet was indexed before the memories are cleared")
  assert(!io.push.valid || io.push.bits.cell === Delay(io.pushCell), "another cell is indexed than was announced")
  assert(!io.isListed || io.makesHead, "a packet becomes head in no slot of a new head")
  assert(!(io.makesHead && io.wants.asUInt.orR), "a packet becomes head in the slot of a search")
  assert(!isVictim || (bitmap & popBit) =/= 0.U, "a packet that is in no list is removed")
  assert(
    !isVictim || (io.push.valid && popList.queue === pushList.queue),
    "a victim is removed without an arrival of its queue"
  )
}
