package vermilion.queue

import chisel3._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.lane.LaneParams
import vermilion.report.ReportReads
import vermilion.stream.{CellWrite, Chain, QueueEntry}

import chisel3.util._

/** Free list, cell buffer and packet reader as in a lane: cells go round. In builds with `reports` something else reads in spare cycles. */
class CellLoop(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val cell = Decoupled(UInt(p.cellBits.W))
    val write = Flipped(Valid(new CellWrite(p)))
    val dropped = Flipped(Valid(new Chain(p)))
    val packet = Flipped(Decoupled(new QueueEntry(p)))
    val out = Decoupled(new CellBeat(p))
    val freeCells = Output(UInt((p.cellBits + 1).W))
    val report = Flipped(Valid(UInt(p.cellBits.W)))
  })
  private val freeList = Module(new FreeList(p))
  private val buffer = Module(new CellBuffer(p))
  private val reader = Module(new PacketReader(p))
  io.cell <> freeList.io.cell
  freeList.io.freedByPolicy := io.dropped
  freeList.io.freedByReader := reader.io.freed
  freeList.io.walk <> buffer.io.walk
  buffer.io.write := io.write
  private val shared = Module(new ReportReads(p))
  shared.io.spare := reader.io.spare.getOrElse(false.B)
  shared.io.wanted := reader.io.readAddress
  shared.io.request := io.report
  shared.io.data := buffer.io.readData
  shared.io.link := buffer.io.readLink
  buffer.io.readAddress := shared.io.address
  buffer.io.linkUsed := reader.io.linkUsed
  reader.io.readData := shared.io.shownData
  reader.io.readLink := shared.io.shownLink
  reader.io.reads := true.B
  reader.io.packet <> io.packet
  io.out <> reader.io.cell
  io.freeCells := freeList.io.freeCells
}

class FreeListTest extends AnyFlatSpec with Simulation {
  private val plain = LaneParams(cells = 256)
  private case class Packet(cells: Seq[Int], data: Seq[BigInt], lenBytes: Int)

  behavior of "free list, cell buffer and packet reader"

  they should "give out every cell once, lose none and return every byte in order" in rounds(plain)

  they should "do the same while reports read in spare cycles" in rounds(plain.copy(reports = true))

  private def rounds(p: LaneParams): Unit = simulate(new CellLoop(p)) { dut =>
    val random = new Random(2)
    val owned = mutable.Set.empty[Int]
    val writing = mutable.ArrayBuffer.empty[(Int, BigInt)]
    var target = 1
    val sent = mutable.Queue.empty[Packet] // handed to the reader
    val pending = mutable.Queue.empty[Packet]
    var dropped = Option.empty[Packet]
    var at = 0 // next cell of sent.head
    var packets, cells, drops = 0
    var longestRun, run = 0 // clocks in a row in which a cell left

    def clock(take: Double, dropChance: Double, ready: Double, maxCells: Int): Unit = {
      dut.io.report.valid.poke((random.nextDouble() < 0.8).B)
      dut.io.report.bits.poke(random.nextInt(p.cells).U)
      // ingress: a cell is taken and written in the same clock
      val takes = random.nextDouble() < take
      dut.io.cell.ready.poke(takes.B)
      val got = Option.when(takes && dut.io.cell.valid.peek().litToBoolean)(dut.io.cell.bits.peek().litValue.toInt)
      dut.io.write.valid.poke(got.isDefined.B)
      var finished = Option.empty[Packet]
      got.foreach { cell =>
        assert(owned.add(cell), s"cell $cell was handed out twice")
        val data = BigInt(512, random)
        dut.io.write.bits.cell.poke(cell.U)
        dut.io.write.bits.data.poke(data.U)
        dut.io.write.bits.hasPrevious.poke(writing.nonEmpty.B)
        dut.io.write.bits.previous.poke(writing.lastOption.map(_._1).getOrElse(0).U)
        writing.append(cell -> data)
        if (writing.size == target) {
          val len = (target - 1) * 64 + 1 + random.nextInt(64)
          finished = Some(Packet(writing.map(_._1).toSeq, writing.map(_._2).toSeq, len))
          writing.clear()
          target = 1 + random.nextInt(maxCells)
        }
      }
      // policy: a drop goes back a clock after its last cell was written
      dut.io.dropped.valid.poke(dropped.isDefined.B)
      dropped.foreach { d =>
        dut.io.dropped.bits.head.poke(d.cells.head.U)
        dut.io.dropped.bits.cells.poke(d.cells.size.U)
        d.cells.foreach(owned.remove)
        drops += 1
      }
      dropped = None
      // reader in
      dut.io.packet.valid.poke(pending.nonEmpty.B)
      pending.headOption.foreach { d =>
        dut.io.packet.bits.headCell.poke(d.cells.head.U)
        dut.io.packet.bits.cells.poke(d.cells.size.U)
        dut.io.packet.bits.lenBytes.poke(d.lenBytes.U)
      }
      val outReady = random.nextDouble() < ready
      dut.io.out.ready.poke(outReady.B)
      val accepted = pending.nonEmpty && dut.io.packet.ready.peek().litToBoolean
      // reader out
      if (outReady && dut.io.out.valid.peek().litToBoolean) {
        val d = sent.head
        dut.io.out.bits.data.expect(d.data(at).U)
        dut.io.out.bits.first.expect((at == 0).B)
        val last = at == d.cells.size - 1
        dut.io.out.bits.last.expect(last.B)
        dut.io.out.bits.validBytes.expect((if (last) d.lenBytes - 64 * at else 64).U)
        dut.io.out.bits.queueEntry.lenBytes.expect(d.lenBytes.U)
        at += 1
        cells += 1
        run += 1
        longestRun = longestRun.max(run)
        if (last) {
          sent.dequeue()
          packets += 1
          at = 0
          d.cells.foreach(owned.remove)
        }
      } else run = 0
      if (accepted) sent.enqueue(pending.dequeue())
      finished.foreach(d => if (random.nextDouble() < dropChance) dropped = Some(d) else pending.enqueue(d))
      dut.clock.step()
    }

    for (_ <- 0 until 1500) clock(1.0, 0.0, 1.0, 1) // single cells at full rate
    assert(longestRun > 1400, s"the longest run of cells without a bubble was $longestRun")
    for (_ <- 0 until 1500) clock(1.0, 0.0, 1.0, 9) // chains at full rate
    longestRun = 0
    for (_ <- 0 until 1500) clock(1.0, 0.2, 1.0, 5)
    for (_ <- 0 until 3000) clock(0.8, 0.3, 0.6, 12)
    for (_ <- 0 until 1500) clock(1.0, 0.05, 0.2, 6) // runs out of cells
    for (_ <- 0 until 1500) clock(0.3, 0.9, 1.0, 20)
    while (writing.nonEmpty) clock(1.0, 0.0, 1.0, 1)
    for (_ <- 0 until 600) clock(0.0, 0.0, 1.0, 1)
    assert(pending.isEmpty && sent.isEmpty && owned.isEmpty)
    dut.io.freeCells.expect(p.cells.U)
    assert(packets > 1500 && drops > 100 && cells > 4000, s"packets $packets drops $drops cells $cells")
    // All cells are still there.
    while (owned.size < p.cells && dut.io.cell.valid.peek().litToBoolean) {
      target = 1 << 20
      clock(1.0, 0.0, 1.0, 1)
    }
    assert(owned.size == p.cells)
    dut.io.freeCells.expect(0.U)
  }
}
