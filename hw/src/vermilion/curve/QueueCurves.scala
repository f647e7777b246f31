package vermilion.curve

import chisel3._
import chisel3.util.Valid
import vermilion.control.{ColourConfig, CurveInverses, CurveShape}
import vermilion.fixed.{Delay, Memory, MemoryKind}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** The curves of a queue's colours, committed as a whole. */
class CurveCommit(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colours = Vec(Colour.Count, new ColourConfig)
}

/** Selects the curves for an average. */
class CurveRequest(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val colour = UInt(2.W)
}

/** Stores the curves of all queues and applies the packet's ones in a [[CurveUnit]]: one request per cycle.
  *
  * There is one memory per colour. Cycles are counted from that of the average:
  * {{{
  *   -4  request or commit: inverses are read, or written          -2  thresholds are read, or written
  *   -3  those of the colour are selected; ratio                   -1  those of the colour are selected        0  average, canMark
  * }}}
  * The bits of a commit must be stable for three cycles.
  */
class QueueCurves(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val commit = Flipped(Valid(new CurveCommit(p)))
    val request = Flipped(Valid(new CurveRequest(p)))
    val ratio = Input(UInt(RatioBits.W))
    val average = Input(UInt(AvgBits.W))
    // the packet can be marked in this queue; it uses the mark curve if its colour has one, or none if it is marked as it leaves
    val canMark = Input(Bool())
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
    val late = Option.when(p.codel)(Bool())
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
    shape.late.foreach(_ := colour.late)
    inverses(c).write(commits, io.commit.bits.queue, inverse)
    shapes(c).write(commitsLater, io.commit.bits.queue, shape)
  }

  private val requests = Seq.iterate(io.request.bits, 4)(Delay(_)) // in cycles -4 to -1
  // Read in cycle `clock`; the request's colour selects in the next cycle.
  private def ofColour[T <: Data](memories: Seq[Memory[T]], clock: Int): T =
    VecInit(memories.map(_.read(requests(clock + 4).queue)))(requests(clock + 5).colour)
  private val inversesRead = ofColour(inverses, -4)
  private val shapesRead = Delay(ofColour(shapes, -2))
  private val unit = Module(new CurveUnit(p.codel))
  unit.io.dropInverses := inversesRead.drop
  unit.io.markInverses := inversesRead.ecn
  unit.io.ratio := io.ratio
  unit.io.average := io.average
  unit.io.drop := shapesRead.drop
  unit.io.mark := shapesRead.ecn
  unit.io.mayMark := io.canMark && shapesRead.ecnOwn
  unit.io.none.zip(shapesRead.late).foreach { case (none, late) => none := io.canMark && late }
  io.forced := unit.io.forced
  io.probability := unit.io.probability
}

object QueueCurves {

  /** Cycles from the average to request and commit, to `forced` and to `probability`. */
  val Request: Int = -1 - CurveUnit.Early
  val Forced: Int = 1
  val Latency: Int = CurveUnit.Latency
}
