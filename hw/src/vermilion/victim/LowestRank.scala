package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.stream.Colour

/** The lowest and the second lowest rank whose bit is set: smallest distance, then lowest slot, which is the worst class.
  *
  * Four distances form a group. First clock: each group finds its own two lowest (of 12). Second clock: the lowest group is chosen (of 16) and the
  * one behind it; the second lowest rank is the first group's other one, or the next group's lowest.
  * Latency: one clock registered; `found` and `rank` belong to the bitmap of the clock before, and come from logic. One bitmap a clock.
  * Longest path: the second clock, two of 16 in a row and a choice, to who reads them.
  */
class LowestRank(v: VictimParams) extends Module {
  private val GroupDistances = 4
  private val GroupBits = GroupDistances * Colour.Count
  private val groups = v.distances / GroupDistances

  val io = IO(new Bundle {
    val bitmap = Input(UInt(v.bitmapBits.W))
    val found = Output(Vec(2, Bool())) // the lowest, the second lowest
    val rank = Output(Vec(2, new Rank(v)))
  })

  private class Local extends Bundle {
    val any = Bool()
    val distance = UInt(log2Ceil(GroupDistances).W)
    val slot = UInt(2.W)
  }
  private val names = Seq.tabulate(GroupBits) { i =>
    (i / Colour.Count).U(log2Ceil(GroupDistances).W) ## (i % Colour.Count).U(2.W)
  }
  private def local(hot: UInt): Local = (hot.orR ## Mux1H(hot, names)).asTypeOf(new Local)
  private val lowest, other = Wire(Vec(groups, new Local))
  for (group <- 0 until groups) {
    val bits = io.bitmap((group + 1) * GroupBits - 1, group * GroupBits)
    val first = VecInit(PriorityEncoderOH(bits.asBools)).asUInt
    lowest(group) := local(first)
    other(group) := local(VecInit(PriorityEncoderOH((bits & ~first).asBools)).asUInt)
  }

  private val s2Lowest = Delay(lowest)
  private val s2Other = Delay(other)
  private def rankOf(group: Int, local: Local): Rank = {
    val rank = Wire(new Rank(v))
    rank.distance := (if (groups == 1) local.distance else group.U(log2Ceil(groups).W) ## local.distance)
    rank.slot := local.slot
    rank
  }
  private def choose(hot: UInt, locals: Vec[Local]): Rank =
    Mux1H(hot, locals.zipWithIndex.map { case (local, group) => rankOf(group, local) })
  private val any = VecInit(s2Lowest.map(_.any)).asUInt
  private val first = VecInit(PriorityEncoderOH(any.asBools)).asUInt
  private val next = VecInit(PriorityEncoderOH((any & ~first).asBools)).asUInt
  private val inFirst = (first & VecInit(s2Other.map(_.any)).asUInt).orR
  io.found(0) := any.orR
  io.rank(0) := choose(first, s2Lowest)
  io.found(1) := inFirst || next.orR
  io.rank(1) := Mux(inFirst, choose(first, s2Other).asUInt, choose(next, s2Lowest).asUInt).asTypeOf(new Rank(v))
}
