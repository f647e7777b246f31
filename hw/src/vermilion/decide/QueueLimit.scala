package vermilion.decide

import chisel3._
import chisel3.util.Valid
import vermilion.average.{Counted, Tally}
import vermilion.fixed.Delay
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Departure

/** Compares each packet with its queue's own limit: exact at one packet per cycle.
  *
  * Each queue has two free-running totals of bytes and packets, each in a RAM with one writer. The verdict writes `admitted`, a departure writes `left`.
  * With L the packet's length
  * {{{
  *   over = admitted - left + L > limit     <=>     bound - admitted < 0,   bound = left + limit - L
  * }}}
  * `bound` is computed one cycle before, so the one-cycle loop through `admit` holds only a subtraction. The loop begins and ends in registers. The RAM is
  * read one cycle before and written one cycle after. The RAM's total and the total after the packet before are both compared. Totals have two bits more than a
  * length, so the sign is right for every limit and length.
  *
  * Only admitted packets count. A packet that will be refused takes no room from later ones, and no packet is admitted over the limit.
  * A departure counts from three cycles after it. Until then the packet still takes its room.
  * A packet that enters a push-out counts as admitted. `lost` shows the packet that lost the push-out. It counts from three cycles later, in a third total with
  * a writer of its own (only in builds with the victim search).
  *
  * Timing: `ahead` in cycle t, `request` in t+1, `over` and `admit` in t+2, `queued` in t+3. `ready` is low for `queues`
  * cycles after a reset.
  */
class QueueLimit(p: LaneParams) extends Module {
  import QueueLimit.TotalBits
  val io = IO(new Bundle {
    val departed = Flipped(Valid(new Departure(p)))
    val ahead = Flipped(Valid(UInt(p.queueBits.W))) // the queue of the next cycle's request
    val request = Input(new Bundle {
      val queue = UInt(p.queueBits.W)
      val lenBytes = UInt(PktLenBits.W)
      val limit = UInt(LenBits.W)
      val limitPackets = UInt(LenBits.W)
    })
    val over = Output(Bool())
    val overBytes = Output(Bool()) // the byte limit is exceeded
    val admit = Input(Bool())
    val lost = Flipped(Valid(new Counted(p)))
    val queued = Output(new Tally) // before this packet
    val ready = Output(Bool())
  })
  private class Total extends Bundle {
    val bytes = UInt(TotalBits.W)
    val packets = UInt(TotalBits.W)
    def plus(lenBytes: UInt): Total = {
      val sum = Wire(new Total)
      sum.bytes := bytes + lenBytes
      sum.packets := packets + 1.U
      sum
    }
  }
  private val sweep = new SweepInit(p.queues)
  private val admitted = new ForwardingRam(p.queues, new Total)
  private val departedTotals = new ForwardingRam(p.queues, new Total)
  io.ready := sweep.done

  // -- departures --
  private val departure = Delay(io.departed)
  departedTotals.write(
    departure.valid,
    departure.bits.queue,
    departedTotals.read(io.departed.bits.queue).plus(departure.bits.lenBytes)
  )

  // -- one cycle before: the bound of `admitted` --
  private val s1Departed = {
    val departed = departedTotals.read(io.ahead.bits)
    if (p.victims == 0) departed
    else {
      val gone = new ForwardingRam(p.queues, new Total)
      val loss = Delay(io.lost)
      gone.write(loss.valid, loss.bits.queue, gone.read(io.lost.bits.queue).plus(loss.bits.lenBytes))
      gone.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Total))
      val lost = gone.read(io.ahead.bits)
      val both = Wire(new Total)
      both.bytes := wrap(departed.bytes + lost.bytes, TotalBits)
      both.packets := wrap(departed.packets + lost.packets, TotalBits)
      both
    }
  }
  private val request = io.request
  private val s2Bytes = Delay(wrap(s1Departed.bytes +& request.limit - request.lenBytes, TotalBits))
  private val s2Packets = Delay(wrap(s1Departed.packets +& request.limitPackets - 1.U, TotalBits))

  // -- the loop: one bit, whether the packet before was admitted; both totals that this may give are compared --
  private val s2Read, s2Before = Reg(new Total)
  private val s2IsBefore = Reg(Bool())
  private val s2Admitted = Mux(s2IsBefore, s2Before, s2Read)
  private val s2Next = s2Admitted.plus(Delay(request.lenBytes))
  private val again = Delay(request.queue === io.ahead.bits) // the next packet is of the same queue
  assert(
    !RegNext(io.ahead.valid, false.B) || request.queue === Delay(io.ahead.bits),
    "a request is of another queue than the one announced"
  )
  s2IsBefore := io.admit && again
  s2Before := s2Next
  // The total is written one cycle after the admission. Until then it is forwarded.
  private val s3Admit = RegNext(io.admit, false.B)
  private val s3Queue = Delay(request.queue, 2)
  private val s3Total = Delay(s2Next)
  admitted.write(s3Admit, s3Queue, s3Total)
  s2Read := Mux(s3Admit && s3Queue === Delay(io.ahead.bits), s3Total, admitted.read(io.ahead.bits))
  private def over(bound: UInt, of: Total => UInt): Bool = {
    def negative(total: Total): Bool = wrap(bound - of(total), TotalBits)(TotalBits - 1)
    Mux(s2IsBefore, negative(s2Before), negative(s2Read))
  }
  io.overBytes := over(s2Bytes, _.bytes)
  io.over := io.overBytes || over(s2Packets, _.packets)

  private val s3Admitted = Delay(s2Admitted)
  private val s3Departed = Delay(s1Departed, 2)
  io.queued.bytes := wrap(s3Admitted.bytes - s3Departed.bytes, LenBits)
  io.queued.packets := wrap(s3Admitted.packets - s3Departed.packets, LenBits)

  Seq(admitted, departedTotals).foreach(_.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Total)))
}

object QueueLimit {

  /** Bits of a free-running total: those of a length, a sign, and one for limit plus length. */
  val TotalBits: Int = LenBits + 2

  /** Cycles from the request's queue to the verdict. The request comes one cycle before the verdict. */
  val Ahead = 2
}
