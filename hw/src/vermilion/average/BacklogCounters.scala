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

/** Backlog of every queue and colour for the averages, as `in - out`: what has been admitted and has not left.
  *
  * Two free-running tallies, each in a RAM with a single writer: `in` is written when a packet is admitted, `out` when it leaves
  * its queue. Tallies wrap at 2^27; their difference is right while a queue holds less than that. A packet on its way to its
  * verdict, or in a contest for its place, does not count yet ([[vermilion.decide.QueueLimit]] keeps the limit exact all the same): were it counted, a
  * stream of refused packets would hold the average up by itself (docs/decisions/0002).
  *
  * In builds with the victim search, packets that were evicted are a third tally, with a writer of its own.
  *
  * Timing: `query` in clock t, result in clock t+1. An admission or departure shown in clock t is in the result of a
  * query from clock t+1 on. Both may come every clock, for any queue. `ready` is low for `queues` clocks after reset.
  */
class BacklogCounters(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val query = Input(UInt(p.queueBits.W))
    val admitted = Flipped(Valid(new Counted(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val evicted = Flipped(Valid(new Counted(p)))
    val backlog = Output(Vec(Colour.Count, new Tally))
    val lastDeparture = Output(Vec(Colour.Count, UInt(TimeBits.W))) // `now` when it was shown; 0: never
    val lastEviction = Output(Vec(Colour.Count, UInt(TimeBits.W))) // as lastDeparture
    val ready = Output(Bool())
  })
  private val tallies = Vec(Colour.Count, new Tally)
  private val times = Vec(Colour.Count, UInt(TimeBits.W))
  private val sweep = new SweepInit(p.queues)
  private val in = new ForwardingRam(p.queues, tallies)
  private val out = new ForwardingRam(p.queues, tallies)
  private val left = new ForwardingRam(p.queues, times)
  io.ready := sweep.done

  /** `old` with the element of `colour` changed. */
  private def changed[T <: Data](old: Vec[T], colour: UInt)(next: T => T): Vec[T] = {
    val result = WireInit(old)
    for (c <- 0 until Colour.Count) when(colour === c.U) { result(c) := next(old(c)) }
    result
  }

  private val admission = Delay(io.admitted)
  private val inOld = in.read(io.admitted.bits.queue)
  private val inNext = changed(inOld, admission.bits.colour)(_.plus(admission.bits.lenBytes))
  in.write(admission.valid, admission.bits.queue, inNext)

  private val departure = Delay(io.departed)
  private val outOld = out.read(io.departed.bits.queue)
  private val outNext = changed(outOld, departure.bits.colour)(_.plus(departure.bits.lenBytes))
  out.write(departure.valid, departure.bits.queue, outNext)

  private val leftOld = left.read(io.departed.bits.queue)
  private val departureTime = Delay(io.now)
  left.write(departure.valid, departure.bits.queue, changed(leftOld, departure.bits.colour)(_ => departureTime))

  Seq(in, out).foreach(_.write(!sweep.done, sweep.address, 0.U.asTypeOf(tallies)))
  left.write(!sweep.done, sweep.address, 0.U.asTypeOf(times))

  private val inNow = in.read(io.query)
  private val outNow = out.read(io.query)
  for (c <- 0 until Colour.Count) {
    io.backlog(c).bytes := Arithmetic.wrap(inNow(c).bytes - outNow(c).bytes, LenBits)
    io.backlog(c).packets := Arithmetic.wrap(inNow(c).packets - outNow(c).packets, LenBits)
  }
  io.lastDeparture := left.read(io.query)

  io.lastEviction := 0.U.asTypeOf(times)
  if (p.victims != 0) {
    val evicted = new ForwardingRam(p.queues, tallies)
    val evictedAt = new ForwardingRam(p.queues, times)
    val eviction = Delay(io.evicted)
    val e = eviction.bits
    evicted.write(
      eviction.valid,
      e.queue,
      changed(evicted.read(io.evicted.bits.queue), e.colour)(_.plus(e.lenBytes))
    )
    evictedAt.write(
      eviction.valid,
      e.queue,
      changed(evictedAt.read(io.evicted.bits.queue), e.colour)(_ => departureTime)
    )
    evicted.write(!sweep.done, sweep.address, 0.U.asTypeOf(tallies))
    evictedAt.write(!sweep.done, sweep.address, 0.U.asTypeOf(times))
    val evictedNow = evicted.read(io.query)
    for (c <- 0 until Colour.Count) {
      io.backlog(c).bytes := Arithmetic.wrap(inNow(c).bytes - outNow(c).bytes - evictedNow(c).bytes, LenBits)
      io.backlog(c).packets := Arithmetic.wrap(inNow(c).packets - outNow(c).packets - evictedNow(c).packets, LenBits)
    }
    io.lastEviction := evictedAt.read(io.query)
  }
}
