package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.decide.RandomSource

object FlowHash {

  /** Bits of a flow's name as it is hashed. The queue number takes 15 of them in every build. */
  val InputBits = 128 + 128 + 16 + 16 + 15 + 1 + 24
  val KeyWords = 11

  /** The first bits of the characters in a 32-bit word of the name. A character has at most five bits: a LUT holds two memories of 32 addresses. */
  val Characters = Seq(0, 5, 10, 15, 20, 24, 28, 32)
  val CharacterValues = 32

  /** Bits 0..127 source, ..255 destination, ..271 source port, ..287 destination port, ..302 queue, 303 IPv6, ..327 VLAN IDs. */
  def input(k: FlowKey): UInt = Cat(k.vlan, k.isIp6, k.queue.pad(15), k.dstPort, k.srcPort, k.dstAddr, k.srcAddr)

  /** The lowest bit of a name within the hash: the largest group of queues takes the bits before it. */
  val NameAt = 10

  /** Cycles from a reset or a seed to `drained`. This is longer than any lookup in progress takes. */
  val DrainCycles = 11

  /** Tells whether this bit of the name can be other than 0. */
  def used(bit: Int, queueBits: Int): Boolean = bit < InputBits && !(bit >= 288 + queueBits && bit < 303)
}

/** Splits a flow's name into two parts. Two names with equal fold and equal rest are equal.
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

/** Computes a Toeplitz hash of a flow's name under a secret key. The hash selects the flow's set in the table.
  *
  * Source: Krawczyk, CRYPTO 1994; receive-side scaling uses the same hash.
  * {{{
  *   bit j of the hash = parity(input & (key >> j)),   key = twelve draws of xoshiro128++ from the seed, first draw lowest
  * }}}
  * `name` is bits 10 and up of the same hash, which no queue or set of a table is selected by ([[FlowHash.NameAt]]). Only they need the last draw.
  * For any two flows that are chosen without knowledge of the key, the probability of equal hashes is one over the number of hashes.
  * So a list of addresses made by an outsider collides no more than chance predicts. Once the key is known, the hash does not protect.
  *
  * The hash is linear: it is the exclusive or of the hashes of single characters of four or five bits. A small memory holds these for each character.
  * It is written once per key. This takes half the logic of AND gates with the key.
  *
  * Combinational from `flow` to `hash`: a read, then XOR over the characters. `seed` is accepted in any cycle. A seed and a reset draw a new key.
  * `ready` is then low for the 354 cycles in which the memories are written: two draws, then 32 cycles per word of the name.
  * `drained` is low for the first 11 of them, which is longer than any lookup in progress takes.
  *
  * @param nameBits bits of `name`; 0: there is none
  * @param atReset  the seed after a reset, s0 first
  */
class FlowHash(queueBits: Int, hashBits: Int, atReset: Seq[BigInt] = RandomSource.resetState, nameBits: Int = 0)
    extends Module {
  require(queueBits >= 1 && queueBits <= 15, s"queueBits is $queueBits; legal are 1 to 15")
  require(hashBits >= 1 && hashBits <= 17, s"hashBits is $hashBits; legal are 1 to 17")
  require(nameBits >= 0 && nameBits <= 16, s"nameBits is $nameBits; legal are 0 (no name) to 16")
  require(
    nameBits == 0 || hashBits <= FlowHash.NameAt,
    s"hashBits is $hashBits with $nameBits bits of a name; legal are 1 to ${FlowHash.NameAt}"
  )
  import FlowHash._

  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val flow = Input(new FlowKey(queueBits))
    val hash = Output(UInt(hashBits.W))
    val name = Option.when(nameBits != 0)(Output(UInt(nameBits.W)))
    val drained = Output(Bool())
    val ready = Output(Bool())
  })

  // Two words of the key: the word for the word of the name that is being written, and the next one.
  private val random = Module(new RandomSource(atReset = atReset))
  private val loaded = RegInit(0.U(2.W))
  private val written = RegInit(0.U(log2Ceil(KeyWords * CharacterValues + 1).W))
  private val key = Reg(Vec(2, UInt(32.W)))
  private val word = written >> log2Ceil(CharacterValues)
  private val value = written(log2Ceil(CharacterValues) - 1, 0)
  private val loading = loaded =/= 2.U
  private val writing = !loading && !io.ready
  private val last = writing && value.andR
  io.ready := written === (KeyWords * CharacterValues).U
  io.drained := written >= (DrainCycles - 2).U
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

  private val positions = (0 until hashBits) ++ (NameAt until NameAt + nameBits) // the bits of the hash
  private val flow = input(io.flow).pad(32 * KeyWords)
  private val shares = for {
    i <- 0 until KeyWords
    (from, to) <- Characters.zip(Characters.tail)
    if (from until to).exists(b => used(32 * i + b, queueBits))
  } yield {
    val memory = Mem(1 << (to - from), UInt(positions.size.W))
    val share = VecInit(positions.map(j => (value(to - from - 1, 0) & key.asUInt(to + j - 1, from + j)).xorR))
    when(writing && word === i.U) { memory.write(value(to - from - 1, 0), share.asUInt) }
    memory.read(flow(32 * i + to - 1, 32 * i + from))
  }
  private val hash = shares.reduce(_ ^ _)
  io.hash := (if (nameBits == 0) hash else hash(hashBits - 1, 0))
  io.name.foreach(_ := hash(positions.size - 1, hashBits))
}
