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
}

/** The ports of a hash. A seed is taken with `seed.valid`; it and a reset draw a new key, and `ready` is low until it is in use. `drained` is low for
  * longer at the beginning than a lookup that has begun is on its way.
  */
abstract class FlowHashing(queueBits: Int, setBits: Int) extends Module {
  require(queueBits <= 15, s"queueBits is $queueBits; legal are 1 to 15")
  require(setBits <= 17, s"setBits is $setBits; legal are 1 to 17")
  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val flow = Input(new FlowKey(queueBits))
    val set = Output(UInt(setBits.W))
    val drained = Output(Bool())
    val ready = Output(Bool())
  })

  /** Is this bit of the name ever anything but 0? */
  protected def used(bit: Int): Boolean = bit < FlowHash.InputBits && !(bit >= 288 + queueBits && bit < 303)
}

/** Which set of the table a flow belongs to: a Toeplitz hash (Krawczyk, CRYPTO 1994; as in receive-side scaling) under a secret key.
  *
  * {{{
  *   bit j of the set = parity(input & (key >> j)),   key = eleven draws of xoshiro128++ from the seed, first draw lowest
  * }}}
  * For any two flows chosen without knowing the key, the chance that they share a set is one in the number of sets; so no list of
  * addresses made outside collides more than chance has it. With a known key it is no protection.
  *
  * The hash is linear, so it is the exclusive or of what each character of four or five bits gives by itself. That stands in a small memory
  * for each character, written once for a key: half the logic of ANDs with the key.
  *
  * Combinational from `flow` to `set`: a read, then XOR over the characters. `ready` is low for the 354 clocks that it takes to write the
  * memories: two draws, then 32 clocks a word of the name; `drained` for the first 11 of these.
  */
class FlowHash(queueBits: Int, setBits: Int) extends FlowHashing(queueBits, setBits) {
  import FlowHash._

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
  io.drained := written >= 9.U
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
    if (from until to).exists(b => used(32 * i + b))
  } yield {
    val memory = Mem(1 << (to - from), UInt(setBits.W))
    val share = VecInit((0 until setBits).map(j => (value(to - from - 1, 0) & key.asUInt(to + j - 1, from + j)).xorR))
    when(writing && word === i.U) { memory.write(value(to - from - 1, 0), share.asUInt) }
    memory.read(flow(32 * i + to - 1, 32 * i + from))
  }
  io.set := shares.reduce(_ ^ _)
}
