package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** The index of [[DistanceLists]] where searches do not overlap: for each queue and rank the queue's packets of that rank, oldest first, and for each queue
  * a bitmap of the lists that hold any.
  *
  * A packet joins at a list's end. It leaves at the head only: because it pays (it is the oldest of the lowest rank), or because it becomes its
  * queue's first, which makes it the queue's oldest and so its list's. So a list is linked one way, and says itself whether it is empty.
  * Clocks are those of [[SearchInTurn]].
  *
  * RAM | depth | holds | written in clock
  * --- | --- | --- | ---
  * words | queues | the bitmap, 3 x distances bits | 6, 7; behind a take 2
  * heads | lists | head cell, and whether there is one | 6, 7; behind a take 2
  * newest | lists | newest cell | 7
  * link | cells | the packet behind in its list | 7
  *
  * Heads alone are forwarded: the new packet's list may be the one that the victim leaves. After reset heads and words are cleared, for as many
  * clocks as there are lists.
  */
class DistanceListsInTurn(v: VictimParams) extends Module {
  import SearchInTurn._
  private val queueBits = log2Ceil(v.indexed).max(1)
  val io = IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(v)))
    val found = Output(Bool()) // clock 5: somebody may go
    val rank = Output(new Rank(v)) // clocks 5 and 6: of that packet
    val head = Output(UInt(v.cellBits.W)) // clock 5: it
    val pop = Input(Bool()) // clock 6: it goes
    val push = Input(Bool()) // clock 7: the packet that the search was for joins, of its own rank
    val pushed = Input(UInt(v.cellBits.W))
    val promoted = Flipped(Valid(new PromotedInTurn(v))) // only of packets that are listed
    val ready = Output(Bool())
  })
  private class Head extends Bundle {
    val valid = Bool()
    val cell = UInt(v.cellBits.W)
  }
  private val lists = 1 << v.listBits
  private val words = SyncReadMem(v.indexed.max(512), UInt(v.bitmapBits.W)) // fewer would lie in LUTs
  private val heads = new ForwardingRam(lists, new Head)
  private val newest = SyncReadMem(lists, UInt(v.cellBits.W))
  private val link = SyncReadMem(v.cells, UInt(v.cellBits.W))
  private val sweep = new SweepInit(lists)
  io.ready := sweep.done
  private val search = new SearchInTurn(v, io.ahead)
  private def index(queue: UInt): UInt = queue.pad(queueBits)(queueBits - 1, 0)
  private def listOf(queue: UInt, rank: Rank): UInt = {
    val list = Wire(new ListName(v))
    list.queue := index(queue)
    list.rank := rank
    list.asUInt
  }

  // ---- behind a take
  private val p0 = io.promoted.bits
  private val p1Valid = RegNext(io.promoted.valid, false.B)
  private val p1 = Delay(p0)

  // ---- the lowest rank
  private val ramWord = words.read(Mux(search.at(bitmaps), index(search.sought.queue), index(p0.queue)))
  private val mayLose = VecInit(Seq.tabulate(v.bitmapBits)(i => search.sought.mayLose(i % 3))).asUInt
  private val lowest = Module(new LowestRank(v))
  lowest.io.bitmap := ramWord & mayLose
  private val list = listOf(search.sought.queue, lowest.io.rank(0))
  io.found := RegEnable(lowest.io.found(0), search.at(ranks))
  io.rank := RegEnable(lowest.io.rank(0), search.at(ranks))
  private val victimList = RegEnable(list, search.at(ranks))
  private val pushList = listOf(search.sought.queue, search.sought.rank)

  private val head = heads.read(Mux(search.at(ranks), list, pushList))
  private val end = newest.read(
    Mux(search.at(ranks), list, Mux(search.at(verdict), pushList, listOf(p0.queue, p0.rank)))
  )
  io.head := head.cell
  private val popsLast = RegEnable(end === head.cell, search.at(victims))
  private val behind = link.read(Mux(search.at(victims), head.cell, p0.cell))

  // ---- who leaves and joins: one list changes a clock
  private val leaves = io.pop || p1Valid
  private val leavesLast = Mux(p1Valid, end === p1.cell, popsLast)
  private val left = Wire(new Head)
  left.valid := !leavesLast
  left.cell := behind
  heads.write(leaves, Mux(p1Valid, listOf(p1.queue, p1.rank), victimList), left)
  private val pushesFirst = io.push && !head.valid
  private val pushed = Wire(new Head)
  pushed.valid := true.B
  pushed.cell := io.pushed
  heads.write(pushesFirst, pushList, pushed)
  heads.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Head))
  when(io.push) { newest.write(pushList, io.pushed) }
  when(io.push && head.valid) { link.write(end, io.pushed) }

  // ---- the bitmap follows
  private val word = Reg(UInt(v.bitmapBits.W)) // of the search's queue, from clock 4 on
  private val changes = (leaves && leavesLast) || pushesFirst
  private val old = Mux(p1Valid, ramWord, word)
  private val changed =
    Mux(p1Valid, p1.rank.asUInt, Mux(search.at(append), search.sought.rank.asUInt, io.rank.asUInt))
      .asTypeOf(new Rank(v))
  private val next = old ^ changed.oneHot
  when(search.at(compares)) { word := ramWord }.elsewhen(io.pop && popsLast) { word := next }
  private val writes = changes || !sweep.done
  private val written = Mux(sweep.done, Mux(p1Valid, index(p1.queue), index(search.sought.queue)), sweep.address)
  when(writes) { words.write(written, Mux(sweep.done, next, 0.U)) }

  assert(!io.pop || search.at(verdict), "a packet is popped at another time than the verdict's")
  assert(!io.push || search.at(append), "a packet is pushed at another time than behind its verdict")
  assert(!p1Valid || !(search.at(verdict) || search.at(append)), "a packet becomes first while another goes or joins")
  assert(!io.promoted.valid || !search.at(bitmaps), "a packet becomes first while its queue is searched")
  assert(!(leaves && RegNext(leaves, false.B)), "two packets leave at once")
  assert(!changes || pushesFirst === (next & ~old).orR, "a list is marked as empty that was, or the reverse")
}
