package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam}

/** A RAM in which one record per cycle is read, changed and written back. The remaining cycles serve lookups and visits.
  *
  * '''Update''': read in cycle t, changed and written back in cycle t+1. Updates of one record in every cycle are exact
  * ([[vermilion.fixed.ForwardingRam]]).
  *
  * '''Lookup''': a record is read in a cycle without an update (`ask`). So the array has one read port.
  *
  * '''Visit''': a pass over all records, while `visiting`. It updates every record once without an event, one in each cycle with neither event nor
  * lookup. A visit follows a reset and each cycle of `visitAll`. The visit after a reset reads all records as 0. `ready` rises when it ends, and events
  * before that are lost.
  *
  * An array deeper than 4,096 records is cut into arrays that are each one block RAM.
  *
  * @param depth    records
  * @param width    bits of a record
  * @param visitAll requests a visit; not during one
  */
class UpdateRam(depth: Int, width: Int, visitAll: Bool) {
  private val addressBits = log2Ceil(depth)
  private val ram = new ForwardingRam(depth, UInt(width.W), slice = UpdateRam.slice(depth), ahead = true)
  val ready: Bool = RegInit(false.B)
  val visiting: Bool = RegInit(true.B)
  private val visit = RegInit(0.U(addressBits.W))
  private val asks = WireInit(false.B)
  private val asked = WireInit(0.U(addressBits.W))
  private val event = WireInit(false.B)

  /** The record that was read in the cycle before. */
  val old: UInt = WireInit(0.U(width.W))

  /** An event delays a lookup or a visit. */
  val waits: Bool = event && (asks || visiting)

  /** The update that is being written is valid, and its address. */
  val valid: Bool = WireInit(false.B)
  val address: UInt = WireInit(0.U(addressBits.W))

  /** Updates the record at `at` whenever `enable`. One cycle later `step` computes the new record from the old one and a flag that is high for an event.
    * To be called once.
    */
  def update(enable: Bool, at: UInt)(step: (UInt, Bool) => UInt): Unit = {
    event := enable && ready
    val visits = visiting && !event && !asks
    val target = Mux(event, at, Mux(asks, asked, visit))
    old := ram.read(target) & Fill(width, RegNext(ready, false.B))
    valid := RegNext(event || visits, false.B)
    address := Delay(target)
    ram.write(valid, address, step(old, RegNext(event, false.B)))
    when(visits) {
      visit := visit + 1.U
      when(visit === (depth - 1).U) {
        visit := 0.U
        visiting := false.B
        ready := true.B
      }
    }
    when(visitAll) { visiting := true.B }
  }

  /** Requests the record at `at`, which is `old` one cycle later. The result is high if it can be read in this cycle. To be called once. */
  def ask(wants: Bool, at: UInt): Bool = {
    asks := wants
    asked := at
    !event
  }

  /** Another read port that returns the newest data, one cycle later. */
  def lookup(at: UInt): UInt = ram.read(at)
}

object UpdateRam {

  /** Width of a block RAM of 32,768 bits with this many records, where it is narrower than a byte. */
  private[stats] def slice(depth: Int): Int = if (depth <= 4096) Int.MaxValue else (32768 >> log2Ceil(depth)).max(1)
}
