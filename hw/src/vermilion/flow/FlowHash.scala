package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.decide.RandomSource

object FlowHash {

  /** Bits of a flow's name as it is hashed; the queue number has 15 of them in every build. */
  val InputBits = 128 + 128 + 16 + 16 + 15 + 1 + 24
  val KeyWords = 11

  /** Bits 0..127 source, ..255 destination, ..271 source port, ..287 destination port, ..302 queue, 303 IPv6, ..327 VLAN IDs. */
  def input(k: FlowKey): UInt = Cat(k.vlan, k.isIp6, k.queue.pad(15), k.dstPort, k.srcPort, k.dstAddr, k.srcAddr)
}

/** Which set of the table a flow belongs to: a Toeplitz hash (Krawczyk, CRYPTO 1994; as in receive-side scaling) under a secret key.
  *
  * {{{
  *   bit j of the set = parity(input & (key >> j)),   key = eleven draws of xoshiro128++ from the seed, first draw lowest
  * }}}
  * For any two flows chosen without knowing the key, the chance that they share a set is one in the number of sets; so no list of
  * addresses made outside collides more than chance has it. With a known key it is no protection.
  *
  * Combinational from `flow` to `set`: one level of AND, XOR over 328 bits. A seed is taken with `seed.valid`; it and a reset draw a new
  * key, and `ready` is low for the eleven clocks that takes.
  */
class FlowHash(queueBits: Int, setBits: Int) extends Module {
  require(queueBits <= 15, s"queueBits is $queueBits; legal are 1 to 15")
  require(setBits <= 17, s"setBits is $setBits; legal are 1 to 17")
  import FlowHash._
  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val flow = Input(new FlowKey(queueBits))
    val set = Output(UInt(setBits.W))
    val ready = Output(Bool())
  })

  private val random = Module(new RandomSource)
  private val drawn = RegInit(0.U(log2Ceil(KeyWords + 1).W))
  private val key = Reg(UInt((32 * KeyWords).W))
  random.io.seed := io.seed
  random.io.next := !io.ready
  io.ready := drawn === KeyWords.U
  when(!io.ready) {
    drawn := drawn + 1.U
    key := Cat(random.io.draw, key(32 * KeyWords - 1, 32))
  }
  when(io.seed.valid) { drawn := 0.U }

  private val flow = input(io.flow)
  io.set := Cat((0 until setBits).reverse.map(j => (flow & key(j + InputBits - 1, j)).xorR))
}
