package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay

/** [[RecordRam]]: each event counts once, a snapshot is as of one clock, a clear loses nothing that comes behind it.
  *
  * Assumed, as `Statistics` does it: no events and no clear until `ready`, no snapshot while one is being read, no clear while a snapshot begins or is read or
  * the last clear is tidied up. Events, one a clock, snapshots of any length, clears and lookups are free; a lookup is answered in each clock without an event.
  * Counts are modulo 2^bits.
  */
class RecordRamChecks(queues: Int, slots: Int, bits: Int) extends Module {
  private val queueBits = log2Ceil(queues)
  private val slotBits = log2Ceil(slots)
  val free = IO(Input(new Bundle {
    val counts, snapshot, ends, clear, asks = Bool()
    val queue, snapshotQueue = UInt(queueBits.W)
    val slot, lookupSlot = UInt(slotBits.W)
  }))
  private val epoch, walking = RegInit(false.B)
  private val flipped, start = WireInit(false.B)
  private val queue = RegEnable(free.snapshotQueue, start)
  private val control = new RecordControl(epoch, flipped, start, walking, queue, free.lookupSlot)
  private val ram = new RecordRam(queues, slots, 1, control, bits)
  start := free.snapshot && !walking
  walking := start || walking && !free.ends
  flipped := free.clear && ram.ready && !walking && !start && !ram.sweeping
  when(flipped) { epoch := !epoch }
  private val counts = free.counts && ram.ready
  ram.event(counts, free.queue, free.slot)(1.U)
  private val granted = ram.ask(free.asks)
  private val word = ram.atStart(x => x)

  // ---- plain counters: an event counts one clock behind
  private val plain = RegInit(VecInit.fill(queues, slots)(0.U(bits.W)))
  private val now = WireDefault(plain)
  when(RegNext(counts, false.B)) {
    val q = Delay(free.queue)
    val s = Delay(free.slot)
    now(q)(s) := plain(q)(s) + 1.U
  }
  plain := now
  when(flipped) { plain := 0.U.asTypeOf(plain) }

  assert(granted === !counts, "a lookup waits without an event, or does not wait for one")

  // ---- every lookup while a snapshot is read
  private val held = Reg(Vec(slots, UInt(bits.W)))
  when(start) { held := now(free.snapshotQueue) }
  assert(
    !RegNext(walking && free.asks && granted, false.B) || !walking || word === held(Delay(free.lookupSlot)),
    "a count is lost or doubled, or a snapshot is not as of one clock"
  )
}
