package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.fixed.{ConstantTable, Delay, SweepInit}

/** The registers that a host writes and reads back: one word each in a RAM, and also flip-flops for values that the lane must see all at once.
  *
  * The RAM holds the words for reads, so the flip-flops need no read multiplexer. It also merges byte strobes, so each register takes a whole word
  * with one enable.
  * {{{
  *   cycle  0  `write`: bits outside the fields are removed      2  the merged word is read back
  *          1  into the RAM, byte by byte                        3  `written(x)`, `word`: the registers take it, visible from cycle 4
  * }}}
  * Words that the lane takes together (`loaded`) are only in the RAM until `load`. Then the words are read in order and shifted through a chain of
  * registers, one word per cycle. So no register needs its own enable. `loading` is high until all words are in their places. Until then
  * nothing may be written.
  *
  * `moving` is high in cycles 1 to 3. Neither a write nor a read may begin then, so a read sees all writes that were answered before it. The address
  * `read` in cycle t gives `readWord` in t+1. In cycle t nothing may be written to the RAM (cycle 1 of a write).
  *
  * After a reset the RAM is cleared in [[RegisterFile.Words]] cycles. Until then `clearing` is high, nothing may be written and `readWord` is 0.
  */
class RegisterFile(write: Valid[RegisterWrite], read: UInt) {
  import RegisterFile._
  private val masks = scala.collection.mutable.Map.empty[Int, BigInt]
  private val chained = scala.collection.mutable.Map.empty[Int, UInt]
  private val init = new SweepInit(Words)
  private def isHere(address: UInt): Bool = (address >> (IndexBits + 2)).asUInt === 0.U
  private def indexOf(address: UInt): UInt = address(IndexBits + 1, 2)

  // -- cycle 1 --
  private val fields = Wire(UInt(32.W))
  private val s1Valid = RegNext(write.valid && isHere(write.bits.address), false.B)
  private val s1Index = RegNext(indexOf(write.bits.address))
  private val s1Word = RegNext(write.bits.data & fields)
  private val s1Strobes = RegNext(VecInit.tabulate(4)(i => write.bits.mask(8 * i)))
  private val at = Mux(init.done, s1Index, init.address)
  private val bytes = VecInit.tabulate(4)(i => Mux(init.done, s1Word(8 * i + 7, 8 * i), 0.U))
  private val strobes = s1Strobes.map(strobe => !init.done || (s1Valid && strobe))
  private def copy(address: UInt): UInt = {
    val array = SyncReadMem(Words, Vec(4, UInt(8.W)))
    array.write(at, bytes, strobes)
    array.read(address).asUInt
  }

  // -- cycles 2 and 3 --
  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2Index = RegNext(s1Index)
  private val s3Rows = RegNext(Mux(s2Valid, UIntToOH(s2Index(IndexBits - 1, RowBits)), 0.U), 0.U)
  private val s3Columns = RegNext(UIntToOH(s2Index(RowBits - 1, 0)))
  private val s3Valid = RegNext(s2Valid, false.B)

  // -- load --
  private val loads = RegInit(false.B)
  private val loadAt = Reg(UInt(IndexBits.W))
  private val shifts = WireInit(false.B)
  private val still = WireInit(
    true.B
  ) // !shifts in a separate register: logic that depends on it must not wait for a net to every loaded bit
  val load: Bool = WireInit(false.B)
  val loading: Bool = loads || !still

  /** The merged word of the register that is being written, with its strobes applied. */
  val word: UInt = copy(Mux(loads, loadAt, s2Index))

  /** The written data before the merge, for bits that are not kept. Bytes without a strobe are 0. */
  val raw: UInt = Delay(write.bits.data & write.bits.mask, 3)

  val moving: Bool = s1Valid || s2Valid || s3Valid
  val clearing: Bool = !init.done

  /** High in the cycle in which the register of this address is written. */
  def written(address: Int): Bool = {
    require(
      address < 4 * Words && address % 4 == 0,
      s"address is $address; legal are multiples of 4 below ${4 * Words}"
    )
    s3Rows(address / 4 >> RowBits) && s3Columns(address / 4 & (1 << RowBits) - 1)
  }

  private lazy val s4Index = RegNext(RegNext(s2Index))

  /** Of `words` words from `first` on: the index of the word that was written, one cycle after [[written]], and the word. */
  def recent(first: Int, words: Int): (Valid[UInt], UInt) = {
    require(
      isPow2(words) && first % (4 * words) == 0 && first < 4 * Words,
      s"first is $first; legal are multiples of 4 times $words words, a power of two, below ${4 * Words}"
    )
    val index = Wire(Valid(UInt(log2Ceil(words).W)))
    index.valid := RegNext(s3Valid, false.B) && (s4Index >> log2Ceil(words)) === (first / 4 / words).U
    index.bits := s4Index(log2Ceil(words) - 1, 0)
    (index, RegNext(word))
  }

  private val readHere = RegNext(isHere(read) && init.done, false.B)
  val readWord: UInt = copy(indexOf(read)) & Fill(32, readHere)

  /** Keeps these bits of an address for reads. */
  def keep(address: Int, mask: BigInt): Unit = masks(address / 4) = mask

  /** The current value of a register of flip-flops. */
  def register(address: Int, mask: BigInt): UInt = {
    keep(address, mask)
    RegEnable(word(mask.bitLength - 1, 0), 0.U(mask.bitLength.W), written(address)).pad(32)
  }

  /** A register that takes the written word on `load`. */
  def loaded(address: Int, mask: BigInt): UInt = {
    keep(address, mask)
    require(!chained.contains(address / 4), s"register $address is loaded twice")
    chained(address / 4) = Wire(UInt(32.W))
    chained(address / 4)(mask.bitLength - 1, 0).pad(32)
  }

  /** The chain, from the RAM to the word that is read first. The next word in the row follows a word, whether it is loaded or not; after the last
    * one that is loaded, the next row follows.
    */
  private def chain(): Unit = {
    val indices = chained.keys.toSeq.sorted
    def table(holds: Int => Boolean): Bool =
      ConstantTable(Seq.tabulate(Words)(i => BigInt(if (holds(i)) 1 else 0)), 1)(loadAt).asBool
    val hasNext = table(i => (i + 1 until (i | (1 << RowBits) - 1) + 1).exists(chained.contains))
    when(load) {
      loads := true.B
      loadAt := indices.head.U
    }.elsewhen(loads) {
      loadAt := Mux(hasNext, loadAt + 1.U, Cat(loadAt(IndexBits - 1, RowBits) + 1.U, 0.U(RowBits.W)))
      loads := loadAt =/= indices.last.U
    }
    val shiftsNext = loads && table(chained.contains)
    shifts := RegNext(shiftsNext, false.B)
    still := RegNext(!shiftsNext, true.B)
    indices.reverse.foldLeft(word) { case (from, index) =>
      chained(index) := RegEnable(from, shifts)
      chained(index)
    }
  }

  /** Completes the file. Call it once, after all registers. */
  def close(): Unit = {
    chain()
    fields := ConstantTable(Seq.tabulate(Words)(masks.getOrElse(_, BigInt(0))), 32)(indexOf(write.bits.address))
  }
}

object RegisterFile {
  val Words = 512
  private val IndexBits = log2Ceil(Words)
  private val RowBits = 4
}
