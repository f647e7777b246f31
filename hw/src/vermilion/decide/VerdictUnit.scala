package vermilion.decide

import chisel3._
import chisel3.util._
import vermilion.control.Spacing
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Verdict

/** What a verdict hangs on. The flags are in the order in which they are asked. */
class VerdictInputs extends Bundle {
  val bad = Bool()
  val noBuffer = Bool()
  val policed = Bool()
  val overLimit = Bool()
  val overEnd = Bool() // average over the end of the drop curve
  val canMark = Bool() // ECT or CE, and the queue does ECN
  val spacing = UInt(2.W)
  val probability = UInt(ProbBits.W)
  val draw = UInt(32.W)
}

/** The ports of what says a verdict. */
abstract class VerdictSaying(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val queue = Input(UInt(p.queueBits.W))
    val colour = Input(UInt(2.W))
    val inputs = Flipped(Valid(new VerdictInputs))
    val verdict = Output(UInt(Verdict.Bits.W))
    val ready = Output(Bool())
  })

  /** The verdict, where spacing says whether it is `early`. */
  protected def verdict(in: VerdictInputs, early: Bool): UInt = MuxCase(
    Verdict.Enqueue.U,
    Seq(
      in.bad -> Verdict.Bad.U,
      in.noBuffer -> Verdict.NoBuffer.U,
      in.policed -> Verdict.Policed.U,
      in.overLimit -> Verdict.Tail.U,
      in.overEnd -> Verdict.Forced.U,
      (early && in.canMark) -> Verdict.Mark.U,
      early -> Verdict.Early.U
    )
  )

  /** Does spacing drop the packet early? `sum` is S + p - R, in two's complement; S + p is below 2. */
  protected def early(in: VerdictInputs, sum: UInt): Bool = {
    val overOne = sum(SpaceBits - 1, ProbFrac).orR
    val spaced = !sum(SpaceBits) && (in.spacing =/= Spacing.Wait.U || overOne)
    !never(in) && (in.probability(ProbFrac) || Mux(geometric(in), in.draw < in.probability, spaced))
  }
  protected def never(in: VerdictInputs): Bool = in.probability === 0.U
  protected def geometric(in: VerdictInputs): Bool = in.spacing === Spacing.Geometric.U

  /** Is R kept for the next packet? p = 0 forgets it; and where this draw was R and has decided, the next packet draws another. */
  protected def arms(in: VerdictInputs, armed: Bool, early: Bool): Bool =
    in.overEnd || (!never(in) && (armed || !early))

  /** Does the packet change S or R? */
  protected def writes(inputs: Valid[VerdictInputs]): Bool =
    inputs.valid && !ignored(inputs.bits) && (!geometric(inputs.bits) || inputs.bits.overEnd)

  /** Frames that leave S and R alone. */
  protected def ignored(in: VerdictInputs): Bool = in.bad || in.noBuffer || in.policed || in.overLimit
}

object VerdictUnit {

  /** Clocks from `queue` and `colour` to the verdict. */
  def ahead(p: LaneParams): Int = if (p.inTurn) VerdictUnitInTurn.Ahead else Ahead
  private val Ahead = 2

  def apply(p: LaneParams): VerdictSaying = if (p.inTurn) new VerdictUnitInTurn(p) else new VerdictUnit(p)
}

/** Spacing of early drops and the verdict, one a clock.
  *
  * {{{
  *   geometric: early = draw < p
  *   uniform:   S <- S + p, early = S >= R
  *   wait:      S <- S + p, early = S >= 1 + R
  *   p = 1: early. p = 0: S <- 0 and R is forgotten. After an early verdict of the last two, and a forced one of any, S <- 0, R <- draw.
  * }}}
  * The accumulator S stands for Floyd's product count p (Floyd and Jacobson 1993, method 2), equal while p is steady. R is drawn at first use
  * and again at the first p above 0 that follows a p of 0, when the average has come back over `min`.
  * Frames that are bad, without buffer, policed or over the limit leave S and R alone. State per queue and colour in RAM: S - R, so that the
  * one-clock loop is one addition whose sign is the answer. At S = 0 it stands as ~R, and the 1 that is missing goes in with the next p. The loop
  * begins and ends in registers: the RAM is read a clock before it, and what the packet just ahead leaves is chosen over it behind the loop.
  *
  * Timing: `queue` and `colour` in clock t, `inputs` and result in clock t+2.
  */
class VerdictUnit(p: LaneParams) extends VerdictSaying(p) {
  private class State extends Bundle {
    val armed = Bool() // R has been drawn; else S = 0
    val excess = SInt((SpaceBits + 1).W) // S - R, or one less where `begins`
    val begins = Bool()
    val start = UInt(32.W) // ~R
  }
  private val depth = p.queues * 4
  private val ram = new ForwardingRam(depth, new State)
  private val sweep = new SweepInit(depth)
  io.ready := sweep.done

  private val address = Cat(io.queue, io.colour)
  private val ahead = Delay(Delay(address)) // of the packet whose inputs are there
  private val old = Reg(new State)
  private val in = io.inputs.bits

  /** S - R at S = 0, less 1. */
  private def atStart(start: UInt): SInt = Cat(Fill(SpaceBits + 1 - 32, 1.U(1.W)), start).asSInt

  private val start = Mux(old.armed, old.start, ~in.draw)
  private val begins = !old.armed || old.begins
  private val excess = Mux(old.armed, old.excess, atStart(~in.draw))
  // One carry chain: the lowest bits are `begins` twice, whose carry is the 1 that is missing. S stays below 2, so this never overflows.
  private val sum = ((Cat(excess, begins) + Cat(in.probability.pad(SpaceBits + 1), begins)) >> 1)(SpaceBits, 0).asSInt
  private val isEarly = early(in, sum.asUInt)

  private val restart = in.overEnd || isEarly
  private val next = Wire(new State)
  next.armed := arms(in, old.armed, isEarly)
  next.start := Mux(restart, ~in.draw, start)
  next.begins := restart
  next.excess := Mux(restart, atStart(~in.draw), sum)
  private val changes = writes(io.inputs)
  old := ram.read(address)
  when(changes && ahead === Delay(address)) { old := next }
  ram.write(changes, ahead, next)
  ram.write(!sweep.done, sweep.address, 0.U.asTypeOf(new State))

  io.verdict := verdict(in, isEarly)
}
