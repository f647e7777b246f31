package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{Arithmetic, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.{Colour, Departure}

/** Packets and bytes of one colour, free running. */
class Tally extends Bundle {
  val bytes = UInt(LenBits.W)
  val packets = UInt(LenBits.W)

  def plus(lenBytes: UInt): Tally = {
    val sum = Wire(new Tally)
    sum.bytes := bytes + lenBytes
    sum.packets := packets + 1.U
    sum
  }
}

/** A packet as the backlog counts it. */
class Counted(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
}

/** Backlog of every queue and colour as `in - refused - out`.
  *
  * Three free-running tallies, each in a RAM with a single writer: `in` is written when a packet enters the policy
  * pipeline, `refused` when its verdict is a drop, `out` when it leaves its queue. A packet in flight is thus counted from
  * the first clock, and given back if it is dropped. Tallies wrap at 2^27; their difference is right while a queue holds
  * less than that.
  *
  * Timing: `query` in clock t, result and `add` in clock t+1; the result is the backlog before the packet itself.
  * Departures and refusals may come every clock, for any queue. `ready` is low for `queues` clocks after reset.
  */
class BacklogCounters(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val query = Input(UInt(p.queueBits.W))
    val add = Flipped(Valid(new Counted(p))) // one clock after its query
    val refused = Flipped(Valid(new Counted(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val backlog = Output(Vec(Colour.Count, new Tally))
    val lastDeparture = Output(Vec(Colour.Count, UInt(TimeBits.W)))
    val ready = Output(Bool())
  })
  private val tallies = Vec(Colour.Count, new Tally)
  private val times = Vec(Colour.Count, UInt(TimeBits.W))
  private val sweep = new SweepInit(p.queues)
  private val in = new ForwardingRam(p.queues, tallies)
  private val refused = new ForwardingRam(p.queues, tallies)
  private val out = new ForwardingRam(p.queues, tallies)
  private val left = new ForwardingRam(p.queues, times)
  io.ready := sweep.done

  /** The tallies with one more packet of `colour`. */
  private def counted(old: Vec[Tally], colour: UInt, lenBytes: UInt): Vec[Tally] = {
    val next = WireInit(old)
    for (c <- 0 until Colour.Count) when(colour === c.U) { next(c) := old(c).plus(lenBytes) }
    next
  }

  private val inNow = in.read(io.query)
  in.write(io.add.valid, io.add.bits.queue, counted(inNow, io.add.bits.colour, io.add.bits.lenBytes))

  private val refusal = Delay(io.refused)
  private val refusedOld = refused.read(io.refused.bits.queue)
  private val refusedNow = refused.read(io.query)
  refused.write(
    refusal.valid,
    refusal.bits.queue,
    counted(refusedOld, refusal.bits.colour, refusal.bits.lenBytes)
  )

  private val departure = Delay(io.departed)
  private val outOld = out.read(io.departed.bits.queue)
  private val outNow = out.read(io.query)
  private val leftOld = left.read(io.departed.bits.queue)
  private val leftNow = left.read(io.query)
  private val leftNext = WireInit(leftOld)
  for (c <- 0 until Colour.Count) when(departure.bits.colour === c.U) { leftNext(c) := io.now }
  out.write(
    departure.valid,
    departure.bits.queue,
    counted(outOld, departure.bits.colour, departure.bits.lenBytes)
  )
  left.write(departure.valid, departure.bits.queue, leftNext)

  private val zeroTallies = 0.U.asTypeOf(tallies)
  Seq(in, refused, out).foreach(_.write(!sweep.done, sweep.address, zeroTallies))
  left.write(!sweep.done, sweep.address, 0.U.asTypeOf(times))

  for (c <- 0 until Colour.Count) {
    val bytes = inNow(c).bytes - refusedNow(c).bytes - outNow(c).bytes
    val packets = inNow(c).packets - refusedNow(c).packets - outNow(c).packets
    io.backlog(c).bytes := Arithmetic.wrap(bytes, LenBits)
    io.backlog(c).packets := Arithmetic.wrap(packets, LenBits)
  }
  io.lastDeparture := leftNow
}
