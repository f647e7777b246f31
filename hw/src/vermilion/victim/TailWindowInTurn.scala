package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** The last packets of every queue, newest first, as [[TailWindow]] keeps them, where searches do not overlap: the nearest of the last n is found by fifteen
  * compares in three clocks, and what is found there is still there when it goes.
  *
  * A word a queue holds its last [[TailWindow.Places]] packets behind the first: an append moves all one place on, a packet that is evicted leaves a gap
  * that closes in the same clock. How many packets stand behind the first is counted beside it, up by an append without an eviction, down by a packet that becomes
  * first. So the window holds those of its places whose number is less, and the queue's newest packet stands in the first if any does.
  *
  * Clocks are those of [[SearchInTurn]]. RAM, one word a queue: the window, and the count, which is forwarded, as the packet of the last take before a search
  * becomes first when it is read. After reset counts are cleared, for `indexed` clocks.
  */
class TailWindowInTurn(v: VictimParams) extends Module {
  import SearchInTurn._
  import TailWindow.Places
  private val queueBits = log2Ceil(v.indexed).max(1)
  val io = IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(v)))
    val found = Output(Bool()) // clock 4: somebody may go
    val nearest = Output(new WindowEntry(v)) // clock 4: that packet
    val victim = Input(UInt(v.cellBits.W)) // clock 6: whoever goes; need not stand here
    val isNewest = Output(Bool()) // clock 6: it is its queue's newest packet, if it stands behind the first
    val remove = Input(Bool()) // clock 6: it goes
    val append = Flipped(Valid(new WindowEntry(v))) // clock 7: behind a first packet
    val promoted = Flipped(Valid(new PromotedInTurn(v))) // all that become first
    val ready = Output(Bool())
  })
  private class Count extends Bundle {
    val many = Bool() // as many as there are places, or more: known early
    val packets = UInt((v.cellBits + 1).W)

    /** Does place `i` hold a packet? */
    def holds(i: Int): Bool = many || i.U < packets(log2Ceil(Places) - 1, 0)
  }
  private def index(queue: UInt): UInt = queue.pad(queueBits)(queueBits - 1, 0)
  // Fewer records would lie in LUTs.
  private val window = SyncReadMem(v.indexed.max(512), Vec(Places, new WindowEntry(v)))
  private val behinds = new ForwardingRam(v.indexed.max(512), new Count)
  private val sweep = new SweepInit(v.indexed)
  io.ready := sweep.done
  private val search = new SearchInTurn(v, io.ahead)
  private val sought = search.sought
  private val entries = RegEnable(window.read(index(io.ahead.bits.queue)), search.at(1))
  private val behind = behinds.read(Mux(search.at(counts), index(sought.queue), index(io.promoted.bits.queue)))

  // ---- search, clocks 2 to 4
  private class Choice extends Bundle {
    val valid = Bool()
    val entry = new WindowEntry(v)
  }

  /** Of equal ranks the older one, which comes later. */
  private def nearer(newer: Choice, older: Choice): Choice = {
    val isOlder = older.valid && (!newer.valid || older.entry.rank.asUInt <= newer.entry.rank.asUInt)
    val chosen = Wire(new Choice)
    chosen.valid := older.valid || newer.valid
    chosen.entry := Mux(isOlder, older.entry.asUInt, newer.entry.asUInt).asTypeOf(new WindowEntry(v))
    chosen
  }
  private def round(choices: Seq[Choice]): Seq[Choice] =
    choices.grouped(2).map(pair => nearer(pair.head, pair.last)).toSeq
  private val all = entries.zipWithIndex.map { case (entry, i) =>
    val choice = Wire(new Choice)
    choice.valid := behind.holds(i) && i.U < sought.last && !entry.listed && sought.mayLose(entry.rank.slot)
    choice.entry := entry
    choice
  }
  private val s3 = round(all).map(Delay(_))
  private val s4 = round(round(s3)).map(Delay(_))
  private val nearest = round(s4).head
  io.found := nearest.valid
  io.nearest := nearest.entry

  // ---- clocks 6 and 7. Out of registers of their own: what is held behind a block RAM comes out of it, late
  private val held = RegEnable(entries, search.at(bitmaps))
  private val s6Behind = RegEnable(behind, search.at(bitmaps))
  private val hits = held.zipWithIndex.map { case (entry, i) => s6Behind.holds(i) && entry.cell === io.victim }
  io.isNewest := hits.head
  private val s7Removes = RegNext(io.remove, false.B)
  private val s7BehindHit = hits.scanLeft(false.B)(_ || _).map(hit => RegNext(hit)) // the gap is nearer to the newest
  private val next = Wire(Vec(Places, new WindowEntry(v)))
  next(0) := io.append.bits
  for (i <- 1 until Places)
    next(i) := Mux(s7Removes && s7BehindHit(i), held(i).asUInt, held(i - 1).asUInt).asTypeOf(new WindowEntry(v))
  when(io.append.valid) { window.write(index(sought.queue), next) }
  private val p1Valid = RegNext(io.promoted.valid, false.B)
  private val p1Queue = Delay(io.promoted.bits.queue)
  private val count = Wire(new Count)
  count.packets := Mux(p1Valid, behind.packets - 1.U, s6Behind.packets + !s7Removes)
  count.many := Mux(
    p1Valid,
    behind.many && behind.packets =/= Places.U,
    s6Behind.many || (s6Behind.packets === (Places - 1).U && !s7Removes)
  )
  private val written = Mux(p1Valid, index(p1Queue), index(sought.queue))
  behinds.write(io.append.valid || p1Valid, written, count)
  behinds.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Count))

  assert(!s7Removes || io.append.valid, "a packet leaves the window without another that joins")
  assert(!io.append.valid || search.at(append), "a packet is appended at another time than behind its verdict")
  assert(!(io.append.valid && p1Valid), "a packet joins while another becomes first")
  assert(!p1Valid || behind.packets =/= 0.U, "a packet becomes first behind which none was known")
  assert(count.many === (count.packets >= Places.U) || !p1Valid && !io.append.valid, "a count is not what it says")
  assert(PopCount(hits) <= 1.U || !search.at(verdict), "a packet stands in two places")
}
