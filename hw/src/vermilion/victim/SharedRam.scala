package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** A RAM with several write ports that always returns the newest data. It has one bank per writer and records the last writer.
  *
  * Each writer has its own bank with one write port, and its own bank of owner bits. The newest data is in the bank of writer
  * {{{
  *   owner(a) = bits_0(a) ^ bits_1(a) ^ ..
  * }}}
  * A writer makes itself the owner: it writes its own number ^ the owner bits of all others. So it must read those bits, and it
  * gives its address one cycle before the write. A record is undefined until its first write. The owner bits are cleared after reset, one
  * record per cycle. Nothing may be written until `ready`: each reader has its own copy of the owner bits, and all copies must agree.
  *
  * Timing as [[vermilion.fixed.ForwardingRam]]: a read addressed in cycle t returns in t+1 the data after all writes up to and including cycle t.
  * Two writers must not write one address in the same cycle. An assertion checks it.
  * RAMs, for W writers and R reads: W data banks in R copies; W banks of owner bits in R + W - 1 copies.
  */
class SharedRam[T <: Data](depth: Int, gen: T, writers: Int) {
  require(writers >= 2, s"writers is $writers; legal are 2 and more")
  private val ownerBits = log2Ceil(writers)
  private val banks = Seq.fill(writers)(new ForwardingRam(depth, gen))
  private val owners = Seq.fill(writers)(new ForwardingRam(depth, UInt(ownerBits.W)))
  private val sweep = new SweepInit(depth)
  owners.foreach(_.write(!sweep.done, sweep.address, 0.U))
  val ready: Bool = sweep.done
  private var written = Seq.empty[(Bool, UInt)]
  private var called = Set.empty[Int]

  /** The write port of one writer, to be called once for each. `address` is given one cycle before `enable` and `data`. */
  def write(writer: Int, address: UInt, enable: Bool, data: T): Unit = {
    require(banks.indices.contains(writer), s"writer is $writer; legal are 0 to ${writers - 1}")
    require(!called(writer), s"writer is $writer, which writes already; each writes once")
    called += writer
    val others = owners.indices.filter(_ != writer).map(owners(_).read(address)).reduce(_ ^ _)
    val at = Delay(address)
    banks(writer).write(enable, at, data)
    owners(writer).write(enable, at, others ^ writer.U(ownerBits.W))
    for ((otherEnable, otherAt) <- written)
      assert(!(enable && otherEnable && at === otherAt), "two writers write one record at once")
    written = written :+ ((enable, at))
  }

  /** Adds a read port. The result belongs to the address of the cycle before. */
  def read(address: UInt): T = {
    val owner = owners.map(_.read(address)).reduce(_ ^ _)
    val data = banks.map(_.read(address))
    val newest = Wire(gen.cloneType)
    newest := data.head
    for (i <- 1 until writers) when(owner === i.U) { newest := data(i) }
    newest
  }
}
