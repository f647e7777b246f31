package vermilion.average

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.fixed.{Delay, ForwardingRam, SnapshotRam, SweepInit}
import vermilion.lane.LaneParams
import vermilion.stream.Colour

/** The queue averages of all colours where two requests are eight clocks apart or more: one subtract, multiplier, shifter and sum, through which the
  * three estimators go a clock apart.
  *
  * What an average becomes is no matter of the packet's colour, only whether it is kept: so all three are begun before the colour is known. Each is
  * written before the next request reads it, so nothing is forwarded and nothing is looked ahead: n is 1, the loop is Floyd's. Arithmetic and rounding
  * as in [[AverageUnit]].
  * {{{
  *   clock 0  request, its queue, `refresh`, `look` and weights               3  `update`, `colour`
  *         0, 1, 2  address the RAM, a record a queue and estimator           5, 6, 7  add
  *         1, 2, 3  operands: `seen` of estimator 0, 1, 2 ([[AverageStep]])   6, 7, 8  averages; written
  * }}}
  * `average` and `own` stand from clock 8 of a request to clock 5 of the next. `ready` is low for four times `queues` clocks after reset.
  */
class AverageInTurn(p: LaneParams) extends Averaging(p) {
  private val sweep = new SweepInit(p.queues * 4)
  io.ready := sweep.done
  private val clearing = !sweep.done || reset.asBool // the register before the array is 0 then
  private val at = new Turns(io.request.valid, 8)
  assert(!io.request.valid || !at.within(1, 7), "a request within eight clocks of another")
  private val in = io.request.bits

  // -- clock 0 --
  private val queue = at.held(0, io.queue)
  private val averages = new ForwardingRam((p.queues * 4).max(SnapshotRam.BlockDepth), UInt(AvgBits.W))
  private val base = averages.glance(Cat(Mux(at(0), io.queue, queue), at.index(0)))

  // -- clocks 1 to 3: operands --
  private val (refresh, look) = (at.held(0, in.refresh), at.held(0, in.look))
  private val step = new AverageStep(base, at.held(0, in.weight(0)), in.seen(0), refresh, look, shifts = false)
  private val update = at.held(3, in.update)
  private val colour = at.held(3, io.colour)

  // -- clocks 5 to 7: add; 6 to 8: write --
  private val average = Mux(clearing || step.isNegative, 0.U, step.raised)
  for (e <- 0 until Colour.Count) io.average(e) := at.held(5 + e, average)
  io.own := RegEnable(average, VecInit(Seq.tabulate(Colour.Count)(e => at(5 + e)))(colour))
  private val written = Delay(average)
  private val kept = (0 until Colour.Count).map(e => at(6 + e) && update(e)).reduce(_ || _)
  averages.write(kept, Cat(queue, at.index(6)), written)
  averages.write(!sweep.done, sweep.address, written)
  io.ahead := VecInit(Seq.fill(Colour.Count)(1.U))
  io.aheadNow := io.ahead
}
