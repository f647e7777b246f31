package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.decide.RandomSource

object FlowHash {

  /** Bits of a flow's name as it is hashed; the queue number has 15 of them in every build. */
  val InputBits = 128 + 128 + 16 + 16 + 15 + 1 + 24
  val KeyWords = 11

  /** Where in a word of 32 bits of the name its characters begin; of five bits at most, as a LUT's two memories of 32 bits have addresses. */
  val Characters = Seq(0, 5, 10, 15, 20, 24, 28, 32)
  val CharacterValues = 32

  /** Bits 0..127 source, ..255 destination, ..271 source port, ..287 destination port, ..302 queue, 303 IPv6, ..327 VLAN IDs. */
  def input(k: FlowKey): UInt = Cat(k.vlan, k.isIp6, k.queue.pad(15), k.dstPort, k.srcPort, k.dstAddr, k.srcAddr)

  /** Clocks after a reset and a seed before `drained`: longer than a lookup that has begun is on its way. */
  val DrainClocks = 11

  /** Is this bit of the name ever anything but 0? */
  def used(bit: Int, queueBits: Int): Boolean = bit < InputBits && !(bit >= 288 + queueBits && bit < 303)
}

/** A flow's name in two parts, which together are the whole name: two names of one fold and one rest are the same.
  *
  * {{{
  *   fold   39 bits; bit i is the exclusive or of the bits i, i + 39, i + 78, ... of FlowHash.input
  *   rest   the bits of the name from 39 on
  * }}}
  */
object FlowName {
  val FoldBits = 39

  private def bitsOf(key: FlowKey): Seq[(Bool, Int)] =
    FlowHash.input(key).asBools.zipWithIndex.filter { case (_, i) => FlowHash.used(i, key.queue.getWidth) }
  def fold(key: FlowKey): UInt = {
    val shares = bitsOf(key).groupMap { case (_, i) => i % FoldBits } { case (bit, _) => bit }
    VecInit((0 until FoldBits).map(shares(_).reduce(_ ^ _))).asUInt
  }
  def rest(key: FlowKey): UInt = VecInit(bitsOf(key).collect { case (bit, i) if i >= FoldBits => bit }).asUInt
}

/** A Toeplitz hash of a flow's name (Krawczyk, CRYPTO 1994; as in receive-side scaling) under a secret key. It says to which set of the table the flow belongs.
  *
  * {{{
  *   bit j of the hash = parity(input & (key >> j)),   key = eleven draws of xoshiro128++ from the seed, first draw lowest
  * }}}
  * For any two flows chosen without knowing the key, the chance that they share a hash is one in the number of hashes; so no list of
  * addresses made outside collides more than chance has it. With a known key it is no protection.
  *
  * The hash is linear, so it is the exclusive or of what each character of four or five bits gives by itself. That stands in a small memory
  * for each character, written once for a key: half the logic of ANDs with the key.
  *
  * Combinational from `flow` to `hash`: a read, then XOR over the characters. `ready` is low for the 354 clocks that it takes to write the
  * memories: two draws, then 32 clocks a word of the name; `drained` for the first 11 of these, which is longer than a lookup that has begun is on
  * its way. A seed is taken with `seed.valid`; it and a reset draw a new key.
  */
class FlowHash(queueBits: Int, hashBits: Int) extends Module {
  require(queueBits >= 1 && queueBits <= 15, s"queueBits is $queueBits; legal are 1 to 15")
  require(hashBits >= 1 && hashBits <= 17, s"hashBits is $hashBits; legal are 1 to 17")
  import FlowHash._

  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val flow = Input(new FlowKey(queueBits))
    val hash = Output(UInt(hashBits.W))
    val drained = Output(Bool())
    val ready = Output(Bool())
  })

  // The key in two words: that of the word of the name whose memories are written, and the one above it.
  private val random = Module(new RandomSource)
  private val loaded = RegInit(0.U(2.W))
  private val written = RegInit(0.U(log2Ceil(KeyWords * CharacterValues + 1).W))
  private val key = Reg(Vec(2, UInt(32.W)))
  private val word = written >> log2Ceil(CharacterValues)
  private val value = written(log2Ceil(CharacterValues) - 1, 0)
  private val loading = loaded =/= 2.U
  private val writing = !loading && !io.ready
  private val last = writing && value.andR
  io.ready := written === (KeyWords * CharacterValues).U
  io.drained := written >= (DrainClocks - 2).U
  random.io.seed := io.seed
  random.io.next := loading || (last && word < (KeyWords - 2).U)
  when(loading) { loaded := loaded + 1.U }
  when(writing) { written := written + 1.U }
  when(loading || last) {
    key(0) := key(1)
    key(1) := random.io.draw
  }
  when(io.seed.valid) {
    loaded := 0.U
    written := 0.U
  }

  private val flow = input(io.flow).pad(32 * KeyWords)
  private val shares = for {
    i <- 0 until KeyWords
    (from, to) <- Characters.zip(Characters.tail)
    if (from until to).exists(b => used(32 * i + b, queueBits))
  } yield {
    val memory = Mem(1 << (to - from), UInt(hashBits.W))
    val share = VecInit((0 until hashBits).map(j => (value(to - from - 1, 0) & key.asUInt(to + j - 1, from + j)).xorR))
    when(writing && word === i.U) { memory.write(value(to - from - 1, 0), share.asUInt) }
    memory.read(flow(32 * i + to - 1, 32 * i + from))
  }
  io.hash := shares.reduce(_ ^ _)
}
