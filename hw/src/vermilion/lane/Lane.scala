package vermilion.lane

import chisel3._
import chisel3.util._
import vermilion.control.{AxiLite, ControlPort}
import vermilion.fixed.Formats._
import vermilion.policy.Decision
import vermilion.stats.Statistics
import vermilion.stream._

/** A lane with its registers and statistics: the stand-alone block.
  *
  * Streams are AXI-Stream, `control` is AXI4-Lite (`docs/registers.md`), `now` is the time in ns. `decision`, `departed`
  * and `lost` (see [[LaneCore]]) are the trace that a simulation replays in the bit-exact model. If they are unconnected, they cost nothing.
  * `busy` is low when only an arrival, a register access or the time in `wake` can change anything. After a reset it
  * stays high until the RAMs are cleared. Frames that arrive before that at an input that cannot be stalled are lost and counted.
  *
  * `reset` is synchronous, and one cycle of it is enough. The internal reset begins and ends one cycle later ([[vermilion.stream.HeldReset]]). In the cycle after
  * `reset` the trace, `wake` and `busy` are invalid. A frame of one beat that arrives then at an input that cannot be stalled is lost without a
  * count, as during the reset.
  *
  * @param timesReset the block contains the register for its reset; false inside a block that has one
  */
class Lane(p: LaneParams, timesReset: Boolean = true) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val in = Vec(p.inputs, Flipped(Decoupled(new AxisBeat(p.dataBits, p.userBits))))
    val out = Vec(p.egresses, Decoupled(new AxisBeat(p.dataBits, p.userBits)))
    val paused = Input(Vec(p.egresses, Bool())) // stops an output between two frames, one cycle later; synchronous
    val control = new AxiLite(ControlPort.AddressBits)
    val decision = Valid(new Decision(p))
    val departed = Valid(new Departure(p))
    val ceWritten = Output(Bool()) // a packet's ECN field was changed to CE at the egress
    val ceWrittenQueue = Output(UInt(p.queueBits.W)) // its queue
    val lost = Output(Vec(p.inputs, Valid(UInt(PktLenBits.W))))
    val freeCells = Output(UInt((p.cellBits + 1).W))
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
  })
  private val held = if (timesReset) HeldReset(clock, reset) else reset.asBool
  private val core = withReset(held) { Module(new LaneCore(p)) }

  /** In builds with `protect`; docs/soft-errors.md. */
  val upsets = core.upsets.map(counts => IO(Output(chiselTypeOf(counts))))
  upsets.zip(core.upsets).foreach { case (port, counts) => port := counts }

  /** In builds with `userBits`; [[FrameUsers]]. */
  val fates = core.fates.map(report => IO(chiselTypeOf(report)))
  fates.zip(core.fates).foreach { case (port, report) => port <> report }

  /** In builds with `reports`: drops and marks, a frame each ([[vermilion.report.ReportStream]]). */
  val reports = core.reports.map(port => IO(chiselTypeOf(port)))
  reports.zip(core.reports).foreach { case (port, out) => port <> HeldReset.gate(out, held) }
  private val statistics = withReset(held) { Module(new Statistics(p)) }
  private val control = withReset(held) { Module(new ControlPort(p)) }

  core.io.now := io.now
  core.io.ready := statistics.io.ready
  core.io.skip := statistics.io.skip
  core.io.in <> io.in
  for ((port, out) <- io.out.zip(core.io.out)) port <> HeldReset.gate(out, held)
  control.io.axi.takeUnless(held, io.control)
  core.io.configuration <> control.io.lane
  core.io.configuration.paused := VecInit(
    control.io.lane.paused.zip(io.paused).map { case (here, port) => here || RegNext(port) }
  )
  control.io.busy := core.io.holdsPackets
  control.io.lost := core.io.lost
  control.upsets.zip(core.upsets).foreach { case (port, counts) => port := counts }
  statistics.io.window <> control.io.statistics

  statistics.io.now := io.now
  statistics.io.decision := core.io.decision
  statistics.io.departed := core.io.departed
  statistics.io.ceWritten := core.io.ceWritten

  io.decision := core.io.decision
  io.departed := core.io.departed
  io.ceWritten := core.io.ceWritten.valid
  io.ceWrittenQueue := core.io.ceWritten.bits.queue
  io.lost := core.io.lost
  io.freeCells := core.io.freeCells
  io.wake := core.io.wake
  io.busy := core.io.busy || !statistics.io.ready
}
