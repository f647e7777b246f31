package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.decide.RandomBits

object FlowHashInTurn {
  val CharacterBits = 5

  /** Characters that are written side by side. */
  val Together = 2
}

/** [[FlowHash]] with the memories in block RAM, so that `set` belongs to the `flow` of the clock before, and written two at a time from a key that
  * is drawn a bit a clock: a seed takes about 1,800 clocks, 2,000 at most, and less logic.
  *
  * A character is five bits of the name, wherever they belong. Block RAM is 512 deep anyway: declared with fewer words, synthesis puts memories
  * into LUTs. A memory is enabled while the key is shifted to its place, too: what is written then is written again when it is there.
  */
class FlowHashInTurn(queueBits: Int, setBits: Int) extends FlowHashing(queueBits, setBits) {
  import FlowHash.{input, InputBits}
  import FlowHashInTurn.{CharacterBits, Together}

  private val shifted = CharacterBits * Together
  private val steps = (InputBits + shifted - 1) / shifted
  require(32 * FlowHash.KeyWords == 32 + shifted * (steps - 1), "the key would not be drawn whole")

  private val bits = Module(new RandomBits)
  private val key = Reg(UInt(32.W)) // from the first of the two characters' place on
  private val missing = RegInit(32.U(6.W)) // bits of the key, until it is at that place
  private val value = RegInit(0.U(CharacterBits.W))
  private val step = RegInit(1.U((steps + 1).W)) // a bit each: these two characters; the last: done
  private val drawn = RegInit(false.B)
  private val shifting = missing =/= 0.U
  io.ready := step(steps)
  io.drained := drawn
  bits.io.seed := io.seed
  bits.io.take := shifting && !io.ready
  when(bits.io.take && bits.io.valid) {
    key := Cat(bits.io.bit, key(31, 1))
    missing := missing - 1.U
    drawn := true.B
  }
  when(!shifting) {
    value := value + 1.U
    when(value.andR) {
      step := Cat(step(steps - 1, 0), 0.U(1.W))
      missing := shifted.U
    }
  }
  when(io.seed.valid) {
    missing := 32.U
    value := 0.U
    step := 1.U
    drawn := false.B
  }

  private val flow = input(io.flow).pad(shifted * steps)
  private def share(from: Int): UInt =
    VecInit(Seq.tabulate(setBits)(j => (value & key(from + j + CharacterBits - 1, from + j)).xorR)).asUInt
  private val shares = for {
    i <- 0 until steps
    k <- 0 until Together
    from = shifted * i + CharacterBits * k
    if (from until from + CharacterBits).exists(used)
  } yield {
    val memory = SyncReadMem(512, UInt(setBits.W))
    when(step(i)) { memory.write(value.pad(9), share(CharacterBits * k)) }
    memory.read(flow(from + CharacterBits - 1, from).pad(9))
  }
  io.set := shares.reduce(_ ^ _)
}
