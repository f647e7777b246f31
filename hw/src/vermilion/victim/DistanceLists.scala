package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** The index: for each queue and rank the queue's packets of that rank, oldest first, and for each queue a bitmap of the lists that
  * hold any. A queue's first packet is in no list.
  *
  * Packets join at a list's end (push) and leave at its head only: by an eviction (pop), or because the packet becomes its queue's first
  * (promotion), which makes it the queue's oldest and so its list's. One push, one pop and one promotion a clock, each to any list.
  *
  * A search reads the bitmap (look to looked), then the heads of two lists (the lowest rank and the second lowest), and says in s4 which packet
  * goes. That is final: it is out of its list in the clock behind, s5. A promotion takes two clocks, p0 and p1, and is out of its list behind p1.
  * {{{
  *   s2  pick              the heads of both lists are addressed
  *   s3                    each head, or what the search two ahead (s5) or the promotion in p1 leaves there: the first list's second and third are addressed
  *   s4  candidate         the list's oldest that is neither promoted, up to p0 in this clock, nor the victim of the search ahead (s5)
  *   s5                    it is popped; the two behind it are known
  * }}}
  * Between s3 and s4 the first list can lose, at its front: the packet promoted now in p1, the one in p0 now, and the victim of the search one
  * ahead. If that search's victim is of the same list, it stands behind the one in p1 and is gone; then it is the two packets behind it that matter,
  * of which one may be in p0. Else it is the head, A1, its second and its third, of which the first two may be in p1 and p0: A1 or, where
  * that is in one of them, A2, or, where both are, A3. More cannot go, so the first list is empty only if it really is.
  * `link` is the packet behind in the list, `link2` the one behind that, each with a bit whether there is one. The second list is asked only if the first was emptied since s0. Of
  * it the head is known, and where the search ahead took its victim from it, the two behind that; a head that is in p1 or p0 leaves nothing.
  *
  * Within a clock the order is push, promotion, pop. A push to a list that is being emptied finds it not empty and joins behind the packet that goes.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * bitmaps (2 and 3 copies) | queues | 3 x distances bits; their exclusive or is the bitmap | push and pop; promotion
  * heads (2 copies) | lists | head cell, or that the list is empty: a [[SharedRam]] | push to an empty list; pop; promotion
  * tail | lists | newest cell | push
  * beforeTail | lists | the cell before the newest, which may have left | push
  * link (3 copies) | cells | the packet behind in its list | push
  * link2 (2 copies) | cells | the packet two behind in its list | push to a list that holds two
  * own (3 copies), hasLink, hasLink2 (4 copies each) | cells | a bit each of `link` and `link2`; own differs from the other where the link holds | push of the packet itself; push that writes the link
  * holdsOne (1, 2 and 2 copies) | lists | a bit each; their exclusive or says that the list holds one packet | push; pop; promotion
  *
  * After reset the bitmaps are swept, who owns the heads, and all single bits, for as many clocks as there are lists or cells; nothing may be pushed until `ready`.
  * `link2` of a packet that has left is not written: its cell may have come again, in another list. So a push must know whether its list holds one packet.
  * Each writer of `holdsOne` flips its own bit, which changes the exclusive or. Push, promotion and pop of one list in one clock flip as if they came one behind the other; but where a
  * promotion and a pop take two packets of a list, the pop alone flips, for both.
  * Longest path, from RAM to RAM: s4, link, the compare with the promoted packet, four choices, link again.
  * It does not know the order of packets of different lists.
  */
class DistanceLists(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val look = Input(UInt(log2Ceil(v.indexed).max(1).W))
    val looked = Output(UInt(v.bitmapBits.W)) // a clock later
    val pick = Input(Vec(2, new ListName(v))) // s2: the lowest rank's list, and the second lowest's
    val wants = Input(Vec(2, Bool())) // s4: a packet of it may go; never the second's without the first's
    val candidate = Valid(UInt(v.cellBits.W)) // s4: it goes
    val ofSecond = Output(Bool()) // s4: it is of the second list
    val asked = Output(Vec(QueueOrder.Asked, UInt(v.cellBits.W))) // s4: whether one of these is promoted (p0)
    // Of three; which is known last, by these two ([[SuccessorChoice]]).
    val isPromotedIf = Input(Vec(3, Vec(QueueOrder.Asked, Bool())))
    val picksSecond, replaced = Input(Bool())
    val pushList = Input(new ListName(v)) // s4
    val pushCell = Input(UInt(v.cellBits.W)) // s4
    val push = Flipped(Valid(UInt(v.cellBits.W))) // s5
    val promote = Flipped(Valid(new QueuedRef(v))) // p0
    val promoteQueue = Input(UInt(log2Ceil(v.indexed).max(1).W)) // p0
    val promoteListed = Input(Bool()) // p1: the packet stood in a list
    val ready = Output(Bool()) // the sweeps are done
  })

  private class Head extends Bundle {
    val valid = Bool()
    val cell = UInt(v.cellBits.W)
  }
  private val (pusher, popper, promoter) = (0, 1, 2)
  private val lists = 1 << v.listBits

  /** A packet at its list's end, with its bits in `own`, which the writer of its links must know. */
  private class Tail extends Bundle {
    val cell = UInt(v.cellBits.W)
    val own, own2 = Bool()
  }

  /** Who stands behind a packet in its list. */
  private class Behind extends Bundle {
    val has, has2 = Bool()
    val link, link2 = UInt(v.cellBits.W)
  }
  private val heads = new SharedRam(lists, new Head, 3)
  private val tail = new ForwardingRam(lists, new Tail)
  private val beforeTail = new ForwardingRam(lists, new Tail)
  private val link, link2 = new ForwardingRam(v.cells, UInt(v.cellBits.W))
  private val own = new ForwardingRam(v.cells, Vec(2, Bool()))
  private val hasLink, hasLink2 = new ForwardingRam(v.cells, Bool())
  private val holdsOne = Seq.fill(3)(new ForwardingRam(lists, Bool()))
  private val byArrivals = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val byPromotions = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val sweep = new SweepInit(v.indexed)
  private val (cellSweep, listSweep) = (new SweepInit(v.cells), new SweepInit(lists))
  own.write(!cellSweep.done, cellSweep.address, VecInit(false.B, false.B))
  for (bits <- Seq(hasLink, hasLink2)) bits.write(!cellSweep.done, cellSweep.address, false.B)
  for (bits <- holdsOne) bits.write(!listSweep.done, listSweep.address, false.B)
  byArrivals.write(!sweep.done, sweep.address, 0.U)
  byPromotions.write(!sweep.done, sweep.address, 0.U)
  io.ready := sweep.done && heads.ready && cellSweep.done && listSweep.done

  private def choose[T <: Data](pick: Bool, one: T, other: T): T = Mux(pick, one.asUInt, other.asUInt).asTypeOf(one)

  io.looked := byArrivals.read(io.look) ^ byPromotions.read(io.look)

  // ---- push: its list's state, in s5
  private val pushList = Delay(io.pushList)
  private val pushBit = pushList.rank.oneHot
  private val pushTail = tail.read(io.pushList.asUInt)
  private val arrivalWord = byArrivals.read(io.pushList.queue)
  private val bitmap = arrivalWord ^ byPromotions.read(io.pushList.queue)
  private val pushToEmpty = io.push.valid && (bitmap & pushBit) === 0.U
  private val alone = Wire(new Head)
  alone.valid := true.B
  alone.cell := io.push.bits
  heads.write(pusher, io.pushList.asUInt, pushToEmpty, alone)
  private val pushed = Wire(new Tail)
  pushed.cell := io.push.bits
  pushed.own := hasLink.read(io.pushCell)
  pushed.own2 := hasLink2.read(io.pushCell)
  private val before = beforeTail.read(io.pushList.asUInt)
  private val holds = holdsOne.map(_.read(io.pushList.asUInt))
  private val pushToOne = holds.reduce(_ ^ _)
  private val pushBehindTwo = io.push.valid && !pushToEmpty && !pushToOne
  tail.write(io.push.valid, pushList.asUInt, pushed)
  beforeTail.write(io.push.valid, pushList.asUInt, pushTail)
  own.write(io.push.valid, io.push.bits, VecInit(pushed.own, pushed.own2))
  link.write(io.push.valid && !pushToEmpty, pushTail.cell, io.push.bits)
  hasLink.write(io.push.valid && !pushToEmpty, pushTail.cell, !pushTail.own)
  link2.write(pushBehindTwo, before.cell, io.push.bits)
  hasLink2.write(pushBehindTwo, before.cell, !before.own2)
  holdsOne(pusher).write(io.push.valid && (pushToEmpty || pushToOne), pushList.asUInt, !holds(pusher))

  /** Who stands behind the packet in `cell`, a clock later. */
  private def behind(cell: UInt, wants2: Boolean = true): Behind = {
    val packet = Wire(new Behind)
    val bits = own.read(cell)
    packet.has := bits(0) ^ hasLink.read(cell)
    packet.has2 := bits(1) ^ hasLink2.read(cell)
    packet.link := link.read(cell)
    packet.link2 := (if (wants2) link2.read(cell) else DontCare)
    packet
  }
  private def pushedTo(list: ListName): Bool = io.push.valid && pushList.is(list)

  /** The head of `list` when its first packet has gone. */
  private def next(list: ListName, first: Behind): Head = {
    val head = Wire(new Head)
    head.valid := first.has || pushedTo(list)
    head.cell := Mux(first.has, first.link, io.push.bits)
    head
  }

  /** The packet behind that. */
  private def nextButOne(list: ListName, first: Behind): Head = {
    val head = Wire(new Head)
    head.valid := first.has && (first.has2 || pushedTo(list))
    head.cell := Mux(first.has2, first.link2, io.push.bits)
    head
  }

  /** Whether `list` holds one packet when its first has gone. */
  private def isOne(list: ListName, first: Behind): Bool =
    Mux(pushedTo(list), !first.has, first.has && !first.has2)

  /** Whether nothing is left then. */
  private def isNone(list: ListName, first: Behind): Bool = !first.has && !pushedTo(list)

  // ---- promotion
  private val p0List = Wire(new ListName(v))
  p0List.queue := io.promoteQueue
  p0List.rank := io.promote.bits.rank
  private val p1List = Delay(p0List)
  private val p1Valid = RegNext(io.promote.valid, false.B) && io.promoteListed
  private val promoted = behind(io.promote.bits.cell, wants2 = false)
  private val p1Behind = next(p1List, promoted)
  private val p1Word = byPromotions.read(p0List.queue)

  // ---- pop: the two behind the victim
  private val s4Cell = io.candidate.bits
  private val s4List = Wire(new ListName(v))
  private val s5Valid = RegNext(io.candidate.valid, false.B)
  private val s5List = Delay(s4List)
  private val popped = behind(s4Cell)
  private val after = next(s5List, popped)
  private val after2 = nextButOne(s5List, popped)

  // ---- search, s3: the heads
  private val s3Lists = Delay(io.pick)
  private val s3Heads = VecInit(io.pick.zip(s3Lists).map { case (pick, list) =>
    val promoted = p1Valid && p1List.is(list)
    choose(s5Valid && s5List.is(list), after, choose(promoted, p1Behind, heads.read(pick.asUInt)))
  })

  // ---- search, s4: who goes
  private class Going extends Bundle {
    val valid, ofSecond = Bool()
    val cell = UInt(v.cellBits.W)
    val list = new ListName(v)
  }
  private val lists4 = Delay(s3Lists)
  private val s4Heads = Delay(s3Heads)
  private val ofHead = behind(s3Heads(0).cell)
  private val second = next(lists4(0), ofHead)
  private val third = nextButOne(lists4(0), ofHead)
  io.asked := VecInit(s4Heads(0).cell, s4Heads(1).cell, ofHead.link, popped.link, io.push.bits)
  private val inP1 =
    s4Heads.map(head => RegNext(io.promote.valid, false.B) && Delay(io.promote.bits.cell) === head.cell)
  private val none = 0.U.asTypeOf(new Head)
  private val ofAhead = lists4.map(list => s5Valid && s5List.is(list))
  // Of each list who goes if its front is not promoted, and if it is; and whether it is. That is known last, and chooses last.
  private val fronts = Seq.tabulate(2) { i =>
    val (behind, behindThat) = if (i == 0) (second, third) else (none, none)
    val front = choose(ofAhead(i), after, choose(inP1(i), behind, s4Heads(i)))
    val behindFront = choose(ofAhead(i), after2, choose(inP1(i), behindThat, behind))
    Seq(front, behindFront).map { head =>
      val goes = Wire(new Head)
      goes.valid := io.wants(i) && (ofAhead(i) || s4Heads(i).valid) && head.valid
      goes.cell := head.cell
      goes
    }
  }
  private def isPromoted(i: Int, asked: Vec[Bool]): Bool = {
    val behind = if (i == 0) Mux(ofHead.has, asked(2), asked(4)) else false.B
    Mux(ofAhead(i), Mux(popped.has, asked(3), asked(4)), Mux(inP1(i), behind, asked(i)))
  }
  private val isFrontPromoted = VecInit.tabulate(2) { i =>
    val each = io.isPromotedIf.map(isPromoted(i, _))
    Mux(io.replaced, each(2), Mux(io.picksSecond, each(1), each(0)))
  }
  private val going = VecInit.tabulate(4) { i =>
    val (ofFirst, ofSecond) = (fronts(0)(i & 1), fronts(1)(i >> 1))
    val packet = Wire(new Going)
    packet.valid := ofFirst.valid || ofSecond.valid
    packet.cell := Mux(ofFirst.valid, ofFirst.cell, ofSecond.cell)
    packet.ofSecond := !ofFirst.valid
    packet.list := choose(ofFirst.valid, lists4(0), lists4(1))
    packet
  }(isFrontPromoted.asUInt)
  io.candidate.valid := going.valid
  io.candidate.bits := going.cell
  io.ofSecond := going.ofSecond
  s4List := going.list

  // A pop and a promotion from one list: the pop's packet was behind the other, so the list is as the pop leaves it.
  private val together = s5Valid && p1Valid && p1List.is(s5List)
  heads.write(popper, s4List.asUInt, s5Valid, after)
  heads.write(promoter, p0List.asUInt, p1Valid && !together, p1Behind)
  private val popOwn = holdsOne(popper).read(s4List.asUInt)
  private val promoterOwn = holdsOne(promoter).read(p0List.asUInt)
  private val popFlips = isOne(s5List, popped) || (isNone(s5List, popped) && !together)
  private val promotionFlips = (isOne(p1List, promoted) || isNone(p1List, promoted)) && !together
  holdsOne(popper).write(s5Valid && popFlips, s5List.asUInt, !popOwn)
  holdsOne(promoter).write(p1Valid && promotionFlips, p1List.asUInt, !promoterOwn)
  private val popBit = s5List.rank.oneHot
  private val emptiedByPop = s5Valid && !after.valid
  byArrivals.write(
    io.push.valid || s5Valid,
    pushList.queue,
    arrivalWord ^ (pushBit & ~bitmap & Fill(v.bitmapBits, io.push.valid)) ^ (popBit & Fill(v.bitmapBits, emptiedByPop))
  )
  byPromotions.write(p1Valid && !p1Behind.valid, p1List.queue, p1Word ^ p1List.rank.oneHot)

  assert(!io.push.valid || io.ready, "a packet was indexed within the first clocks after reset")
  assert(!io.push.valid || io.push.bits === Delay(io.pushCell), "another cell is indexed than was announced")
  assert(!io.push.valid || !pushToOne || !pushToEmpty, "an empty list holds one packet")
  assert(!s5Valid || (bitmap & popBit) =/= 0.U, "a packet goes that stands in no list")
  assert(!s5Valid || s5List.queue === pushList.queue, "an eviction comes with an arrival of another queue")
}
