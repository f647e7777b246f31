package vermilion.fixed

import chisel3._

/** A block RAM with a write port and a read port that gives what was there before: a read addressed in clock t gives in clock t+1 what all writes
  * before clock t left there; a write of clock t itself is not seen. A block RAM does that by itself ("read first").
  *
  * Declared with 512 records at least, as deep as a block RAM is: with fewer, synthesis would put it into LUTs. Contents after reset are
  * undefined; [[SweepInit]] clears them.
  */
class SnapshotRam[T <: Data](depth: Int, gen: T) {
  // Not a SyncReadMem that is "read first": firtool 1.155 writes that as one that gives the new data.
  private val array = Mem(depth.max(SnapshotRam.BlockDepth), UInt(gen.getWidth.W))

  /** The write port; to be asked for once. */
  def write(enable: Bool, address: UInt, data: T): Unit = when(enable) { array.write(address, data.asUInt) }

  /** The read port; to be asked for once. */
  def read(address: UInt): T = Delay(array.read(address)).asTypeOf(gen)
}

object SnapshotRam {

  /** Records of the widest block RAM. */
  val BlockDepth = 512
}
