package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.stream.Colour

/** Finds the lowest and the second lowest rank whose bit is set: smallest distance, then lowest slot, which is the worst class.
  *
  * Four distances form a group. In the first cycle each group finds its own two lowest ranks (of 12). In the second cycle two neighbouring groups are
  * merged into one, with the two lowest of their four ranks, and so on. Each step takes one LUT per bit.
  * Latency: one registered cycle. `found` and `rank` belong to the bitmap of the cycle before, and are combinational. Rate: one bitmap per cycle.
  * Longest path: the second cycle, four steps for 64 distances, to the modules that read the result.
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

  /** The lowest and the second lowest rank of neighbouring groups; `any` and `two` tell whether they exist. */
  private class Two(val any: Bool, val two: Bool, val lowest: UInt, val other: UInt) {
    def below(higher: Two): Two = new Two(
      any || higher.any,
      two || higher.two || (any && higher.any),
      !any ## Mux(any, lowest, higher.lowest),
      !two ## Mux(two, other, Mux(any, higher.lowest, higher.other))
    )
  }
  private def join(those: Seq[Two]): Two =
    if (those.size == 1) those.head else join(those.grouped(2).map(pair => pair(0).below(pair(1))).toSeq)
  private val all = join(s2Lowest.zip(s2Other).map { case (lowest, other) =>
    new Two(lowest.any, other.any, lowest.distance ## lowest.slot, other.distance ## other.slot)
  })
  io.found(0) := all.any
  io.rank(0) := all.lowest.asTypeOf(new Rank(v))
  io.found(1) := all.two
  io.rank(1) := all.other.asTypeOf(new Rank(v))
}
