package vermilion.lane

import chisel3._
import chisel3.util._
import vermilion.queue.PacketReader
import vermilion.rewrite.HeaderRewrite
import vermilion.fixed.Formats.CellBytes
import vermilion.stream.{Departure, Serializer}

/** The path from the cell buffer to the AXI-Stream of an egress: reader, rewrite and serializer in series. */
class EgressPath(p: LaneParams, egress: Int) {
  private def named(name: String): String = if (p.egresses == 1) name else s"${name}_$egress"
  val reader: PacketReader = Module(new PacketReader(p)).suggestName(named("reader"))
  val rewrite: HeaderRewrite = Module(new HeaderRewrite(p)).suggestName(named("rewrite"))
  val serializer: Serializer = Module(new Serializer(p.dataBits, p.userBits)).suggestName(named("serializer"))

  // If a cell has several beats, reader and queues do not depend on the output's `ready` of the same cycle: a cell moves on when the rewrite is empty.
  // One cell in two cycles is below line rate only for frames of a single beat, which are shorter than any Ethernet frame.
  // If a cell is one beat, separate registers of rewrite and serializer give their `ready`: a place is free, or becomes free in this cycle.
  private val wholeCells = p.dataBits == CellBytes * 8
  private val goesOn = if (wholeCells) rewrite.io.gap || serializer.io.room else rewrite.io.empty
  if (wholeCells)
    assert(goesOn === rewrite.io.in.ready, "a cell is passed on without a free place, or waits although one is free")
  rewrite.io.in.valid := reader.io.cell.valid && goesOn
  reader.io.cell.ready := goesOn
  rewrite.io.in.bits.queueEntry := reader.io.cell.bits.queueEntry
  rewrite.io.in.bits.cell.data := reader.io.cell.bits.data
  rewrite.io.in.bits.cell.first := reader.io.cell.bits.first
  rewrite.io.in.bits.cell.last := reader.io.cell.bits.last
  rewrite.io.in.bits.cell.bytes := reader.io.cell.bits.validBytes
  serializer.io.in.valid := rewrite.io.out.valid
  rewrite.io.out.ready := serializer.io.in.ready
  serializer.io.in.bits := rewrite.io.out.bits.cell

  /** A packet with an ECN field that is changed to CE in this cycle. */
  val ceWritten: Valid[Departure] = Wire(Valid(new Departure(p)))
  private val edited = rewrite.io.out.bits
  ceWritten.valid := rewrite.io.out.fire && edited.cell.first && edited.ceWritten
  ceWritten.bits.queue := edited.queueEntry.queue
  ceWritten.bits.colour := edited.queueEntry.colour
  ceWritten.bits.lenBytes := edited.queueEntry.lenBytes
  ceWritten.bits.arrival := edited.queueEntry.arrival
  ceWritten.bits.flushed := false.B
  for (verdict <- ceWritten.bits.dropped ++ ceWritten.bits.marked) verdict := false.B

  /** High while the path holds a cell or a beat. */
  def holdsCells: Bool =
    reader.io.holds || !rewrite.io.empty || rewrite.io.out.valid || serializer.io.out.valid
}
