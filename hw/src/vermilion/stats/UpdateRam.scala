package vermilion.stats

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam}

/** A RAM of which one record a clock is read, changed and written back, and whose records can be read, and are visited, in the remaining cycles.
  *
  * '''Update''': read in clock t, changed and written back in clock t+1; updates of one record in every clock are exact
  * ([[vermilion.fixed.ForwardingRam]]).
  *
  * '''Lookup''': a record is read in a clock without an update (`ask`). So the array has one read port.
  *
  * '''Visit''': after a reset, and after each clock of `visitAll`, every record is once updated without an event, one in each cycle with neither event nor
  * lookup, while `visiting`. That of the reset finds all records 0; `ready` rises with its end, and events before that are lost.
  *
  * An array deeper than 4,096 records is cut into arrays that are each one block RAM.
  *
  * @param depth    records
  * @param width    bits of a record
  * @param visitAll asks for a visit; not while one is going on
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

  /** What was read in the clock before. */
  val old: UInt = WireInit(0.U(width.W))

  /** An event comes before a lookup or a visit. */
  val waits: Bool = event && (asks || visiting)

  /** The update that is being written: valid, and where. */
  val valid: Bool = WireInit(false.B)
  val address: UInt = WireInit(0.U(addressBits.W))

  /** Updates the record at `at` whenever `enable`: `step` makes the new record of the old one and of whether this is an event, one clock later.
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

  /** Asks for the record at `at`, which is `old` a clock later; high if it can be read in this clock. To be called once. */
  def ask(wants: Bool, at: UInt): Bool = {
    asks := wants
    asked := at
    !event
  }

  /** Another read port that gives the newest data, one clock later. */
  def lookup(at: UInt): UInt = ram.read(at)
}

object UpdateRam {

  /** How wide a block RAM of 32,768 bits is in so many records, where it is narrower than a byte. */
  private[stats] def slice(depth: Int): Int = if (depth <= 4096) Int.MaxValue else (32768 >> log2Ceil(depth)).max(1)
}
