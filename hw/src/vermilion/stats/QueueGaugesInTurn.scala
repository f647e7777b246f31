package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams

/** What [[QueueGauges]] shows, of a packet at a time: it enters or leaves a queue, at least two clocks after the one before.
  *
  * Three RAMs of one record a queue: the backlog, and its greatest in bytes and in packets. Of the greatest a record is written whole, with the backlog,
  * where that is greater or the record is of before the last clear. No record is forwarded.
  * {{{
  *   clock 0  `queue` and what happens    1  backlog and length added    2  compared with the greatest, written
  * }}}
  *
  * @param enters, leaves a packet of `lenBytes` bytes enters or leaves `queue`
  * @param tidies         records of `queue` that are of before the last clear should say that they hold nothing
  * @param cleared        RAMs have been tidied since reset: what they hold means something; until then all is 0
  */
class QueueGaugesInTurn(
    p: LaneParams,
    epoch: Bool,
    cleared: Bool,
    queue: UInt,
    lenBytes: UInt,
    enters: Bool,
    leaves: Bool,
    tidies: Bool
) {
  private val packetBits = p.cellBits + 1
  private val byteBits = (p.cellBits + log2Ceil(CellBytes) + 1).min(LenBits)
  private def memory(width: Int) = SyncReadMem(p.queues.max(512), UInt(width.W)) // shallower ones would lie in LUTs

  // -- backlog --
  private val backlogs = memory(packetBits + byteBits)
  private val wasCleared = RegNext(cleared, false.B)
  private val backlog = Mux(wasCleared, backlogs.read(queue), 0.U((packetBits + byteBits).W))
  private val s1Down = RegNext(leaves)
  private val s1Change = Reg(UInt((PktLenBits + 1).W))
  s1Change := Mux(enters || leaves, Cat(leaves, lenBytes ^ Fill(PktLenBits, leaves)), 0.U)
  private val s1Moves = RegNext(enters || leaves, false.B)
  private val s1Queue = Delay(queue)
  assert(!((enters || leaves) && s1Moves && queue === s1Queue), "a backlog is read in the clock of its write")

  /** `change` and `carry` added, modulo 2^bits; `change` has its sign on top. */
  private def moved(change: UInt, carry: Bool, old: UInt, bits: Int): UInt = {
    val extended = wrap(change.asSInt.pad(bits).asUInt, bits)
    (Cat(extended, carry) + Cat(old, 1.U(1.W)))(bits, 1)
  }
  private val packets = moved(Cat(s1Down, s1Moves), false.B, backlog(packetBits + byteBits - 1, byteBits), packetBits)
  private val bytes = moved(s1Change, s1Down, backlog(byteBits - 1, 0), byteBits)
  when(s1Moves || !wasCleared) { backlogs.write(s1Queue, Cat(packets, bytes)) }

  // -- the greatest --
  private val s2Queue = Delay(s1Queue)
  private val s2Enters = RegNext(RegNext(enters, false.B), false.B)
  private val s2Tidies = RegNext(RegNext(tidies, false.B), false.B)
  private val s2WasCleared = RegNext(wasCleared, false.B)

  /** The greatest of `now`, of one clock before. */
  private def greatest(now: UInt): UInt = {
    class Peak extends Bundle {
      val epoch = Bool()
      val holds = Bool()
      val value = UInt(now.getWidth.W)
    }
    val peaks = memory((new Peak).getWidth)
    val old = peaks.read(s1Queue).asTypeOf(new Peak)
    val valid = old.holds && old.epoch === epoch && s2WasCleared
    val next = Wire(new Peak)
    next.epoch := epoch
    next.holds := s2Enters
    next.value := Delay(now)
    when(Mux(valid, s2Enters && next.value > old.value, s2Enters || s2Tidies)) { peaks.write(s2Queue, next.asUInt) }
    Mux(valid, old.value, 0.U)
  }

  /** Backlog in bytes and packets, greatest backlog in bytes and packets; of the `queue` of two clocks before, if nothing has happened since. */
  val words: Seq[UInt] =
    Seq(backlog(byteBits - 1, 0), backlog(packetBits + byteBits - 1, byteBits), greatest(bytes), greatest(packets))
}
