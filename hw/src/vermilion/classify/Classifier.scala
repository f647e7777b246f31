package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.SweepInit
import vermilion.lane.LaneParams
import vermilion.stream._

/** Where a packet belongs: the queue (class), and the colour it comes with. */
class ClassEntry(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
}

/** A write of the table; address 0 to 63 is the DSCP, 64 the entry of frames without IP. */
class ClassWrite(p: LaneParams) extends Bundle {
  val address = UInt(7.W)
  val entry = new ClassEntry(p)
}

/** DSCP to queue and colour (RFC 2474 section 3, RFC 2597): a table of 64 entries, and an entry for frames without IP.
  *
  * Combinational: the table lies in LUTs. After a reset it is cleared in 64 clocks; till then it gives what a cleared one gives, and nothing may be
  * written. A colour of 3 in the table is taken as red, so that any table content is harmless.
  */
class Classifier(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val entry = Output(new ClassEntry(p))
    val write = Flipped(Valid(new ClassWrite(p)))
  })
  private val write = io.write.bits
  private val sweep = new SweepInit(Classifier.CodePoints)
  private val table = Mem(Classifier.CodePoints, UInt(write.entry.getWidth.W))
  when(!sweep.done || (io.write.valid && !write.address(6))) {
    table.write(
      Mux(sweep.done, write.address(5, 0), sweep.address),
      Mux(sweep.done, write.entry.asUInt, 0.U)
    )
  }
  assert(sweep.done || !io.write.valid, "an entry is written before the table is cleared")
  private val other = RegEnable(write.entry, 0.U.asTypeOf(write.entry), io.write.valid && write.address(6))
  private val ofCodePoint = table.read(io.headers.dscp) & Fill(write.entry.getWidth, sweep.done)
  private val isIp = io.headers.isIp4 || io.headers.isIp6
  private val raw = Mux(isIp, ofCodePoint.asTypeOf(other), other)
  io.entry := raw
  io.entry.colour := Mux(raw.colour === 3.U, Colour.Red.U, raw.colour)
}

object Classifier {

  /** Also the clocks after a reset in which the table is cleared. */
  val CodePoints = 64
}
