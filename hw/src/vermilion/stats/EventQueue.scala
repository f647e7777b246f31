package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Verdict
import vermilion.victim.Distance

/** What the statistics count of a packet in its queue. */
class CountedPacket(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
}

class CountedDecision(p: LaneParams) extends CountedPacket(p) {
  val came = UInt(2.W) // the colour before its marker
  val verdict = UInt(Verdict.Bits.W)
}

class CountedDeparture(p: LaneParams) extends CountedPacket(p) {
  val bin = UInt(log2Ceil(WindowProgram.Bins).W) // of its latency
}

/** Who paid for a decision: of a contest, or of a loss without one, in which the arriving packet paid. */
class CountedPayment extends Bundle {
  val contest = Bool()
  val evicted, hasVictim = Bool() // a queued packet paid: it was evicted, or marked; or either
  val lost = Bool() // who paid did not stay
  val colour = UInt(2.W) // of the queued packet
  val lenBytes = UInt(PktLenBits.W) // of the queued packet, 0 where the arriving one paid
  val distance = UInt(Distance.Bits.W) // of who paid
}

/** What happened in one clock, and what the host wants before it is counted. */
class ClockEvents(p: LaneParams) extends Bundle {
  val snapshot, clear = Bool()
  val decided, departed, written = Bool() // which of the three there were
  val paid = Option.when(p.victims != 0)(Bool()) // somebody, for the decision
  val decision = new CountedDecision(p)
  val payment = Option.when(p.victims != 0)(new CountedPayment)
  val departure = new CountedDeparture(p)
  val ceWrite = new CountedPacket(p)
  def any: Bool = snapshot || clear || decided || departed || written
}

/** Clocks in which something happened, in their order, until it is counted: a block RAM.
  *
  * `out` is a register, and stands from four clocks after `in` on; `next` takes it. One word a clock in and out.
  * `crowded` asks that no more packets depart while fewer than [[EventQueue.margin]] places are left. What comes nevertheless must fit these:
  *   - departures that are under way: 3, and their CE marks, one for each packet between scheduler and rewrite: 8;
  *   - decisions, which are at least 8 clocks apart. A clock's events are counted in 6 clocks, so what waits grows fewer, but in a
  *     snapshot's [[EventQueue.pauseClocks]]: 33. The next snapshot stands behind all that waits.
  *
  * With the victim search a clock's events need up to 8 clocks, as many as lie between decisions, so what waits need not grow fewer, and a pause lets 81
  * decisions wait. With 320 words there when `crowded` rises, 412 wait behind a first snapshot's pause. The second stands behind these, of which the
  * 92 that came last need 4 clocks at most: at its start 363 wait, and 444 at its end. All these are decisions alone, counted twice as fast as they come.
  */
class EventQueue(p: LaneParams) extends Module {
  import EventQueue._
  val io = IO(new Bundle {
    val in = Flipped(Valid(new ClockEvents(p)))
    val out = Valid(new ClockEvents(p))
    val next = Input(Bool())
    val crowded = Output(Bool())
  })
  private val ram = SyncReadMem(Depth, UInt((new ClockEvents(p)).getWidth.W))
  private val written, taken = RegInit(0.U(log2Ceil(Depth).W))
  private val load = Wire(Bool()) // into the RAM's register
  private val second = taken + 1.U
  private val head = Mux(load, second, taken)
  private val waiting = written - taken
  taken := head
  when(io.in.valid) {
    ram.write(written, io.in.bits.asUInt)
    written := written + 1.U
  }
  // A word that is written in this clock cannot be read yet. Both cases are known before it is known which one it is.
  private val isRead = RegNext(Mux(load, second =/= written, taken =/= written), false.B)
  private val fetched, valid = RegInit(false.B)
  private val passes =
    fetched && (!valid || io.next) // from the RAM's register, which is late in its clock, into that of `out`
  load := isRead && (!fetched || passes)
  fetched := load || fetched && !passes
  valid := passes || valid && !io.next
  io.out.valid := valid
  io.out.bits := RegEnable(RegEnable(ram.read(head), load).asTypeOf(new ClockEvents(p)), passes)
  io.crowded := RegNext(waiting >= (Depth - margin(p)).U, false.B)
  assert(!io.in.valid || waiting =/= (Depth - 1).U, "an event found no place")
  assert(!io.next || io.out.valid, "a clock's events were taken that are not there")
}

object EventQueue {
  val Depth = 512

  /** Leaves 448 or 320 words, which are told by the highest three bits. The densest frames let 243 wait in a pause with the search. */
  def margin(p: LaneParams): Int = if (p.victims == 0) 64 else 192

  /** Clocks in which a snapshot is read and nothing counted. */
  def pauseClocks(p: LaneParams): Int = if (p.victims == 0) 264 else 648
}
