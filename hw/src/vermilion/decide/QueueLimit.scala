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

/** A queue's own limit, exact at one packet a clock: is there room for this packet behind all that were admitted before?
  *
  * Two free-running totals a queue, bytes and packets, each in a RAM with one writer: `admitted`, written by the verdict,
  * and `left`, written at departures. With L the packet's length
  * {{{
  *   over = admitted - left + L > limit     <=>     bound - admitted < 0,   bound = left + limit - L
  * }}}
  * `bound` is worked out a clock ahead, so the one-clock loop through `admit` holds a subtraction. It begins and ends in registers: the RAM is read a clock before and written a clock behind, and its total and the one
  * that the packet just ahead leaves are both compared. Totals have two bits more than a length, so the sign is right for every limit and length.
  *
  * Only what was admitted counts: a packet on its way to a refusal takes no room from those behind it, and none is admitted
  * over the limit. A departure counts from three clocks after it; until then the packet still takes its room. A packet that goes into a
  * push-out is admitted; `lost` shows the length of the packet that lost it, which counts from three clocks later, in a third total with a writer of its
  * own (only in builds with the victim search).
  *
  * Timing: `ahead` in clock t, `request` in t+1, `over` and `admit` in t+2, `queued` in t+3. `ready` is low for `queues`
  * clocks after reset.
  */
class QueueLimit(p: LaneParams) extends Module {
  import QueueLimit.TotalBits
  val io = IO(new Bundle {
    val departed = Flipped(Valid(new Departure(p)))
    val ahead = Flipped(Valid(UInt(p.queueBits.W))) // the request's queue
    val request = Input(new Bundle {
      val queue = UInt(p.queueBits.W)
      val lenBytes = UInt(PktLenBits.W)
      val limit = UInt(LenBits.W)
      val limitPackets = UInt(LenBits.W)
    })
    val over = Output(Bool())
    val overBytes = Output(Bool()) // by its bytes
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
  private val left = new ForwardingRam(p.queues, new Total)
  io.ready := sweep.done

  // -- departures --
  private val departure = Delay(io.departed)
  left.write(departure.valid, departure.bits.queue, left.read(io.departed.bits.queue).plus(departure.bits.lenBytes))

  // -- a clock ahead: how far `admitted` may count --
  private val s1Left = {
    val departed = left.read(io.ahead.bits)
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
  private val s2Bytes = Delay(wrap(s1Left.bytes +& request.limit - request.lenBytes, TotalBits))
  private val s2Packets = Delay(wrap(s1Left.packets +& request.limitPackets - 1.U, TotalBits))

  // -- the loop: one bit, whether the packet ahead was admitted; both of what it may have left are compared --
  private val s2Read, s2Before = Reg(new Total)
  private val s2IsBefore = Reg(Bool())
  private val s2Admitted = Mux(s2IsBefore, s2Before, s2Read)
  private val s2Next = s2Admitted.plus(Delay(request.lenBytes))
  private val again = Delay(request.queue === io.ahead.bits) // the packet behind is of the same queue
  assert(
    !RegNext(io.ahead.valid, false.B) || request.queue === Delay(io.ahead.bits),
    "a request is of another queue than the one told ahead"
  )
  s2IsBefore := io.admit && again
  s2Before := s2Next
  // What is admitted is written a clock later, and chosen over what the RAM holds until then.
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
  private val s3Left = Delay(s1Left, 2)
  io.queued.bytes := wrap(s3Admitted.bytes - s3Left.bytes, LenBits)
  io.queued.packets := wrap(s3Admitted.packets - s3Left.packets, LenBits)

  Seq(admitted, left).foreach(_.write(!sweep.done, sweep.address, 0.U.asTypeOf(new Total)))
}

object QueueLimit {

  /** Bits of a free-running total: a length, a sign, and a bit for limit plus length. */
  val TotalBits: Int = LenBits + 2

  /** Clocks from the request's queue to the verdict. The request stands a clock before the verdict. */
  val Ahead = 2
}
