package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.stream.Colour

/** The lowest rank whose bit is set: smallest distance, then lowest slot, which is the worst class.
  *
  * Four distances form a group. First clock: each group finds its own lowest (a choice of 12); second: the lowest group is chosen (of 16).
  * Latency: two clocks, registered; `found` and `rank` belong to the bitmap of two clocks before. One bitmap a clock.
  */
class LowestRank(v: VictimParams) extends Module {
  private val GroupDistances = 4
  private val GroupBits = GroupDistances * Colour.Count
  private val groups = v.distances / GroupDistances

  val io = IO(new Bundle {
    val bitmap = Input(UInt(v.bitmapBits.W))
    val found = Output(Bool())
    val rank = Output(new Rank(v))
  })

  private class Local extends Bundle {
    val distance = UInt(log2Ceil(GroupDistances).W)
    val slot = UInt(2.W)
  }
  private val locals = VecInit(Seq.tabulate(groups) { group =>
    val bits = io.bitmap((group + 1) * GroupBits - 1, group * GroupBits)
    val choices = Seq.tabulate(GroupBits) { i =>
      bits(i) -> ((i / Colour.Count).U(log2Ceil(GroupDistances).W) ## (i % Colour.Count).U(2.W))
    }
    PriorityMux(choices).asTypeOf(new Local)
  })
  private val any = VecInit(Seq.tabulate(groups)(g => io.bitmap((g + 1) * GroupBits - 1, g * GroupBits).orR))

  private val s1Locals = Delay(locals)
  private val s1Any = Delay(any)
  private val rank = Wire(new Rank(v))
  if (groups == 1) {
    rank.distance := s1Locals.head.distance
    rank.slot := s1Locals.head.slot
  } else {
    val group = PriorityEncoder(s1Any)
    rank.distance := group ## s1Locals(group).distance
    rank.slot := s1Locals(group).slot
  }
  io.found := Delay(s1Any.asUInt.orR)
  io.rank := Delay(rank)
}
