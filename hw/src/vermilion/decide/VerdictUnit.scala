package vermilion.decide

import chisel3._
import chisel3.util._
import vermilion.departure.PieVerdict
import vermilion.fixed.Arithmetic.all
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Verdict

/** The inputs of a verdict. The flags are in order of priority. */
class VerdictInputs extends Bundle {
  val bad = Bool()
  val noBuffer = Bool()
  val policed = Bool()
  val overLimit = Bool()
  val overEnd = Bool() // the average is over the end of the drop curve
  val canMark = Bool() // ECT or CE, and the queue has ECN on
  val geometric, waits = Bool() // spacing; neither: uniform
  val probability = UInt(ProbBits.W)
  val notDraw = UInt(32.W) // ~draw, because -R is needed
  val pie = new PieVerdict // in queues without curves
}

/** Decides each packet's verdict, with the spacing of early drops: one per cycle.
  *
  * {{{
  *   geometric: early = draw < p
  *   uniform:   S <- S + p, early = S >= R
  *   wait:      S <- S + p, early = S >= 1 + R
  *   p = 1: early. p = 0: S <- 0 and R is forgotten. After an early verdict of the last two, and a forced one of any, S <- 0, R <- draw.
  * }}}
  * The accumulator S stands for Floyd's product count p (Floyd and Jacobson 1993, method 2). Both are equal while p is constant.
  * R is drawn at first use. It is drawn again at the first p above 0 after a p of 0, when the average has come back over `min`.
  * Frames that are bad, without buffer, policed or over the limit do not change S and R.
  *
  * The state per queue and colour is in RAM: S - R, from -1 to below 1. So the one-cycle loop is one addition. At S = 0 its fraction is stored as ~R, and the
  * missing 1 is added with the next p. An R drawn now has the same form. A second addition in parallel handles it. It also compares a geometric draw, without
  * that 1. In parallel, other logic selects which of the two carries, if any, is the result. The carry and `overLimit` are known last.
  * The loop begins and ends in registers. The RAM is read one cycle before. The end of the loop selects the state of the packet before over the RAM's.
  *
  * Timing: `queue` and `colour` in cycle t, `inputs` and result in cycle t+2.
  */
class VerdictUnit(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val queue = Input(UInt(p.queueBits.W))
    val colour = Input(UInt(2.W))
    val inputs = Flipped(Valid(new VerdictInputs))
    val verdict = Output(UInt(Verdict.Bits.W))
    // Verdict.admits of a valid verdict; computed in parallel with the verdict, not from it
    val admits = Output(Bool())
    val ready = Output(Bool())
  })
  private class State extends Bundle {
    val armed = Bool() // R has been drawn; else S = 0
    val ahead = Bool() // S >= R
    val excess = UInt(ProbFrac.W) // the fraction of S - R, less one unit if `begins`
    val begins = Bool()
  }
  private val depth = p.queues * 4
  private val ram = new ForwardingRam(depth, new State)
  private val sweep = new SweepInit(depth)
  io.ready := sweep.done

  private val address = Cat(io.queue, io.colour)
  private val old = Reg(new State)
  private val in = io.inputs.bits

  private val always = in.probability(ProbFrac)
  private val isZero = all((0 until ProbBits by 6).map(low => !in.probability((low + 5).min(ProbBits - 1), low).orR))
  private val isAhead = old.armed && old.ahead

  /** The fraction of S - R + p with its carry, plus one unit if `begins`. The lowest bits add that unit: `begins` twice. */
  private def plus(x: UInt, begins: Bool): UInt = (Cat(in.probability(ProbFrac - 1, 0), begins) +& Cat(x, begins)) >> 1
  private val sum =
    Mux(old.armed, plus(old.excess, old.begins), plus(in.notDraw, true.B))

  /** The same carry in a chain of its own. It passes at the end only with `passes`. `yes` forces a one. */
  private def reaches(x: UInt, begins: Bool, passes: Bool, yes: Bool): Bool =
    (Cat(yes || passes, in.probability(ProbFrac - 1, 0), begins) +& Cat(yes, x, begins))(ProbFrac + 2)
  private val isEarly = !isZero && (
    reaches(
      old.excess,
      old.begins,
      passes = old.armed && !in.geometric && (old.ahead || !in.waits),
      yes = always || (isAhead && !in.geometric && !in.waits)
    ) || reaches(in.notDraw, !in.geometric, passes = in.geometric || (!old.armed && !in.waits), yes = false.B)
  )
  private val restart = in.overEnd || isEarly

  private val next = Wire(new State)
  next.armed := arms(in, old.armed, restart)
  next.begins := restart
  next.ahead := !restart && (isAhead || sum(ProbFrac))
  next.excess := Mux(restart, in.notDraw, sum(ProbFrac - 1, 0))
  private val changes = (io.inputs.valid && writes(in)) && !in.overLimit
  private val again = Delay(Delay(address) === address) // the next packet has the same state
  old := Mux(changes && again, next, ram.read(address))
  ram.write(changes, Delay(address, 2), next)
  ram.write(!sweep.done, sweep.address, 0.U.asTypeOf(new State))

  io.verdict := verdict(in, in.overLimit, isEarly)
  io.admits := (io.inputs.valid && admits(in, isEarly)) && !in.overLimit

  /** The verdict; `early` is the result of the spacing. */
  private def verdict(in: VerdictInputs, overLimit: Bool, early: Bool): UInt = MuxCase(
    Verdict.Enqueue.U,
    Seq(
      in.bad -> Verdict.Bad.U,
      in.noBuffer -> Verdict.NoBuffer.U,
      in.policed -> Verdict.Policed.U,
      overLimit -> Verdict.Tail.U,
      in.overEnd -> Verdict.Forced.U,
      ((early && in.canMark) || in.pie.mark) -> Verdict.Mark.U,
      (early || in.pie.drop) -> Verdict.Early.U
    )
  )

  /** Tells whether a packet that is not over the limit is admitted. */
  private def admits(in: VerdictInputs, early: Bool): Bool =
    !refused(in) && !in.overEnd && Mux(early, in.canMark, !in.pie.drop)

  private def never(in: VerdictInputs): Bool = in.probability === 0.U

  /** Tells whether R is kept for the next packet. p = 0 forgets R. If this draw was R and has decided, the next packet draws another R. */
  private def arms(in: VerdictInputs, armed: Bool, early: Bool): Bool =
    in.overEnd || (!never(in) && (armed || !early))

  /** Tells whether a packet that is not over the limit changes S or R. */
  private def writes(in: VerdictInputs): Bool = !refused(in) && (!in.geometric || in.overEnd)

  /** Frames that leave S and R unchanged, like those over the limit. */
  private def refused(in: VerdictInputs): Bool = in.bad || in.noBuffer || in.policed
}

object VerdictUnit {

  /** Cycles from `queue` and `colour` to the verdict. */
  val Ahead = 2
}
