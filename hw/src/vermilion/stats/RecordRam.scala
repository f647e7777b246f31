package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.{ForwardingRam, SweepInit}

/** What all record RAMs of a statistics block do together, so that one snapshot or clear means one clock for all.
  *
  * @param epoch   flips at a clear; a record that carries the other value counts as cleared
  * @param flipped `epoch` has just flipped: stale records should be tidied up
  * @param start   a snapshot begins: it holds all writes up to and including this clock's
  * @param queue   the queue of the snapshot, from the clock after `start` until it ends
  */
class RecordControl(val epoch: Bool, val flipped: Bool, val start: Bool, val queue: UInt)

/** A RAM of records, `slots` a queue, that count events, one a clock, and can be copied per queue as of one clock.
  *
  * '''Event''': read in clock t, `step` and write back in clock t+1; same-record events every clock are exact
  * ([[vermilion.fixed.ForwardingRam]]).
  *
  * '''Clear''': a record holds the epoch in which it was written, and reads as `cleared` in another. So a clear takes one
  * clock. A sweep then rewrites stale records in clocks without an event; the next clear must wait for it (`sweeping`).
  *
  * '''Snapshot''': a walk copies the queue's slots into a window, one in two clocks. An event that is about to change a
  * slot not yet copied first puts the old value into the window (which holds the walk up by that much, at most once a
  * slot). So the window holds all slots as of the clock of `start`. It keeps them until the next snapshot.
  *
  * Arrays, each with one writer: records, 2 reads (event, walk or sweep); window, `slots` deep. After reset all records
  * are written with 0, one a clock, until `ready`; events before that are lost.
  */
class RecordRam[T <: Data](queues: Int, slots: Int, gen: T, control: RecordControl)(cleared: T => T) {
  require(slots >= 2 && isPow2(slots), s"slots is $slots; legal are powers of two from 2")
  private val slotBits = log2Ceil(slots)
  private val depth = queues * slots
  private val addressBits = log2Ceil(depth)
  private val width = gen.getWidth
  private val ram = new ForwardingRam(depth, UInt((width + 1).W))

  private def recordOf(raw: UInt): T = {
    val data = raw(width - 1, 0).asTypeOf(gen)
    Mux(raw(width) === control.epoch, data, cleared(data))
  }
  private def addressOf(queue: UInt, slot: UInt): UInt =
    Cat(queue, slot.pad(slotBits)(slotBits - 1, 0))(addressBits - 1, 0)
  private def write(enable: Bool, address: UInt, record: T): Unit =
    ram.write(enable, address, Cat(control.epoch, record.asUInt))

  private val init = new SweepInit(depth)
  val ready: Bool = init.done

  private val side = Wire(UInt(addressBits.W))
  private val sideRecord = recordOf(ram.read(side))
  private val eventValid = WireInit(false.B)
  private val eventAddress = WireInit(0.U(addressBits.W))
  private val eventOld = WireInit(0.U.asTypeOf(gen))

  // -- snapshot: phase 0 looks a slot up, phase 1 copies it --
  val walking: Bool = RegInit(false.B)
  private val phase = RegInit(false.B)
  private val slot = RegInit(0.U(slotBits.W))
  private val copied = RegInit(0.U(slots.W))
  private val window = SyncReadMem(slots, UInt(width.W))
  private val eventSlot = eventAddress(slotBits - 1, 0)
  private val save = walking && eventValid && (eventAddress >> slotBits).asUInt === control.queue && !copied(eventSlot)
  private val copy = walking && phase && !save && !copied(slot)
  when(save || copy) {
    window.write(Mux(save, eventSlot, slot), Mux(save, eventOld, sideRecord).asUInt)
    copied := copied | UIntToOH(Mux(save, eventSlot, slot), slots)
  }

  // -- sweep after a clear, in clocks that neither an event nor a snapshot needs --
  val sweeping: Bool = RegInit(false.B)
  private val sweep = RegInit(0.U(addressBits.W))
  private val tidy = sweeping && phase && !walking && !eventValid
  side := Mux(walking, addressOf(control.queue, slot), sweep)

  when(control.start) {
    walking := true.B
    phase := false.B
    slot := 0.U
    copied := 0.U
  }.otherwise {
    phase := (walking || sweeping) && !phase
    when(walking && phase && !save) {
      slot := slot + 1.U
      when(slot === (slots - 1).U) { walking := false.B }
    }
  }
  when(control.flipped) {
    sweeping := true.B
    sweep := 0.U
    phase := false.B
  }.elsewhen(tidy) {
    sweep := sweep + 1.U
    when(sweep === (depth - 1).U) { sweeping := false.B }
  }
  write(tidy, sweep, sideRecord)

  /** Applies `step` to the record of `queue` and `slot` whenever `enable`; `step` is wired up one clock after its event.
    * To be called once.
    */
  def event(enable: Bool, queue: UInt, slot: UInt)(step: T => T): Unit = {
    val address = addressOf(queue, slot)
    val old = recordOf(ram.read(address))
    eventValid := RegNext(enable, false.B)
    eventAddress := RegNext(address)
    eventOld := old
    write(eventValid, eventAddress, step(old))
    write(!init.done, init.address, 0.U.asTypeOf(gen))
  }

  /** Another read port: the record as of the end of the clock of the address, one clock later. */
  def look(queue: UInt, slot: UInt): T = recordOf(ram.read(addressOf(queue, slot)))

  /** A slot of the last snapshot, one clock later. */
  def atSnapshot(slot: UInt): T = window.read(slot.pad(slotBits)(slotBits - 1, 0)).asTypeOf(gen)
}
