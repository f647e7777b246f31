package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay

/** The control signals of all record RAMs of a statistics block. They make one snapshot or clear refer to one cycle in all RAMs.
  *
  * @param epoch   changes at a clear; a record that carries the other value counts as 0
  * @param flipped `epoch` has just changed: stale records must be rewritten
  * @param start   a snapshot begins: it includes all writes up to and including this cycle's
  * @param walking from the cycle after `start` until the snapshot has been read
  * @param queue   the queue of the snapshot, while `walking`
  * @param slot    the slot that is read; each RAM uses the bits it needs
  */
class RecordControl(
    val epoch: Bool,
    val flipped: Bool,
    val start: Bool,
    val walking: Bool,
    val queue: UInt,
    val slot: UInt
)

/** A RAM of records, `slots` per queue, that counts one event per cycle and can be read per queue as of one cycle.
  *
  * A record is `fields` counters of `bits` bits, which wrap. An event adds an amount to each ([[UpdateRam]]).
  *
  * '''Clear''': a record holds the epoch in which it was written, and counts as 0 in another. So a clear takes one cycle. Then a visit
  * ([[UpdateRam]]) rewrites stale records in cycles without an event. The next clear must wait for it (`sweeping`).
  *
  * '''Snapshot''': while `walking`, the first write to a slot of the snapshot's queue saves the slot's old value. So a read returns the saved
  * record if there is one, otherwise the present one. A slot that is written in the cycle of the read has been saved.
  * Events and the snapshot share one read port. If both need it, the snapshot waits, and `waits` is high. This must not last for ever.
  *
  * Arrays, each with one writer and one reader: records; saved records, `slots` deep, in LUTs.
  */
class RecordRam(queues: Int, slots: Int, fields: Int, control: RecordControl, bits: Int = 64) {
  require(isPow2(slots), s"slots is $slots; legal are powers of two")
  private val slotBits = log2Ceil(slots)
  private val width = fields * bits
  private val ram = new UpdateRam(queues * slots, width + 1, control.flipped)
  val ready: Bool = ram.ready
  val sweeping: Bool = ram.visiting && ready
  val waits: Bool = ram.waits

  private def isFresh(raw: UInt): Bool = raw(width) === control.epoch
  private def fieldsOf(raw: UInt, keep: Bool): UInt = raw(width - 1, 0) & Fill(width, keep)
  private def slotOf(number: UInt): UInt = if (slots == 1) 0.U(0.W) else number.pad(slotBits)(slotBits - 1, 0)
  private def addressOf(queue: UInt, slot: UInt): UInt =
    Cat(queue, slotOf(slot))(log2Ceil(queues * slots) - 1, 0)

  // -- the values that the first writes since the snapshot's cycle have overwritten --
  private val eventOld = WireInit(0.U(width.W))
  private val eventSlot = slotOf(ram.address)
  private val isSaved = RegInit(0.U(slots.W))
  private val saved = Mem(slots, UInt(width.W))
  private val save = control.walking && ram.valid && (ram.address >> slotBits).asUInt === control.queue &&
    !isSaved(eventSlot)
  when(save) { saved.write(eventSlot, eventOld) }
  isSaved := Mux(control.start, 0.U, isSaved | Mux(save, UIntToOH(eventSlot, slots), 0.U))

  /** Adds to the counters of `queue` and `slot` whenever `enable`. `amounts`, the first field's first, come one cycle later. To be
    * called once.
    */
  def event(enable: Bool, queue: UInt, slot: UInt)(amounts: UInt*): Unit = {
    require(amounts.size == fields, s"${amounts.size} amounts for $fields fields")
    ram.update(enable, addressOf(queue, slot)) { (raw, isEvent) =>
      eventOld := fieldsOf(raw, isFresh(raw))
      // Whether the record is fresh drives every bit, so it is applied after the sums.
      val sums = amounts.zipWithIndex.map { case (amount, i) =>
        val more = Mux(isEvent, amount, 0.U)
        Mux(isFresh(raw), (more +& raw(bits * (i + 1) - 1, bits * i))(bits - 1, 0), more.pad(bits)(bits - 1, 0))
      }
      Cat(control.epoch +: sums.reverse)
    }
  }

  private val lookupMeans = isFresh(ram.old) && RegNext(ready, false.B)
  private val lookupSlot = Delay(slotOf(control.slot))

  /** Requests the record at `control.slot`. The result is high if the record can be read in this cycle. To be called once. */
  def ask(wants: Bool): Bool = ram.ask(wants, addressOf(control.queue, control.slot))

  /** Bits of the record requested in the cycle before, as of the snapshot's cycle: the bits that `choose` selects from a record. They are 0 until `ready`. */
  def atStart(choose: UInt => UInt): UInt =
    Mux(isSaved(lookupSlot), choose(saved.read(lookupSlot)), choose(fieldsOf(ram.old, lookupMeans)))
}
