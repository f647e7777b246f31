package vermilion.curve

import chisel3._
import chisel3.util.Valid
import vermilion.control.{ColourConfig, CurveInverses, CurveShape}
import vermilion.fixed.{Delay, Memory, MemoryKind}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** The curves of a queue's colours, to be taken as a whole. */
class CurveCommit(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colours = Vec(Colour.Count, new ColourConfig)
}

/** Whose curves an average is going to meet. */
class CurveRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
}

/** [[CurveUnit]] with the curves of all queues, a memory a colour, for a request in every clock. Clocks count from that of the average:
  * {{{
  *   -4  request or commit: the inverses are read, or written    -2  the thresholds are
  *   -3  the colour's are chosen; ratio                          -1  the colour's are chosen        0  average, canMark
  * }}}
  * A commit's bits stand for three clocks.
  */
class QueueCurves(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val commit = Flipped(Valid(new CurveCommit(p)))
    val request = Flipped(Valid(new CurveRequest(p)))
    val ratio = Input(UInt(RatioBits.W))
    val average = Input(UInt(AvgBits.W))
    val canMark = Input(Bool()) // the packet, in this queue; by the mark curve if its colour has one
    val forced = Output(Bool())
    val probability = Output(UInt(ProbBits.W))
  })

  private class Inverses extends Bundle {
    val drop = CurveInverses()
    val ecn = CurveInverses()
  }
  private class Shapes extends Bundle {
    val drop = new CurveShape
    val ecnOwn = Bool()
    val ecn = new CurveShape
  }
  private def memories[T <: Data](record: T): Seq[Memory[T]] =
    Seq.fill(Colour.Count)(new Memory(p.queues, record, MemoryKind.of(p.queues)))
  private val inverses = memories(new Inverses)
  private val shapes = memories(new Shapes)
  private val commits = io.commit.valid
  private val commitsLater = Delay(commits && !reset.asBool, 2)
  for ((colour, c) <- io.commit.bits.colours.zipWithIndex) {
    val (inverse, shape) = (Wire(new Inverses), Wire(new Shapes))
    inverse.drop := colour.drop.inverses
    inverse.ecn := colour.ecn.inverses
    shape.drop := colour.drop.shape
    shape.ecnOwn := colour.ecnOwn
    shape.ecn := colour.ecn.shape
    inverses(c).write(commits, io.commit.bits.queue, inverse)
    shapes(c).write(commitsLater, io.commit.bits.queue, shape)
  }

  private val requests = Seq.iterate(io.request.bits, 4)(Delay(_)) // in clocks -4 to -1
  private def ofColour[T <: Data](memories: Seq[Memory[T]], clock: Int): T = // and that of the read
    VecInit(memories.map(_.read(requests(clock + 4).queue)))(requests(clock + 5).colour)
  private val inversesRead = ofColour(inverses, -4)
  private val shapesRead = Delay(ofColour(shapes, -2))
  private val unit = Module(new CurveUnit)
  unit.io.dropInverses := inversesRead.drop
  unit.io.markInverses := inversesRead.ecn
  unit.io.ratio := io.ratio
  unit.io.average := io.average
  unit.io.drop := shapesRead.drop
  unit.io.mark := shapesRead.ecn
  unit.io.mayMark := io.canMark && shapesRead.ecnOwn
  io.forced := unit.io.forced
  io.probability := unit.io.probability
}

object QueueCurves {

  /** Clocks from the average to request and commit, to `forced` and to `probability`. */
  val Request: Int = -1 - CurveUnit.Early
  val Forced: Int = 1
  val Latency: Int = CurveUnit.Latency
}
