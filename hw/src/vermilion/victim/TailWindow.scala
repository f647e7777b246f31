package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** A packet in the window of its queue. */
class WindowEntry(v: VictimParams) extends Bundle {
  val cell = UInt(v.cellBits.W)
  val rank = new Rank(v)
  val listed = Bool() // it is or was in a list by distance, or was marked: no victim of the tail-drop form
}

object TailWindow {

  /** Packets per window. */
  val Places = 16
  val CountBits: Int = log2Ceil(Places + 1)
}

/** Keeps the last packets of every queue, newest first, for DDRED's tail-drop form (P3), and finds the nearest of the last n.
  *
  * A word per queue holds its last [[TailWindow.Places]] packets exactly. An append moves all by one place, an eviction closes its gap.
  * The word also counts the packets that have ever joined, less those evicted. A second RAM counts the packets that became head of line.
  * {{{
  *   behind = joined - newHeads      place i holds a packet that is still in the body if i < behind
  * }}}
  * Both counts wrap. They have one bit more than the number of a cell. Packets that leave in order need no lookup of the window.
  *
  * Timing, in stages of [[VictimPipeline]]: `lookup` s0, `last` and `mayLose` s1, `found` and `nearest` s3; `queue` s4, `append`, `remove` and `newHead` s5.
  * A search uses the state of s0, without the new heads of that cycle.
  * RAM, one word per queue: window (2 copies), newHeads (2 copies). After reset they are cleared in `indexed` cycles.
  * Longest path: window RAM, comparison of 16 cells, the multiplexer that moves the entries.
  */
class TailWindow(v: VictimParams) extends Module {
  import TailWindow._
  private val queueBits = log2Ceil(v.indexed).max(1)
  val io = IO(new Bundle {
    val lookup = Input(UInt(queueBits.W))
    val last = Input(UInt(CountBits.W)) // the number of last packets that may be victims
    val mayLose = Input(Vec(3, Bool())) // by the slot of their rank
    val found = Output(Bool())
    val nearest = Output(new WindowEntry(v))
    val queue = Input(UInt(queueBits.W))
    val append = Flipped(Valid(new WindowEntry(v)))
    val victim = Input(UInt(v.cellBits.W))
    val remove = Input(Bool()) // `victim` leaves the queue, with an append; it need not be in the window
    val newHead = Input(Bool()) // a packet becomes head of line
    val newHeadQueue = Input(UInt(queueBits.W))
    val ready = Output(Bool())
  })
  private class Word extends Bundle {
    val joined = UInt((v.cellBits + 1).W)
    val entries = Vec(Places, new WindowEntry(v))
  }
  private val window = new ForwardingRam(v.indexed, new Word)
  private val newHeads = new ForwardingRam(v.indexed, UInt((v.cellBits + 1).W))
  private val sweep = new SweepInit(v.indexed)
  window.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Word))
  newHeads.write(!sweep.done, sweep.address, 0.U)
  io.ready := sweep.done

  // ---- new head: counted one cycle later
  private val newHeadsBefore = newHeads.read(io.newHeadQueue)
  newHeads.write(RegNext(io.newHead, false.B), Delay(io.newHeadQueue), newHeadsBefore + 1.U)

  // ---- search
  private class Choice extends Bundle {
    val valid = Bool()
    val entry = new WindowEntry(v)
  }

  /** The packet with the lower rank. If the ranks are equal, the older packet, which is later in the window. */
  private def nearer(newer: Choice, older: Choice): Choice = {
    val chosen = Wire(new Choice)
    chosen := newer
    when(older.valid && (!newer.valid || older.entry.rank.asUInt <= newer.entry.rank.asUInt)) { chosen := older }
    chosen
  }
  private val s1Word = window.read(io.lookup)
  private val s1Behind = (s1Word.joined - newHeads.read(io.lookup))(v.cellBits, 0)
  private val s1Choices = s1Word.entries.zipWithIndex.map { case (entry, i) =>
    val choice = Wire(new Choice)
    choice.valid := i.U < s1Behind && i.U < io.last && !entry.listed && io.mayLose(entry.rank.slot)
    choice.entry := entry
    choice
  }
  private def halve(choices: Seq[Choice]) = choices.grouped(2).map(pair => nearer(pair(0), pair(1))).toSeq
  private val s2Choices = halve(s1Choices).map(Delay(_))
  private val s3Choice = halve(halve(halve(s2Choices)).map(Delay(_))).head
  io.found := s3Choice.valid
  io.nearest := s3Choice.entry

  // ---- append and remove
  private val s5Word = window.read(io.queue)
  // Only packets that became head of line are further back. So a packet that has left but is still in the word is not taken for the victim.
  private val hits = s5Word.entries.map(_.cell === io.victim)
  private val next = Wire(new Word)
  next.joined := s5Word.joined + !io.remove
  next.entries(0) := io.append.bits
  for (i <- 1 until Places) {
    val afterGap = io.remove && hits.take(i).reduce(_ || _)
    next.entries(i) := Mux(afterGap, s5Word.entries(i).asUInt, s5Word.entries(i - 1).asUInt)
      .asTypeOf(new WindowEntry(v))
  }
  window.write(io.append.valid, Delay(io.queue), next)

  assert(!io.remove || io.append.valid, "a packet leaves the window, and none is appended")
}
