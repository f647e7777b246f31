package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.control.{AxiLite, AxiLiteReadData}

/** Connects one AXI4-Lite master to many blocks: block i has the 64 KiB at i x 0x10000.
  *
  * At most one write and one read are in progress, independently of each other, so answers come in order. Address and
  * data of a write may arrive in any order and at any distance. Every access is answered with OKAY. At addresses without
  * a block, writes do nothing and reads return 0. A block that answers late delays the later accesses of the same
  * direction.
  *
  * A block is offered address and data of a write together, and accepts each at any time. Latency: 4 cycles plus that of
  * the block.
  */
class AppBar(blocks: Int) extends Module {
  private val most = 1 << NicParams.AddressBits - NicParams.BlockBits
  require(blocks >= 1 && blocks <= most, s"blocks is $blocks; legal are 1 to $most")
  val io = IO(new Bundle {
    val host = new AxiLite(NicParams.AddressBits)
    val block = Vec(blocks, Flipped(new AxiLite(NicParams.BlockBits)))
  })
  private def blockOf(address: UInt): UInt = address >> NicParams.BlockBits

  /** The element of a block, or `other` if the block does not exist. */
  private def choose[T <: Data](number: UInt, each: Seq[T], other: T): T =
    Mux(number < each.size.U, VecInit(each)(number(log2Ceil(each.size).max(1) - 1, 0)), other)

  // -- writes --
  private val aw = Queue(io.host.aw, 1)
  private val w = Queue(io.host.w, 1)
  private val b = Module(new Queue(UInt(2.W), 1))
  private val writing = RegInit(false.B) // offered to the block
  private val awTaken, wTaken = RegInit(false.B)
  private val writeTo = blockOf(aw.bits)
  for ((block, i) <- io.block.zipWithIndex) {
    val here = writing && writeTo === i.U
    block.aw.valid := here && !awTaken
    block.aw.bits := aw.bits(NicParams.BlockBits - 1, 0)
    block.w.valid := here && !wTaken
    block.w.bits := w.bits
    block.b.ready := here && b.io.enq.ready
    when(block.aw.fire) { awTaken := true.B }
    when(block.w.fire) { wTaken := true.B }
  }
  b.io.enq.valid := writing && choose(writeTo, io.block.map(_.b.valid), true.B)
  b.io.enq.bits := choose(writeTo, io.block.map(_.b.bits), 0.U)
  private val written = b.io.enq.fire
  when(aw.valid && w.valid && !writing) {
    writing := true.B
    awTaken := false.B
    wTaken := false.B
  }
  when(written) { writing := false.B }
  aw.ready := written
  w.ready := written
  io.host.b <> b.io.deq

  // -- reads --
  private val ar = Queue(io.host.ar, 1)
  private val r = Module(new Queue(new AxiLiteReadData, 1))
  private val reading = RegInit(false.B)
  private val arTaken = RegInit(false.B)
  private val readFrom = blockOf(ar.bits)
  for ((block, i) <- io.block.zipWithIndex) {
    val here = reading && readFrom === i.U
    block.ar.valid := here && !arTaken
    block.ar.bits := ar.bits(NicParams.BlockBits - 1, 0)
    block.r.ready := here && r.io.enq.ready
    when(block.ar.fire) { arTaken := true.B }
  }
  r.io.enq.valid := reading && choose(readFrom, io.block.map(_.r.valid), true.B)
  r.io.enq.bits := choose(readFrom, io.block.map(_.r.bits), 0.U.asTypeOf(new AxiLiteReadData))
  private val read = r.io.enq.fire
  when(ar.valid && !reading) {
    reading := true.B
    arTaken := false.B
  }
  when(read) { reading := false.B }
  ar.ready := read
  io.host.r <> r.io.deq
}
