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
  * A promotion takes two clocks, p0 and p1. A search reads the bitmap (look to looked), and later the head of the list it has picked:
  * {{{
  *   s3  pick              the head's address goes to RAM
  *   s4  candidate         the head, or what the pop of the search ahead or the promotion in p1 leaves there
  *   s5  pop               or not; `after` is the list's head then, and the candidate of a search one clock behind
  * }}}
  * The link behind a candidate is read in s4 and stands in s5, so candidates of one list follow each other every clock.
  * Within a clock the order is push, promotion, pop. A push to a list that is being emptied finds it not empty and joins behind the packet that goes.
  *
  * RAM | depth | holds | written by
  * --- | --- | --- | ---
  * bitmaps (2 x 2 copies) | queues | 3 x distances bits; their exclusive or is the bitmap | push and pop; promotion
  * heads | lists | head cell, or that the list is empty: a [[SharedRam]] | push to an empty list; pop; promotion
  * tail (3 copies) | lists | newest cell | push
  * link (2 copies) | cells | the packet behind in its list | push
  *
  * After reset the bitmaps are swept, and who owns the heads, for as many clocks as there are lists; nothing may be pushed until `ready`.
  * Longest path: link RAM, candidate, link RAM: two choices and a compare of a cell with the list's tail.
  * It does not know the order of packets of different lists.
  */
class DistanceLists(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val look = Input(UInt(log2Ceil(v.indexed).max(1).W))
    val looked = Output(UInt(v.bitmapBits.W)) // a clock later
    val pick = Flipped(Valid(new ListName(v))) // s3
    val candidate = Valid(UInt(v.cellBits.W)) // s4
    val pop = Input(
      Bool()
    ) // s5, the candidate of the clock before; legal only if that was valid and has not been promoted since
    val pushList = Input(new ListName(v)) // s4
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
  private val heads = new SharedRam(lists, new Head, 3)
  private val tail = new ForwardingRam(lists, UInt(v.cellBits.W))
  private val link = new ForwardingRam(v.cells, UInt(v.cellBits.W))
  private val byArrivals = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val byPromotions = new ForwardingRam(v.indexed, UInt(v.bitmapBits.W))
  private val sweep = new SweepInit(v.indexed)
  byArrivals.write(!sweep.done, sweep.address, 0.U)
  byPromotions.write(!sweep.done, sweep.address, 0.U)
  io.ready := sweep.done && heads.ready

  private def choose(pick: Bool, one: Head, other: Head) = Mux(pick, one.asUInt, other.asUInt).asTypeOf(new Head)

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
  tail.write(io.push.valid, pushList.asUInt, io.push.bits)
  link.write(io.push.valid && !pushToEmpty, pushTail, io.push.bits)

  /** The head of `list` when its first packet `first` has gone, whose link and whose list's tail are given. */
  private def behind(list: ListName, first: UInt, linkOfFirst: UInt, tailOfList: UInt): Head = {
    val last = tailOfList === first
    val head = Wire(new Head)
    head.valid := !last || (io.push.valid && pushList.is(list))
    head.cell := Mux(last, io.push.bits, linkOfFirst)
    head
  }

  // ---- promotion
  private val p0List = Wire(new ListName(v))
  p0List.queue := io.promoteQueue
  p0List.rank := io.promote.bits.rank
  private val p1List = Delay(p0List)
  private val p1Valid = RegNext(io.promote.valid, false.B) && io.promoteListed
  private val p1Behind =
    behind(p1List, Delay(io.promote.bits.cell), link.read(io.promote.bits.cell), tail.read(p0List.asUInt))
  private val p1Word = byPromotions.read(p0List.queue)

  // ---- search and pop
  private val s4Valid = RegNext(io.pick.valid, false.B)
  private val s4List = Delay(io.pick.bits)
  private val s4Head = heads.read(io.pick.bits.asUInt)
  private val s5Valid = RegNext(io.candidate.valid, false.B)
  private val s5List = Delay(s4List)
  private val s5Cell = Delay(io.candidate.bits)
  private val after = behind(s5List, s5Cell, link.read(io.candidate.bits), tail.read(s4List.asUInt))
  private val sameAsAhead = s5Valid && RegNext(io.pick.bits.is(s4List))
  private val sameAsPromoted = p1Valid && p1List.is(s4List)
  private val candidate = choose(sameAsAhead, after, choose(sameAsPromoted, p1Behind, s4Head))
  io.candidate.valid := s4Valid && candidate.valid
  io.candidate.bits := candidate.cell

  // A pop and a promotion from one list: the pop's packet was behind the other, so the list is as the pop leaves it.
  heads.write(popper, s4List.asUInt, io.pop, after)
  heads.write(promoter, p0List.asUInt, p1Valid && !(io.pop && p1List.is(s5List)), p1Behind)
  private val popBit = s5List.rank.oneHot
  private val emptiedByPop = io.pop && !after.valid
  byArrivals.write(
    io.push.valid || io.pop,
    pushList.queue,
    arrivalWord ^ (pushBit & ~bitmap & Fill(v.bitmapBits, io.push.valid)) ^ (popBit & Fill(v.bitmapBits, emptiedByPop))
  )
  byPromotions.write(p1Valid && !p1Behind.valid, p1List.queue, p1Word ^ p1List.rank.oneHot)

  assert(!io.push.valid || sweep.done, "a packet was indexed within the first clocks after reset")
  assert(!io.pop || s5Valid, "nothing is there to be popped")
  assert(!io.pop || s5List.queue === pushList.queue, "an eviction comes with an arrival of another queue")
}
