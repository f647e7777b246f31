package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay

/** What all record RAMs of a statistics block are told, so that one snapshot or clear means one clock for all.
  *
  * @param epoch   flips at a clear; a record that carries the other value counts as 0
  * @param flipped `epoch` has just flipped: stale records should be tidied up
  * @param start   a snapshot begins: it is of all writes up to and including this clock's
  * @param walking from the clock after `start` until the snapshot has been read
  * @param queue   the queue of the snapshot, while `walking`
  * @param slot    the slot that is looked at; each RAM takes the bits it needs
  */
class RecordControl(
    val epoch: Bool,
    val flipped: Bool,
    val start: Bool,
    val walking: Bool,
    val queue: UInt,
    val slot: UInt
)

/** A RAM of records, `slots` a queue, that count events, one a clock, and can be read per queue as of one clock.
  *
  * A record is `fields` counters of `bits` bits, which wrap; an event adds an amount to each ([[UpdateRam]]).
  *
  * '''Clear''': a record holds the epoch in which it was written, and counts as 0 in another. So a clear takes one clock. A visit then
  * rewrites stale records in clocks without an event; the next clear must wait for it (`sweeping`).
  *
  * '''Snapshot''': as long as `walking`, the first write to a slot of the snapshot's queue saves what the slot held. So a read gives the saved
  * record where there is one, else the present one: a slot that is written in the clock of the read has been saved.
  * Events and the snapshot share one read port. Where both want it the snapshot waits, and `waits` is high; it must not be so for ever.
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

  // -- what the first write since the snapshot's clock overwrote --
  private val eventOld = WireInit(0.U(width.W))
  private val eventSlot = slotOf(ram.address)
  private val isSaved = RegInit(0.U(slots.W))
  private val saved = Mem(slots, UInt(width.W))
  private val save = control.walking && ram.valid && (ram.address >> slotBits).asUInt === control.queue &&
    !isSaved(eventSlot)
  when(save) { saved.write(eventSlot, eventOld) }
  isSaved := Mux(control.start, 0.U, isSaved | Mux(save, UIntToOH(eventSlot, slots), 0.U))

  /** Adds to the counters of `queue` and `slot` whenever `enable`; `amounts`, the first field's first, are those of one clock later. To be
    * called once.
    */
  def event(enable: Bool, queue: UInt, slot: UInt)(amounts: UInt*): Unit = {
    require(amounts.size == fields, s"${amounts.size} amounts for $fields fields")
    ram.update(enable, addressOf(queue, slot)) { (raw, isEvent) =>
      eventOld := fieldsOf(raw, isFresh(raw))
      // Whether the record counts goes to every bit, so it is asked behind the sums.
      val sums = amounts.zipWithIndex.map { case (amount, i) =>
        val more = Mux(isEvent, amount, 0.U)
        Mux(isFresh(raw), (more +& raw(bits * (i + 1) - 1, bits * i))(bits - 1, 0), more.pad(bits)(bits - 1, 0))
      }
      Cat(control.epoch +: sums.reverse)
    }
  }

  private val lookupMeans = isFresh(ram.old) && RegNext(ready, false.B)
  private val lookupSlot = Delay(slotOf(control.slot))

  /** Asks for the record at `control.slot`; high if it can be read in this clock. To be called once. */
  def ask(wants: Bool): Bool = ram.ask(wants, addressOf(control.queue, control.slot))

  /** Bits of the record that was asked for in the clock before, as of the snapshot's clock: those that `choose` takes of a record; 0 until `ready`. */
  def atStart(choose: UInt => UInt): UInt =
    Mux(isSaved(lookupSlot), choose(saved.read(lookupSlot)), choose(fieldsOf(ram.old, lookupMeans)))
}
