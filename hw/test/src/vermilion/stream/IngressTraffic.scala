package vermilion.stream

import chisel3.{assert => _, _}
import chisel3.simulator.PeekPokeAPI
import org.scalatest.Assertions.assert
import scala.collection.mutable
import scala.util.Random
import vermilion.{Bits, Pins}
import vermilion.lane.LaneParams
import vermilion.parse.{HeaderReference, PeekHeaders}

/** A frame to send; `badKeep` puts a hole into its last beat. */
case class TestFrame(bytes: Array[Int], bad: Boolean = false, badKeep: Boolean = false)

/** Drives an [[IngressBench]] and knows what must become of every frame, clock by clock.
  *
  * Each frame either gives a descriptor, in order on its input, whose chain holds the frame's bytes, or is shown on `lost`, `LostLatency`
  * clocks after its last beat. Which of the two is known: a frame of an input that cannot be stalled is lost exactly if a reset cut it,
  * if its first cell comes before `running`, or if all places for descriptors are taken then; one that can be stalled, only if cut.
  */
class IngressTraffic(dut: IngressBench, p: LaneParams, random: Random) extends PeekPokeAPI {
  private val beatBytes = p.dataBits / 8
  private val fullKeep = (BigInt(1) << beatBytes) - 1

  /** Probability, in each clock, of: a beat on an input, readiness of `descriptor`, an offer of a free cell. */
  var source, descriptorReady, freeOffered = 1.0
  var running = true
  var reset = false

  /** Frames may lack cells without being too long: cells or turns are scarce. */
  var mayStarve = false

  private class Flight(val frame: TestFrame) {
    var beats = 0
    var bytesSinceReset = 0
    var lost = false
    var firstCellAt, endedAt = -1L
    def done: Boolean = beats == (frame.bytes.length + beatBytes - 1) / beatBytes
  }
  private class Wire {
    val waiting = mutable.Queue[TestFrame]()
    val inside = mutable.Queue[Flight]() // begun, no outcome yet; the newest may still be coming
    var offered = false
    var places = 0
    def coming: Option[Flight] = inside.lastOption.filterNot(_.done)
  }
  private val wires = Seq.fill(p.inputs)(new Wire)
  private val free = mutable.Queue[Int]()
  private val held = mutable.Set[Int]() // given out, not yet returned
  private val written = mutable.Map[Int, Seq[Int]]()
  private val next = mutable.Map[Int, Int]()
  private val pins = new Pins
  private var allocOffered = false
  private var resetShown = Option.empty[Boolean]
  var clocks, sent, descriptors, lost, vanished, starved, unparsed, stalls, bytesIn, bytesOut = 0L
  refill()

  def send(input: Int, frame: TestFrame): Unit = wires(input).waiting += frame
  def idle: Boolean = wires.forall(w => w.waiting.isEmpty && w.inside.isEmpty)
  def onTheWire: Boolean = wires.exists(w => w.waiting.nonEmpty || w.coming.nonEmpty)
  def cellsOut: Int = held.size
  def unread: Int = written.size

  private def refill(): Unit = {
    Seq(held, written, next).foreach(_.clear())
    free.clear()
    free ++= random.shuffle((0 until p.cells).toList)
  }

  def clock(): Unit = {
    if (!resetShown.contains(reset)) dut.reset.poke(reset.B)
    resetShown = Some(reset)
    pins.set(dut.io.running, running && !reset)
    wires.indices.foreach(drive)
    allocOffered = !reset && free.nonEmpty && (allocOffered || random.nextDouble() < freeOffered)
    pins.set(dut.io.alloc.valid, allocOffered)
    if (allocOffered) pins.set(dut.io.alloc.bits, free.head)
    val takesDescriptor = random.nextDouble() < descriptorReady
    pins.set(dut.io.descriptor.ready, takesDescriptor)

    wires.indices.foreach(judge)
    if (!reset && takesDescriptor && dut.io.descriptor.valid.peek().litToBoolean) checkDescriptor()
    if (!reset && dut.io.write.valid.peek().litToBoolean) takeWrite()
    wires.indices.foreach(accept)
    if (allocOffered && dut.io.alloc.ready.peek().litToBoolean) {
      held += free.dequeue()
      allocOffered = false
    }
    dut.clock.step()
    clocks += 1
    if (reset) forget()
  }

  private def drive(i: Int): Unit = {
    val w = wires(i)
    val there = w.coming.nonEmpty || w.waiting.nonEmpty
    w.offered = there && (w.offered || random.nextDouble() < source)
    val in = dut.io.in(i)
    pins.set(in.valid, w.offered)
    if (w.offered) {
      val f = w.coming.map(_.frame).getOrElse(w.waiting.head)
      val at = w.coming.map(_.beats).getOrElse(0) * beatBytes
      val bytes = f.bytes.slice(at, at + beatBytes).toSeq
      val last = at + beatBytes >= f.bytes.length
      val ones = (BigInt(1) << bytes.size) - 1
      pins.set(in.bits.data, Bits.pack(bytes ++ Seq.fill(beatBytes - bytes.size)(random.nextInt(256))))
      // A hole below the top lane keeps the length what it was.
      pins.set(in.bits.keep, if (f.badKeep && last && bytes.size > 1) ones - 1 else if (last) ones else fullKeep)
      pins.set(in.bits.last, last)
      pins.set(in.bits.bad, if (last) f.bad else random.nextBoolean())
    }
  }

  /** Whose first cell comes in this clock: in or lost; and who is shown as lost. */
  private def judge(i: Int): Unit = {
    val w = wires(i)
    for (f <- w.inside if f.firstCellAt == clocks && !reset) {
      if (!p.stallable(i) && (!running || w.places == Ingress.DescriptorDepth)) f.lost = true
      if (!f.lost) w.places += 1
    }
    val shown = dut.io.lost(i)
    val due = w.inside.find(f => f.lost && f.done && f.endedAt + Ingress.LostLatency == clocks).filterNot(_ => reset)
    assert(shown.valid.peek().litToBoolean == due.nonEmpty, s"clock $clocks, input $i: lost frames shown")
    for (f <- due) {
      assert(shown.bits.peek().litValue.toInt == f.bytesSinceReset.min(65535), s"clock $clocks: length of a lost frame")
      w.inside -= f
      lost += 1
      bytesOut += f.bytesSinceReset
    }
  }

  private def accept(i: Int): Unit = {
    val w = wires(i)
    val ready = dut.io.in(i).ready.peek().litToBoolean
    if (!p.stallable(i)) assert(ready, s"clock $clocks: input $i is not ready")
    else assert(!(ready && (reset || !running)), s"clock $clocks: input $i is open")
    if (w.offered && !ready) stalls += 1
    if (w.offered && ready) {
      if (w.coming.isEmpty) w.inside += new Flight(w.waiting.dequeue())
      val f = w.coming.get
      val size = (f.frame.bytes.length - f.beats * beatBytes).min(beatBytes)
      f.beats += 1
      if (!reset) {
        f.bytesSinceReset += size
        bytesIn += size
      }
      if (f.firstCellAt < 0 && (f.done || f.beats * beatBytes == 64)) f.firstCellAt = clocks + Ingress.LostLatency
      if (f.done) {
        f.endedAt = clocks
        sent += 1
      }
      w.offered = false
    }
  }

  private def checkDescriptor(): Unit = {
    val m = dut.io.descriptor.bits
    val w = wires(m.input.peek().litValue.toInt)
    assert(w.inside.nonEmpty && w.inside.head.done, s"clock $clocks: a descriptor without a frame")
    val flight = w.inside.dequeue()
    val f = flight.frame
    val where = s"clock $clocks, frame of ${f.bytes.length} bytes"
    assert(!flight.lost, s"$where: a descriptor of a frame that should have been left out")
    w.places -= 1
    val cells = m.cells.peek().litValue.toInt
    val noBuffer = m.noBuffer.peek().litToBoolean
    val needed = (f.bytes.length + 63) / 64
    assert(m.lenBytes.peek().litValue.toInt == f.bytes.length.min(65535), where)
    assert(m.bad.peek().litToBoolean == (f.bad || (f.badKeep && (f.bytes.length - 1) % beatBytes > 0)), where)
    // Where more than one input cannot be stalled, a frame's head may find no turn; then nothing is known of it.
    val headers = PeekHeaders(m.headers)
    val unread = noBuffer && cells < 2 && p.stallable.count(!_) > 1 && headers == HeaderReference()
    assert(unread || headers == HeaderReference.parse(f.bytes), where)
    if (unread && headers != HeaderReference.parse(f.bytes)) unparsed += 1
    if (f.bytes.length > p.maxFrameBytes) {
      assert(noBuffer && cells <= p.maxFrameBytes / 64, where)
      if (!mayStarve) assert(cells == p.maxFrameBytes / 64, where)
    } else {
      assert(noBuffer == (cells < needed) && cells <= needed, where)
      if (noBuffer) { assert(mayStarve, s"$where: no buffer though cells were free"); starved += 1 }
    }
    var at = m.headCell.peek().litValue.toInt
    val stored = (0 until cells).flatMap { k =>
      val here = written.remove(at)
      assert(here.isDefined, s"$where: descriptor before its cell $k was written")
      assert(held.remove(at), where)
      free.enqueue(at)
      if (k < cells - 1) at = next(at)
      here.get
    }
    val comparable = f.bytes.length.min(cells * 64)
    assert(stored.take(comparable) == f.bytes.toSeq.take(comparable), where)
    descriptors += 1
    bytesOut += f.bytes.length
  }

  private def takeWrite(): Unit = {
    val w = dut.io.write.bits
    val cell = w.cell.peek().litValue.toInt
    assert(held(cell) && !written.contains(cell), s"clock $clocks: cell $cell written without being taken")
    written(cell) = Bits.unpack(w.data.peek().litValue, 64)
    if (w.hasPrevious.peek().litToBoolean) next(w.previous.peek().litValue.toInt) = cell
  }

  /** A clock of reset is over: what was in is gone, what is still coming is cut. */
  private def forget(): Unit = {
    for (w <- wires) {
      vanished += w.inside.count(_.done)
      bytesIn -= w.inside.map(_.bytesSinceReset).sum
      w.inside.filterInPlace(!_.done)
      w.inside.foreach { f =>
        f.lost = true
        f.bytesSinceReset = 0
        f.firstCellAt = Long.MaxValue // judged already
      }
      w.places = 0
    }
    refill()
  }
}
