package vermilion.fixed

import chisel3._
import chisel3.util._

/** A RAM with one write port and any number of read ports that always returns the newest data.
  *
  * A read addressed in clock t gives in clock t+1 what all writes up to and including clock t left there: a write of the
  * same clock is held in a register and chosen over the array's output. A record that is read in clock t, changed and
  * written back in clock t+1 can therefore be read again in clock t+1: one update a clock, same address included.
  * Each read port costs one copy of the array. Contents after reset are undefined; [[SweepInit]] clears them.
  *
  * In LUTs the array itself gives the newest, and there is nothing to choose: a LUT, two registers and a compare less, for each bit
  * and for each port.
  *
  * @param depth number of records
  * @param gen   type of a record
  * @param kind  what it is made of; left open, as [[MemoryKind.of]] says
  * @param slice as in [[Memory]]
  * @param ahead addresses are compared in the cycle in which they are named, and not in that of the answer: for a record that is read, changed and written back in one
  *              cycle, whose address is known early
  */
class ForwardingRam[T <: Data](
    depth: Int,
    gen: T,
    kind: Option[MemoryKind] = None,
    slice: Int = Int.MaxValue,
    ahead: Boolean = false
) extends Memory(depth, gen, kind.getOrElse(MemoryKind.of(depth)), slice) {
  private val givesNewest = kind.getOrElse(MemoryKind.of(depth)) == MemoryKind.Lut

  private lazy val lastEnable = RegNext(writeEnable)
  private lazy val lastAddress = RegNext(writeAddress)
  private lazy val lastData = RegNext(writeData)

  override def read(address: UInt): T =
    if (givesNewest) readUnforwarded(address)
    else {
      // Else compared behind registers, while the array answers: whoever names an address late need not wait for this.
      val hit =
        if (ahead) RegNext(writeEnable && writeAddress === address)
        else lastEnable && lastAddress === RegNext(address)
      Mux(hit, lastData, readUnforwarded(address))
    }
}

/** Walks all addresses once after reset; `done` falls only at reset. */
class SweepInit(depth: Int) {
  private val bits = log2Ceil(depth).max(1)
  private val counter = RegInit(0.U((bits + 1).W))
  val done: Bool = counter === depth.U
  val address: UInt = counter(bits - 1, 0)
  when(!done) { counter := counter + 1.U }
}
