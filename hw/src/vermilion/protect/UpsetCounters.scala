package vermilion.protect

import chisel3._
import chisel3.util._

/** Counts of upsets of all memories of a lane. Every counter stops at its greatest value. */
class UpsetCounts extends Bundle {
  val corrected = UInt(
    32.W
  ) // words corrected as they were used; a word that is used twice before it is repaired counts twice
  val repaired = UInt(32.W) // words that the scrubber wrote back
  val uncorrectable = UInt(32.W) // words with two wrong bits that were used
  val beyondRepair = UInt(32.W) // times the scrubber found such a word
  val failed = Bool() // uncorrectable is not 0
}

/** Adds up the events of `memories` memories, two cycles after them. `failed` rises one cycle after the event and falls only at reset. */
class UpsetCounters(memories: Int) extends Module {
  val io = IO(new Bundle {
    val events = Input(Vec(memories, new UpsetEvents))
    val counts = Output(new UpsetCounts)
    val failed = Output(Bool())
  })
  private def count(of: UpsetEvents => Bool): UInt = {
    val met = RegNext(PopCount(io.events.map(of)), 0.U)
    val total = RegInit(0.U(32.W))
    val sum = total +& met
    total := Mux(sum(32), Fill(32, 1.U(1.W)), sum(31, 0))
    total
  }
  io.counts.corrected := count(_.corrected)
  io.counts.repaired := count(_.repaired)
  io.counts.uncorrectable := count(_.uncorrectable)
  io.counts.beyondRepair := count(_.beyondRepair)
  private val failed = RegInit(false.B)
  when(VecInit(io.events.map(_.uncorrectable)).asUInt.orR) { failed := true.B }
  io.failed := failed
  io.counts.failed := failed
}
