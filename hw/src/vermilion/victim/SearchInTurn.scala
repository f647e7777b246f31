package vermilion.victim

import chisel3._
import chisel3.util._

/** The clocks of a search in turn, counted from the one in which it is asked for; the verdict comes [[SearchInTurn.Latency]] clocks later.
  *
  * No two searches overlap, and nothing is taken from a queue from the clock in which one is asked for to that of its verdict. So all that a search sees
  * stands still, and every RAM has one writer and most have one reader, each at its own clock:
  * {{{
  *   clock  a queue's lists ([[DistanceListsInTurn]])       its last packets ([[TailWindowInTurn]])    the queue itself ([[VictimQueuesInTurn]])
  *     0                                                    window addressed
  *     1                                                    count addressed; entries held
  *     2    bitmap addressed                                nearest of each two
  *     3    lowest of each four distances                   of each eight
  *     4    lowest rank; its head and newest are addressed  of all                                     its record is addressed
  *     5    the head                                                                                   so are the victim's record and neighbours
  *     6    it goes; the new packet's list is addressed                                                verdict: who pays; the victim is linked out
  *     7    the new packet is pushed                        it is put in, the victim's gap closed      it is linked in
  *   behind a take:
  *     1    the list of who is first now is addressed       count addressed
  *     2    it goes from there                              one less
  * }}}
  * The first take behind a verdict is in clock 7, which is in time for a search that begins in the next clock.
  */
object SearchInTurn {
  val Latency = 6

  // Clocks of a search.
  private[victim] val (counts, bitmaps, compares, ranks, victims, verdict, append) =
    (1, 2, 3, 4, 5, Latency, Latency + 1)
}

/** Where a search is: `at(k)` in its clock k. What it asks for stands from clock 1 to the next search's clock 0. */
class SearchInTurn(v: VictimParams, ahead: Valid[Sought]) {
  private val clocks = Seq.iterate(ahead.valid, SearchInTurn.append + 1)(RegNext(_, false.B))
  def at(clock: Int): Bool = clocks(clock)
  val sought: Sought = RegEnable(ahead.bits, ahead.valid)
  val isTail: Bool = sought.last =/= 0.U
  val busy: Bool = clocks.reduce(_ || _)
  assert(!ahead.valid || !clocks.tail.reduce(_ || _), "a search is asked for before the one ahead of it is done")
}

/** A packet that becomes its queue's first, behind a take. */
class PromotedInTurn(v: VictimParams) extends Bundle {
  val queue = UInt(v.queueBits.W)
  val cell = UInt(v.cellBits.W)
  val rank = new Rank(v)
  val listed = Bool() // it stands in a list by distance
}
