package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.control.{CurveShape, PolicyConfig}
import vermilion.decide.RandomSource
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.TakenPacket
import vermilion.stream.Colour

/** The mark curve of one colour, as [[CurveMarks]] uses it. */
class MarkCurve extends Bundle {
  val on = Bool()
  val min, max = UInt(LenBits.W) // bytes, or packets
  val first, second = UInt(LenBits.W) // widths of the segments; the second is 0 if the probability above `max` is 1
  val p = UInt(ProbBits.W) // the probability at `max`
}

/** What marks at departure need of a queue's settings. */
class MarkSettings extends Bundle {
  val on = Bool() // if low, every packet passes
  val packets = Bool() // unit of the curves; low: bytes
  val isDepth = Bool() // the curves are of what is queued; low: of the average
  val curves = Vec(Colour.Count, new MarkCurve)
}

object MarkSettings {

  /** The settings in a queue's configuration. ECT packets use the mark curve of their colour, or its drop curve if it has none. */
  def apply(config: PolicyConfig): MarkSettings = {
    val out = Wire(new MarkSettings)
    val weight = config.average.weight(0)
    out.on := config.colours.head.late && config.decide.ecn
    out.packets := config.average.unit
    out.isDepth := weight.mant === (1 << WeightMantBits - 1).U && weight.shift === 0.U // a weight of 1
    for ((to, colour) <- out.curves.zip(config.colours)) {
      val shape = Wire(new CurveShape)
      shape := Mux(colour.ecnOwn, colour.ecn.shape, colour.drop.shape)
      to.on := shape.on
      to.min := shape.min
      to.max := shape.max
      to.first := shape.max - shape.min
      to.second := Mux(shape.base2(ProbFrac), 0.U, shape.end - shape.max)
      to.p := shape.slope1
    }
    out
  }
}

/** The averages that a decision has changed. */
class Averaged(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val updated = Vec(Colour.Count, Bool())
  val average = Vec(Colour.Count, UInt(AvgBits.W))
}

/** What marks at departure have beside the packets. */
class MarkPorts(p: LaneParams) extends Bundle {
  val seed = Input(Valid(UInt(128.W)))
  val averaged = Input(Valid(new Averaged(p)))
}

/** A queue's settings, with its number. */
class QueueMarks(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val settings = new MarkSettings
}

/** Marks ECT packets by a RED curve as they leave (RFC 3168, RED by Floyd and Jacobson 1993, DCTCP by RFC 8257).
  *
  * The level a is what is queued behind the packet as it is taken, without the packet itself, if the weight of the queue's averages is 1. Otherwise it is the
  * average of the packet's colour that is newest when it is `taken`. A packet that is flushed is not marked.
  * {{{
  *   a < min:         no mark
  *   min <= a < max:  probability p (a - min) / (max - min)
  *   max <= a < end:  probability p + (1 - p) (a - max) / (end - max), or 1 if `second` is 0
  *   a >= end:        mark
  * }}}
  * A multiplication by a would come too late. So the curve is inverted: two random numbers u and v give the level from which on the packet is marked.
  * {{{
  *   u < p:  a > min + v (max - min)      u >= p:  a > max + v (end - max)      with a segment of width 0: a >= its beginning
  * }}}
  * u has 32 bits, v has [[CurveMarks.ShareBits]]. So the probability is exact to p 2^-17, never below the curve's. A step (min = max) is exact.
  *
  * Two draws for each ECT packet that is taken, not flushed, from a queue that marks at departure. They wait in registers, so the source is two draws ahead.
  * {{{
  *   0 taken: settings, averages      1 level, draws; segment      2 product; distance      3 comparison: mark
  * }}}
  * Rate: one packet per cycle. Settings apply from packets on that are taken in the cycle of the configuration. In the first `queues` cycles after a reset nothing
  * may come and nothing may be configured.
  */
class CurveMarks(p: LaneParams) extends Module {
  import CurveMarks._

  val io = IO(new Bundle {
    val ports = new MarkPorts(p)
    val configure = Flipped(Valid(new QueueMarks(p)))
    val taken = Flipped(Valid(new TakenPacket(p)))
    val flushed = Input(Bool()) // with `taken`
    val behind = Input(UInt(LenBits.W)) // bytes that are queued behind it, one cycle after `taken`
    val packetsBehind = Input(UInt((p.cellBits + 1).W))
    val mark = Output(Bool())
  })
  private val sweep = new SweepInit(p.queues)

  // -- settings and averages --
  private val settings = new ForwardingRam(p.queues, new MarkSettings).suggestName("settings")
  private val cleared = WireInit(io.configure.bits.settings) // a queue that is off does not use the rest
  cleared.on := false.B
  settings.write(!sweep.done, sweep.address, cleared)
  settings.write(io.configure.valid, io.configure.bits.queue, io.configure.bits.settings)
  // Not cleared: the decision of a packet writes the average of its colour before the packet is queued.
  private val averaged = io.ports.averaged.bits
  private val averages = Seq.tabulate(Colour.Count) { e =>
    val ram = new ForwardingRam(p.queues, UInt(AvgBits.W)).suggestName(s"average_$e")
    ram.write(io.ports.averaged.valid && averaged.updated(e), averaged.queue, averaged.average(e))
    ram
  }

  // -- cycle 0: the packet --
  private val entry = io.taken.bits.queueEntry
  private val isEct = (entry.isIp4 || entry.isIp6) && entry.dsField.get(1, 0).orR
  private val s1Asks = RegNext(io.taken.valid && isEct && !io.flushed, false.B)
  private val s1Colour = Delay(entry.colour)

  // -- cycle 1: the threshold --
  private val s1 = settings.read(io.taken.bits.queue)
  private val s1Average = VecInit(averages.map(_.read(io.taken.bits.queue)))(s1Colour)
  private val s1Depth = Mux(s1.packets, io.packetsBehind.pad(LenBits), io.behind)
  private val s1Curve = s1.curves(s1Colour)
  private val s1Decides = s1Asks && s1.on
  private val draws = Module(new RandomSource(pairs = true, atReset = RandomSource.rotated(RandomSource.resetState, 2)))
  private val stale = RegInit(true.B) // the registers of the draws do not follow the source's state
  private val u, v = Reg(UInt(32.W))
  draws.io.seed.valid := io.ports.seed.valid
  draws.io.seed.bits := RandomSource.rotated(io.ports.seed.bits, 2) // DualPI2 has the same seed
  draws.io.next := s1Decides || stale
  stale := io.ports.seed.valid && io.ports.seed.bits.orR // a seed of 0 is ignored
  when(draws.io.next) {
    u := draws.io.draw
    v := draws.io.second.get
  }
  private val s1IsFirst = u < s1Curve.p
  private val s1Width = Mux(s1IsFirst, s1Curve.first, s1Curve.second)
  private val s2Width = Delay(s1Width)
  private val s2Share = Delay(v(31, 32 - ShareBits))
  private val s2From = Delay(Mux(s1IsFirst, s1Curve.min, s1Curve.max))
  private val s2Level = Delay(Mux(s1.isDepth, s1Depth << AvgFrac, s1Average))
  private val s2Decides = RegNext(s1Decides && s1Curve.on, false.B)

  // -- cycle 2: how far into the segment the level and the threshold are, with as many fraction bits as v has --
  private val s3Threshold = Delay(s2Width * s2Share)
  private val s3Distance = Delay((s2Level << (ShareBits - AvgFrac)).zext - (s2From << ShareBits).zext)
  private val s3IsStep = Delay(s2Width === 0.U)
  private val s3Decides = RegNext(s2Decides, false.B)

  // -- cycle 3: the comparison --
  io.mark := s3Decides && s3Distance >= 0.S && (s3IsStep || s3Distance.asUInt > s3Threshold)

  assert(sweep.done || !io.taken.valid, "a packet came before the memories are cleared")
  assert(sweep.done || !io.configure.valid, "a queue was configured before the memories are cleared")
}

object CurveMarks {

  /** Cycles from `taken` to `mark`. */
  val Latency: Int = 3

  /** Bits of the random number that spreads thresholds over a segment. */
  val ShareBits: Int = 17
}
