package vermilion.fixed

import chisel3._
import chisel3.util._
import scala.util.DynamicVariable

/** A RAM with one write port and any number of read ports that always returns the newest data.
  *
  * A read addressed in clock t gives in clock t+1 what all writes up to and including clock t left there: a write of the
  * same clock is held in a register and chosen over the array's output. A record that is read in clock t, changed and
  * written back in clock t+1 can therefore be read again in clock t+1: one update a clock, same address included.
  * Each read port costs one copy of the array. Contents after reset are undefined; [[SweepInit]] clears them.
  *
  * Up to [[ForwardingRam.lutDepth]] records lie in LUTs, which are read in the clock in which they are addressed. There the address is held
  * in place of the data, so the array itself gives the newest, and there is nothing to choose: a LUT, two registers and a compare less, for each bit
  * and for each port.
  *
  * @param depth number of records
  * @param gen   type of a record
  * @param slice bits of a record that share an array: arrays as wide as one block RAM of this depth need no multiplexer behind them
  */
class ForwardingRam[T <: Data](depth: Int, gen: T, slice: Int = Int.MaxValue) {
  private val addressBits = log2Ceil(depth).max(1)
  private val writeEnable = Wire(Bool())
  private val writeAddress = Wire(UInt(addressBits.W))
  private val writeData = Wire(gen.cloneType)
  writeEnable := false.B
  writeAddress := 0.U
  writeData := DontCare

  /** Drives the write port; the last connection in program order wins. */
  def write(enable: Bool, address: UInt, data: T): Unit = {
    when(enable) {
      writeEnable := true.B
      writeAddress := address
      writeData := data
    }
  }

  private val isShallow = depth <= ForwardingRam.lutDepth.value

  /** A copy of the array, in LUTs: what all writes before this clock left at the address of the clock before. */
  private def shallow(address: UInt): T = {
    val array = Mem(depth, UInt(gen.getWidth.W))
    when(writeEnable) { array.write(writeAddress, writeData.asUInt) }
    array.read(Delay(address)).asTypeOf(gen)
  }

  /** A copy of the array: what all writes before the clock of the address left there. */
  private def deep(address: UInt): T = {
    val width = gen.getWidth
    if (slice >= width) {
      val array = SyncReadMem(depth, UInt(width.W))
      when(writeEnable) { array.write(writeAddress, writeData.asUInt) }
      array.read(address).asTypeOf(gen)
    } else
      Cat((0 until width by slice).map { low =>
        val bits = (low + slice).min(width) - low
        val array = SyncReadMem(depth, UInt(bits.W))
        when(writeEnable) { array.write(writeAddress, writeData.asUInt(low + bits - 1, low)) }
        array.read(address)
      }.reverse).asTypeOf(gen)
  }

  /** Adds a read port that forwards nothing: what it gives is undefined if the record is written in the clock of the address. */
  def glance(address: UInt): T = if (isShallow) shallow(address) else deep(address)

  /** Adds a read port; the result belongs to the address of the clock before. */
  def read(address: UInt): T =
    if (isShallow) shallow(address)
    else {
      val hit = RegNext(writeEnable && writeAddress === address)
      val held = RegNext(writeData)
      Mux(hit, held, deep(address))
    }
}

object ForwardingRam {

  /** The deepest that lies in LUTs: 64 records, as deep as a LUT's memory. Proofs of builds with a few records set 0, to have what deep ones have. */
  val lutDepth = new DynamicVariable(64)
}

/** Walks all addresses once after reset; `done` falls only at reset. */
class SweepInit(depth: Int) {
  private val bits = log2Ceil(depth).max(1)
  private val counter = RegInit(0.U((bits + 1).W))
  val done: Bool = counter === depth.U
  val address: UInt = counter(bits - 1, 0)
  when(!done) { counter := counter + 1.U }
}
