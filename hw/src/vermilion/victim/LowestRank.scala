package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.stream.Colour

/** The lowest and the second lowest rank whose bit is set: smallest distance, then lowest slot, which is the worst class.
  *
  * Four distances form a group, four groups a row. First clock: each group finds its own two lowest (of 12). Second clock: each row finds its own two of those of its groups,
  * while the lowest row with any is found and the one behind it; the second lowest rank is the first row's other one, or the next row's lowest.
  * Latency: one clock registered; `found` and `rank` belong to the bitmap of the clock before, and come from logic. One bitmap a clock.
  * Longest path: the second clock, two of four groups, two of four rows, to who reads them.
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

  /** Of a row, the lowest that is set and the one behind it, each one hot. */
  private def twoOf(row: Seq[Bool]): (UInt, UInt) = {
    val bits = VecInit(row).asUInt
    val first = VecInit(PriorityEncoderOH(row)).asUInt
    (first, VecInit(PriorityEncoderOH((bits & ~first).asBools)).asUInt)
  }

  // Groups in rows of four: each row finds its own two while the lowest two rows are found.
  private class Row(lowest: Seq[(Local, Int)], other: Seq[Local]) {
    private val (first, next) = twoOf(lowest.map(_._1.any))
    private def choose(hot: UInt, locals: Seq[Local]): UInt =
      Mux1H(hot, locals.zip(lowest).map { case (local, (_, group)) => rankOf(group, local).asUInt })
    val any: Bool = first.orR
    val more: Bool = next.orR // a second group has any
    val inFirst: Bool = (first & VecInit(other.map(_.any)).asUInt).orR // the first group has more than one
    val rank: UInt = choose(first, lowest.map(_._1))
    val second: UInt = Mux(inFirst, choose(first, other), choose(next, lowest.map(_._1)))
  }
  private val rows =
    s2Lowest.zipWithIndex.zip(s2Other).grouped(4).map(row => new Row(row.map(_._1), row.map(_._2))).toSeq
  private val (first, next) = twoOf(rows.map(_.any))
  private val inFirst = Mux1H(first, rows.map(row => row.inFirst || row.more))
  io.found(0) := first.orR
  io.rank(0) := Mux1H(first, rows.map(_.rank)).asTypeOf(new Rank(v))
  io.found(1) := inFirst || next.orR
  io.rank(1) := Mux(inFirst, Mux1H(first, rows.map(_.second)), Mux1H(next, rows.map(_.rank))).asTypeOf(new Rank(v))
}
