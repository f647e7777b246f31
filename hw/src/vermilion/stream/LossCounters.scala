package vermilion.stream

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._

/** Counts the frames that one input left out, and their bytes, 64 bits each, for a host that reads 32 bits at a time.
  *
  * `frames` is the count as it is. `take` copies the whole of both counts, as they are in that clock, to `taken`: so the words that are
  * read after the lowest belong to it. Tie-break: `clear` wins over a loss of the same clock. Counts wrap at 2^64.
  */
class LossCounters extends Module {
  val io = IO(new Bundle {
    val lost = Flipped(Valid(UInt(PktLenBits.W)))
    val clear = Input(Bool())
    val take = Input(Bool())
    val frames = Output(UInt(64.W))
    val taken = Output(new Bundle {
      val frames = UInt(64.W)
      val bytes = UInt(64.W)
    })
  })
  private val frames, bytes = RegInit(0.U(64.W))
  when(io.lost.valid) {
    frames := frames + 1.U
    bytes := bytes + io.lost.bits
  }
  when(io.clear) {
    frames := 0.U
    bytes := 0.U
  }
  io.frames := frames
  io.taken.frames := RegEnable(frames, 0.U, io.take)
  io.taken.bytes := RegEnable(bytes, 0.U, io.take)
}
