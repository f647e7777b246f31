package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SnapshotRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.{Colour, Departure}

/** Backlog of every queue and colour as [[BacklogCounters]] keeps it, where two questions are eight clocks apart or more: the colours are answered in
  * turn, with one subtract, and as they stood in one clock, that of the question.
  *
  * `in` is one RAM. Packets are admitted eight clocks apart or more, as their slots were, so one that comes while the colours are read can wait until
  * they are. Packets may leave every clock: `out` has a RAM that counts, and a copy a colour that is read in one clock ([[SnapshotRam]]).
  * {{{
  *   clock 0  query                               2, 3, 4  address `in`
  *         1  lastDeparture; address `out`        3, 4, 5  subtract
  *                                                4, 5, 6  `tally` of colour 0, 1, 2
  * }}}
  * An admission or departure shown before clock 0 is in the result, one of clock 0 is not. `ready` is low for four times `queues` clocks after reset.
  */
class BacklogInTurn(p: LaneParams) extends Module {
  require(p.inTurn, s"slotClocks is ${p.slotClocks}; legal is 8")
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val start = Input(Bool()) // a question
    val query = Input(UInt(p.queueBits.W))
    val admitted = Flipped(Valid(new Counted(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val tally = Output(new Tally)
    val lastDeparture =
      Output(Vec(Colour.Count, UInt(TimeBits.W))) // in clock 1 alone; `now` when it was shown; 0: never
    val ready = Output(Bool())
  })
  private val sweep = new SweepInit(p.queues * 4)
  io.ready := sweep.done
  private val clearing = !sweep.done
  private val at = new Turns(io.start, 5)
  private val query = at.held(0, io.query)
  private def colours[T](of: Int => T): Seq[T] = Seq.tabulate(Colour.Count)(of)
  private def byQueue(queue: UInt): UInt = Mux(clearing, sweep.address >> 2, queue)

  /** A tally and a packet more, or none; 0 while RAMs are cleared. The length stands first: a carry chain takes that as it is. */
  private def plus(old: Tally, lenBytes: UInt, one: Bool): Tally = {
    val base = Mux(clearing, 0.U.asTypeOf(new Tally), old)
    val sum = Wire(new Tally)
    sum.bytes := lenBytes + base.bytes
    sum.packets := base.packets + one
    sum
  }
  private def cleared(x: UInt): UInt =
    Mux(clearing || reset.asBool, 0.U, x) // the register before an array is 0 then, by its reset
  private def ram = new ForwardingRam((p.queues * 4).max(SnapshotRam.BlockDepth), new Tally)

  // -- packets that left, one a clock --
  private val leaving = io.departed.bits
  private val s1Leaves = RegNext(io.departed.valid, false.B)
  private val s1Queue = Delay(leaving.queue)
  private val s1Colour = Delay(leaving.colour)
  private val out = ram
  private val s1Out = plus(out.read(Cat(leaving.queue, leaving.colour)), Delay(cleared(leaving.lenBytes)), s1Leaves)
  out.write(s1Leaves, Cat(s1Queue, s1Colour), s1Out)
  out.write(clearing, sweep.address, s1Out)
  private val outs = colours { c =>
    val copy = new SnapshotRam(p.queues, new Tally)
    copy.write(clearing || (s1Leaves && s1Colour === c.U), byQueue(s1Queue), s1Out)
    at.held(2, copy.read(query)) // addressed in clock 1
  }
  io.lastDeparture := VecInit(colours { c =>
    val times = new SnapshotRam(p.queues, UInt(TimeBits.W))
    times.write(
      clearing || (io.departed.valid && leaving.colour === c.U),
      byQueue(leaving.queue),
      cleared(io.now)
    )
    times.read(io.query)
  })

  // -- packets that were admitted: not while the colours are read --
  private val admitted = RegEnable(io.admitted.bits, io.admitted.valid)
  private val admittedBytes = RegInit(0.U(PktLenBits.W))
  when(io.admitted.valid) { admittedBytes := io.admitted.bits.lenBytes }
  private val waiting = RegInit(false.B)
  private val reads = waiting && !at.within(1, 4)
  private val adds = RegNext(reads, false.B)
  waiting := io.admitted.valid || (waiting && !reads)
  assert(!io.admitted.valid || !(waiting || adds), "a packet is admitted within eight clocks of another")
  private val in = ram
  private val asked = Mux(at.within(2, 4), Cat(query, at.index(2)), Cat(admitted.queue, admitted.colour))
  private val nowIn = in.glance(asked)
  private val moreIn = plus(nowIn, admittedBytes, adds)
  in.write(adds, Cat(admitted.queue, admitted.colour), moreIn)
  in.write(clearing, sweep.address, moreIn)

  // -- clocks 3 to 5 --
  io.tally := Delay(nowIn.less(VecInit(outs)(at.index(3))))
}
