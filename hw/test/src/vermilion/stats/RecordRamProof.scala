package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay

/** [[RecordRam]]: each event counts once, a snapshot is as of one clock, a clear loses nothing that comes behind it.
  *
  * Assumed, as `Statistics` does it: no events until `ready`, no snapshot while one is walking, no clear while a snapshot begins or walks or
  * the last one is tidied up. Events, one a clock, snapshots, clears and looks are free. Counts are modulo 2^bits.
  */
class RecordRamChecks(queues: Int, slots: Int, bits: Int) extends Module {
  private val queueBits = log2Ceil(queues)
  private val slotBits = log2Ceil(slots)
  val free = IO(Input(new Bundle {
    val counts, snapshot, clear = Bool()
    val queue, snapshotQueue, lookQueue = UInt(queueBits.W)
    val slot, lookSlot, index = UInt(slotBits.W)
  }))
  private val epoch = RegInit(false.B)
  private val flipped, start = WireInit(false.B)
  private val queue = RegEnable(free.snapshotQueue, start)
  private val ram = new RecordRam(queues, slots, UInt(bits.W), new RecordControl(epoch, flipped, start, queue))(_ =>
    0.U(bits.W)
  )
  start := free.snapshot && ram.ready && !ram.walking
  flipped := free.clear && ram.ready && !ram.walking && !start && !ram.sweeping
  when(flipped) { epoch := !epoch }
  private val counts = free.counts && ram.ready
  ram.event(counts, free.queue, free.slot)(old => (old + 1.U)(bits - 1, 0))
  private val looked = ram.look(free.lookQueue, free.lookSlot)
  private val word = ram.atSnapshot(free.index)

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
  assert(
    !RegNext(ram.ready, false.B) || looked === plain(Delay(free.lookQueue))(Delay(free.lookSlot)),
    "an event counts twice, or not at all"
  )

  // ---- snapshot
  private val held = Reg(Vec(slots, UInt(bits.W)))
  private val any = RegInit(false.B)
  when(start) {
    held := now(free.snapshotQueue)
    any := true.B
  }
  private val readable = any && !ram.walking
  assert(!RegNext(readable && !start, false.B) || word === held(Delay(free.index)), "a snapshot is not as of one clock")

  // ---- both end: a snapshot needs two clocks a slot, and two more where an event saves a slot first
  private val age = RegInit(0.U(log2Ceil(4 * slots + 2).W))
  age := Mux(ram.walking, age + 1.U, 0.U)
  assert(age <= (4 * slots).U, "a snapshot does not end")
}
