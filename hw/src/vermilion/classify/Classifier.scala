package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.fixed.SweepInit
import vermilion.lane.LaneParams
import vermilion.stream._

/** A packet's class: its queue, and the colour with which it arrives. */
class ClassEntry(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
}

/** A write to the table of the entry's egress. Addresses 0 to 63 are DSCPs; 64 is the entry of frames without IP. */
class ClassWrite(p: LaneParams) extends Bundle {
  val address = UInt(7.W)
  val entry = new ClassEntry(p)
}

/** Maps a frame's DSCP to its queue and colour (RFC 2474 section 3, RFC 2597).
  *
  * Each egress has a table of 64 entries, and an entry for frames without IP. An entry holds the queue's number within its egress, so no packet goes to
  * an egress other than its own. A colour of 3 counts as red, so any content is harmless.
  *
  * Combinational: the tables are in LUT RAM. A reset clears them in `Classifier.clearCycles` cycles. Until then they read as cleared, which is queue 0 of
  * the egress, and they must not be written.
  */
class Classifier(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val egress = Input(UInt(p.egressBits.W))
    val entry = Output(new ClassEntry(p))
    val write = Flipped(Valid(new ClassWrite(p)))
  })
  import Classifier.CodePoints
  private val localBits = p.ofOneEgress.queueBits
  private class Stored extends Bundle {
    val queue = UInt(localBits.W)
    val colour = UInt(2.W)
  }
  private val codeBits = log2Ceil(CodePoints)
  private def ofEgress(queue: UInt): UInt = queue(p.queueBits - 1, localBits)
  private def at(egress: UInt, code: UInt): UInt = if (p.egresses == 1) code else egress ## code

  private val write = io.write.bits
  private val stored = Wire(new Stored)
  stored.queue := write.entry.queue(localBits - 1, 0)
  stored.colour := write.entry.colour
  private val writtenEgress = if (p.egresses == 1) 0.U else ofEgress(write.entry.queue)
  private val sweep = new SweepInit(p.egresses * CodePoints)
  private val table = Mem(p.egresses * CodePoints, UInt((new Stored).getWidth.W))
  when(!sweep.done || (io.write.valid && !write.address(codeBits))) {
    table.write(
      Mux(sweep.done, at(writtenEgress, write.address(codeBits - 1, 0)), sweep.address),
      Mux(sweep.done, stored.asUInt, 0.U)
    )
  }
  assert(sweep.done || !io.write.valid, "an entry is written before the table is cleared")
  private val others = Seq.tabulate(p.egresses) { egress =>
    RegEnable(stored, 0.U.asTypeOf(stored), io.write.valid && write.address(codeBits) && writtenEgress === egress.U)
  }
  private val other = if (p.egresses == 1) others.head else VecInit(others)(io.egress)
  private val ofCodePoint = table.read(at(io.egress, io.headers.dscp)) & Fill(stored.getWidth, sweep.done)
  private val isIp = io.headers.isIp4 || io.headers.isIp6
  private val raw = Mux(isIp, ofCodePoint.asTypeOf(other), other)
  io.entry.queue := (if (p.egresses == 1) raw.queue else io.egress ## raw.queue)
  io.entry.colour := Mux(raw.colour === 3.U, Colour.Red.U, raw.colour)
}

object Classifier {
  val CodePoints = 64

  /** Cycles after a reset in which the tables are cleared. */
  def clearCycles(p: LaneParams): Int = p.egresses * CodePoints
}
