package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam}

/** A RAM of which one record a clock is read, changed and written back, and whose records are visited in the clocks that are left.
  *
  * '''Update''': read in clock t, changed and written back in clock t+1; updates of one record in every clock are exact
  * ([[vermilion.fixed.ForwardingRam]]).
  *
  * '''Visit''': after a reset, and after each clock of `visitAll`, every record is once updated without an event, one in each clock without an
  * event, while `visiting`. That of the reset finds all records 0; `ready` rises with its end, and events before that are lost.
  *
  * An array deeper than 4,096 records is cut into arrays that are each one block RAM.
  *
  * @param depth    records
  * @param width    bits of a record
  * @param visitAll asks for a visit; not while one is going on
  */
class UpdateRam(depth: Int, width: Int, visitAll: Bool) {
  private val addressBits = log2Ceil(depth)
  private val ram = new ForwardingRam(depth, UInt(width.W), slice = UpdateRam.slice(depth))
  val ready: Bool = RegInit(false.B)
  val visiting: Bool = RegInit(true.B)
  private val visit = RegInit(0.U(addressBits.W))

  /** The update that is being written: valid, and where. */
  val valid: Bool = WireInit(false.B)
  val address: UInt = WireInit(0.U(addressBits.W))

  /** Updates the record at `at` whenever `enable`: `step` makes the new record of the old one and of whether this is an event, one clock later.
    * To be called once.
    */
  def update(enable: Bool, at: UInt)(step: (UInt, Bool) => UInt): Unit = {
    val event = enable && ready
    val target = Mux(event, at, visit)
    val old = ram.read(target) & Fill(width, RegNext(ready, false.B))
    valid := RegNext(event || visiting, false.B)
    address := Delay(target)
    ram.write(valid, address, step(old, RegNext(event, false.B)))
    when(visiting && !event) {
      visit := visit + 1.U
      when(visit === (depth - 1).U) {
        visit := 0.U
        visiting := false.B
        ready := true.B
      }
    }
    when(visitAll) { visiting := true.B }
  }

  /** Another read port that gives the newest data, one clock later. */
  def look(at: UInt): UInt = ram.read(at)

  /** Another read port, one clock later, undefined if the record is written in the clock of the address. */
  def glance(at: UInt): UInt = ram.glance(at)
}

object UpdateRam {

  /** How wide a block RAM of 32,768 bits is in so many records, where it is narrower than a byte. */
  private[stats] def slice(depth: Int): Int = if (depth <= 4096) Int.MaxValue else (32768 >> log2Ceil(depth)).max(1)
}
