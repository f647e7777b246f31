package vermilion.decide

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.fixed.SweepInit
import vermilion.lane.LaneParams

/** What [[VerdictUnit]] says, for verdicts that are 8 clocks apart or more, at the same ports.
  *
  * S - R and R are in block RAMs of their own. R is written where it is drawn, and always as this packet's draw; S - R always as the sum. Where S
  * is 0, S - R is made of R when it is read.
  *
  * Timing: `queue` and `colour` in clock t, `inputs` and result in clock t+3. What the RAMs give stands in registers of the logic for the verdict.
  */
class VerdictUnitInTurn(p: LaneParams) extends VerdictSaying(p) {
  import VerdictUnitInTurn.Ahead
  private class State extends Bundle {
    val armed = Bool() // R has been drawn; else S = 0
    val begins = Bool() // S = 0
    val excess = UInt((SpaceBits + 1).W) // S - R, where neither says more
  }
  private val depth = p.queues * 4
  private val sweep = new SweepInit(depth)
  io.ready := sweep.done
  private val address = Cat(io.queue, io.colour)
  private val ahead = Delay(address, Ahead) // of the packet whose inputs are there

  // In block RAM, which is 512 deep anyway.
  private val states = SyncReadMem(depth.max(512), new State)
  private val starts = SyncReadMem(depth.max(512), UInt(32.W)) // ~R
  private val old = Delay(states.read(address), Ahead - 1)
  private val oldStart = Delay(starts.read(address), Ahead - 1)
  private val in = io.inputs.bits

  private val begins = !old.armed || old.begins
  private val start = Mux(old.armed, oldStart, in.notDraw)
  private val excess = Mux(begins, Cat(Fill(SpaceBits + 1 - 32, 1.U(1.W)), start), old.excess)
  // One carry chain: the lowest bits are `begins` twice, whose carry makes -R of ~R. S stays below 2, so this never overflows.
  private val sum = ((Cat(in.probability.pad(SpaceBits + 1), begins) + Cat(excess, begins)) >> 1)(SpaceBits, 0)
  private val isEarly = early(sum)
  io.verdict := verdict(in, in.overLimit, isEarly)
  io.admits := io.inputs.valid && admits(in, isEarly) && !in.overLimit

  private val next = Wire(new State)
  next.armed := sweep.done && arms(in, old.armed, isEarly)
  next.begins := in.overEnd || isEarly
  next.excess := sum
  private val changes = io.inputs.valid && writes(in) && !in.overLimit
  when(changes || !sweep.done) { states.write(Mux(sweep.done, ahead, sweep.address), next) }
  when(changes && (next.begins || !old.armed)) { starts.write(ahead, in.notDraw) }

  /** Does spacing drop the packet early? `sum` is S + p - R, in two's complement; S + p is below 2. */
  private def early(sum: UInt): Bool = {
    val overOne = sum(SpaceBits - 1, ProbFrac).orR
    val spaced = !sum(SpaceBits) && (!in.waits || overOne)
    !never(in) && (in.probability(ProbFrac) || Mux(in.geometric, (~in.notDraw).asUInt < in.probability, spaced))
  }
}

object VerdictUnitInTurn {

  /** Clocks from `queue` and `colour` to the verdict. */
  val Ahead = 3
}
