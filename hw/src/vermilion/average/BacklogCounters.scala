package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{Arithmetic, ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.{Colour, Departure}

/** Free-running totals of packets and bytes of one colour. */
class Tally extends Bundle {
  val bytes = UInt(LenBits.W)
  val packets = UInt(LenBits.W)

  def plus(lenBytes: UInt): Tally = {
    val sum = Wire(new Tally)
    sum.bytes := bytes + lenBytes
    sum.packets := packets + 1.U
    sum
  }

  /** The difference to another tally; it wraps. */
  def less(other: Tally): Tally = {
    val difference = Wire(new Tally)
    difference.bytes := Arithmetic.wrap(bytes - other.bytes, LenBits)
    difference.packets := Arithmetic.wrap(packets - other.packets, LenBits)
    difference
  }
}

/** A packet, with the fields that the backlog counts. */
class Counted(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
  val lenBytes = UInt(PktLenBits.W)
}

/** Counts the backlog of every queue and colour for the averages: what has been admitted and has not departed.
  *
  * backlog = `in` - `out`: two free-running tallies, each in a RAM with a single writer. An admission writes `in`, a departure writes `out`.
  * Tallies wrap at 2^27. Their difference is right while a queue holds less than that. A packet does not count before its verdict, nor before the result of its
  * push-out. If it did, a stream of refused packets would keep the average up by itself (docs/decisions/0002). [[vermilion.decide.QueueLimit]] keeps the
  * limit exact nevertheless.
  *
  * In builds with the victim search a third tally, with a writer of its own, counts the evicted packets.
  *
  * Timing: `query` in cycle t, result in cycle t+1. An admission or departure that is shown in cycle t is visible to queries
  * from cycle t+1 on. Both may come in every cycle, for any queue. `ready` is low for four times `queues` cycles after a reset.
  */
class BacklogCounters(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val query = Input(UInt(p.queueBits.W))
    val admitted = Flipped(Valid(new Counted(p)))
    val departed = Flipped(Valid(new Departure(p)))
    val evicted = Flipped(Valid(new Counted(p)))
    val backlog = Output(Vec(Colour.Count, new Tally))
    val lastDeparture = Output(Vec(Colour.Count, UInt(TimeBits.W))) // `now` in the cycle that showed it; 0: never
    val lastEviction = Output(Vec(Colour.Count, UInt(TimeBits.W))) // like lastDeparture
    val ready = Output(Bool())
  })
  private val sweep = new SweepInit(p.queues * 4)
  io.ready := sweep.done

  /** One record per colour, each in an array of its own: a query reads all of a queue's records, and an event writes one. */
  private class EachColour[T <: Data](gen: T) {
    private val arrays = Seq.fill(Colour.Count)(new ForwardingRam(p.queues, gen))
    def write(event: Valid[Counted], record: T): Unit =
      for ((array, c) <- arrays.zipWithIndex) {
        array.write(event.valid && event.bits.colour === c.U, event.bits.queue, record)
        array.write(!sweep.done, sweep.address >> 2, 0.U.asTypeOf(gen))
      }
    val now: Vec[T] = VecInit(arrays.map(_.read(io.query)))
  }

  /** A tally for every queue and colour, and a copy of it for queries. */
  private class Tallies(event: Valid[Counted]) {
    private val records = new ForwardingRam(p.queues * 4, new Tally)
    private val forQueries = new EachColour(new Tally)
    private def address(e: Counted): UInt = Cat(e.queue, e.colour)
    private val s1 = Delay(event)
    private val next = records.read(address(event.bits)).plus(s1.bits.lenBytes)
    records.write(s1.valid, address(s1.bits), next)
    records.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Tally))
    forQueries.write(s1, next)
    val now: Vec[Tally] = forQueries.now
  }

  private def lastTime(event: Valid[Counted]): Vec[UInt] = {
    val times = new EachColour(UInt(TimeBits.W))
    times.write(Delay(event), Delay(io.now))
    times.now
  }

  private val departed = Wire(Valid(new Counted(p)))
  departed.valid := io.departed.valid
  departed.bits.queue := io.departed.bits.queue
  departed.bits.colour := io.departed.bits.colour
  departed.bits.lenBytes := io.departed.bits.lenBytes

  private val (in, out) = (new Tallies(io.admitted), new Tallies(departed))
  private val evicted = Option.when(p.victims != 0)(new Tallies(io.evicted))
  for (c <- 0 until Colour.Count) {
    def backlog(of: Tally => UInt): UInt = {
      val backlog = of(in.now(c)) - of(out.now(c))
      Arithmetic.wrap(evicted.map(gone => backlog - of(gone.now(c))).getOrElse(backlog), LenBits)
    }
    io.backlog(c).bytes := backlog(_.bytes)
    io.backlog(c).packets := backlog(_.packets)
  }
  io.lastDeparture := lastTime(departed)
  io.lastEviction := (if (p.victims == 0) 0.U.asTypeOf(io.lastEviction) else lastTime(io.evicted))
}
