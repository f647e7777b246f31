package vermilion.queue

import chisel3._
import chisel3.util._

/** A RAM with one write and one read port whose read sees the write of the same clock.
  *
  * Read data follow the address by one clock. The forwarding is spelt out (a compare and a register), so that no RAM
  * primitive's own read-during-write behaviour matters. Contents are undefined until written: users keep a bit a record where it matters.
  * Output is undefined in a clock whose predecessor had `readEnable` low.
  */
class ForwardingRam[T <: Data](gen: T, val depth: Int) extends Module {
  require(depth >= 2, s"depth is $depth; legal is 2 and more")
  private val addressBits = log2Ceil(depth)

  val io = IO(new Bundle {
    val write = Input(Bool())
    val writeAddress = Input(UInt(addressBits.W))
    val writeData = Input(gen)
    val readEnable = Input(Bool())
    val readAddress = Input(UInt(addressBits.W))
    val readData = Output(gen)
  })

  private val memory = SyncReadMem(depth, gen)
  when(io.write) { memory.write(io.writeAddress, io.writeData) }

  private val hit = RegNext(io.write && io.writeAddress === io.readAddress)
  private val forwarded = RegNext(io.writeData)
  io.readData := Mux(hit, forwarded, memory.read(io.readAddress, io.readEnable))
}
