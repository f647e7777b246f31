package vermilion.classify

import chisel3._
import chisel3.util._
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
  * Combinational. A colour of 3 in the table is taken as red, so that any table content is harmless.
  */
class Classifier(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val entry = Output(new ClassEntry(p))
    val write = Flipped(Valid(new ClassWrite(p)))
  })
  private val table = RegInit(VecInit(Seq.fill(64)(0.U.asTypeOf(new ClassEntry(p)))))
  private val other = RegInit(0.U.asTypeOf(new ClassEntry(p)))
  when(io.write.valid) {
    when(io.write.bits.address(6)) { other := io.write.bits.entry }
      .otherwise { table(io.write.bits.address(5, 0)) := io.write.bits.entry }
  }
  private val isIp = io.headers.isIp4 || io.headers.isIp6
  private val raw = Mux(isIp, table(io.headers.dscp), other)
  io.entry := raw
  io.entry.colour := Mux(raw.colour === 3.U, Colour.Red.U, raw.colour)
}
