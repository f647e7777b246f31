package vermilion.report

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.{AxisBeat, SentCell, Serializer}

/** Reports drops and marks as frames of an AXI-Stream.
  *
  * A report is an Ethernet frame of 128 bytes: 14 bytes of `settings.ethernet`, a record of 50 bytes and the first 64 bytes of the packet as it arrived, zeros after its end. A report
  * without them has 64 bytes. Numbers are in network order.
  *
  * byte | bytes | holds
  * --- | --- | ---
  * 0 | 14 | destination, source, EtherType
  * 14 | 1 | version of this format, 1
  * 15 | 1 | reason ([[Reason]])
  * 16 | 2 | queue
  * 18 | 1 | colour: 0 green, 1 yellow, 2 red
  * 19 | 1 | input
  * 20 | 2 | length of the packet in bytes
  * 22 | 6 | time of the event, ns
  * 28 | 4 | sojourn time in ns, saturating; 0 on arrival
  * 32 | 4 | bytes that were queued before it as it arrived, or after it as it was chosen
  * 36 | 4 | packets, as it arrived; 0 at departure
  * 40 | 6 | average of its colour, U27.16 in the queue's unit
  * 46 | 4 | probability, U0.32, saturating
  * 50 | 4 | number of the report: of the events that were offered before it
  * 54 | 4 | events that were lost before it
  * 58 | 6 | zero
  *
  * No packet waits for a report. A report that finds no place is lost, and counted. `out` may be stalled for any time.
  */
class ReportStream(p: LaneParams) extends Module {
  import ReportStream._
  val io = IO(new Bundle {
    val settings = Input(new ReportSettings)
    val select = Flipped(Valid(new ReportSelect(p)))
    val arrival = Flipped(Valid(new ReportEvent(p)))
    val departure = Flipped(Valid(new ReportEvent(p)))
    val written = Flipped(Valid(UInt(p.cellBits.W)))
    val request = Valid(UInt(p.cellBits.W))
    val readAddress = Input(UInt(p.cellBits.W))
    val readData = Input(UInt((CellBytes * 8).W))
    val out = Decoupled(new AxisBeat(p.dataBits))
    val counts = Output(new ReportCounts)
    val ready = Output(Bool())
  })
  private val selector = Module(new ReportSelector(p))
  private val heads = Module(new ReportHeads(p))
  private val serializer = Module(new Serializer(p.dataBits))

  selector.io.settings := io.settings
  selector.io.select := io.select
  selector.io.arrival := io.arrival
  selector.io.departure := io.departure
  selector.io.written := io.written
  io.ready := selector.io.ready
  heads.io.in := selector.io.out
  heads.io.missed := selector.io.missed
  heads.io.written := io.written
  io.request := heads.io.request
  heads.io.readAddress := io.readAddress
  heads.io.readData := io.readData
  io.counts := heads.io.counts
  io.counts.limited := selector.io.limited

  // -- two cells: the record, and the packet's first bytes --
  private val record = heads.io.out.bits
  private val isSecond = RegInit(false.B)
  when(serializer.io.in.fire) { isSecond := !isSecond && record.hasHead }
  private val cell = serializer.io.in.bits
  cell := 0.U.asTypeOf(new SentCell)
  cell.data := Mux(isSecond, headOf(record), inOrder(fields(record)))
  cell.first := !isSecond
  cell.last := isSecond || !record.hasHead
  cell.bytes := CellBytes.U
  serializer.io.in.valid := heads.io.out.valid
  heads.io.out.ready := serializer.io.in.ready && (isSecond || !record.hasHead)
  io.out <> serializer.io.out

  private def fields(record: ReportRecord): UInt = {
    val e = record.event
    Cat(
      io.settings.ethernet,
      Version.U(8.W),
      e.reason.pad(8),
      e.queue.pad(16),
      e.colour.pad(8),
      e.input.pad(8),
      e.lenBytes.pad(16),
      e.time.pad(48),
      e.sojourn.pad(32),
      e.bytes.pad(32),
      e.packets.pad(32),
      e.average.pad(48),
      e.probability.pad(32),
      record.number,
      record.lost,
      0.U(48.W)
    )
  }

  /** The packet's first 64 bytes, with zeros after its end. */
  private def headOf(record: ReportRecord): UInt = {
    val long = (record.event.lenBytes >> log2Ceil(CellBytes)).orR
    VecInit(record.head.asTypeOf(Vec(CellBytes, UInt(8.W))).zipWithIndex.map { case (byte, i) =>
      Mux(long || record.event.lenBytes > i.U, byte, 0.U)
    }).asUInt
  }
}

object ReportStream {
  private val Version = 1

  /** A cell's bytes have the first in the lowest bits; this takes them from the highest. */
  private def inOrder(bytes: UInt): UInt = {
    require(bytes.getWidth == CellBytes * 8, s"a record has ${bytes.getWidth} bits; legal are ${CellBytes * 8}")
    Cat(bytes.asTypeOf(Vec(CellBytes, UInt(8.W))))
  }
}
