package vermilion.fixed

import chisel3._
import chisel3.util._

/** A RAM with one write port and any number of read ports that always returns the newest data.
  *
  * A read with its address in cycle t returns in cycle t+1 the data of all writes up to and including cycle t. A register
  * holds a write of the same cycle, and its data is selected instead of the array's output. So a record that is read in
  * cycle t, changed and written back in cycle t+1 can be read again in cycle t+1: one update per cycle, also of one address.
  * Each read port costs one copy of the array. Contents after reset are undefined; [[SweepInit]] clears them.
  *
  * In LUTs the array itself returns the newest data, so there is no selection. This saves a LUT, two registers and a comparison, for each bit
  * and for each port.
  *
  * @param depth number of records
  * @param gen   type of a record
  * @param kind  the kind of memory; None: as [[MemoryKind.of]] gives it
  * @param slice as in [[Memory]]
  * @param ahead addresses are compared in the cycle of the address, not in that of the data: for a record that is read, changed and written back in
  *              one cycle, with an address that is known early
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
  private lazy val lastData = Delay(writeData)

  override def read(address: UInt): T =
    if (givesNewest) readUnforwarded(address)
    else {
      // Without `ahead` the addresses are compared after registers, while the array reads: no comparison is in the path of a late address.
      val hit =
        if (ahead) RegNext(writeEnable && writeAddress === address)
        else lastEnable && lastAddress === RegNext(address)
      Mux(hit, lastData, readUnforwarded(address))
    }
}

/** Steps through all addresses once after reset. `done` falls only at reset. */
class SweepInit(depth: Int) {
  private val bits = log2Ceil(depth).max(1)
  private val counter = RegInit(0.U((bits + 1).W))
  val done: Bool = counter === depth.U
  val address: UInt = counter(bits - 1, 0)
  when(!done) { counter := counter + 1.U }
}
