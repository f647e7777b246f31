package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.control.{RegisterMap => R}
import vermilion.departure.MarkSettings
import vermilion.fixed.{Arithmetic, ConstantTable}
import vermilion.fixed.Formats._
import vermilion.flow.FlowFormats
import vermilion.lane.{LaneConfiguration, LaneParams}
import vermilion.protect.UpsetCounts
import vermilion.stats.StatisticsWindow
import vermilion.stream.Colour

/** The host interface of a lane: AXI4-Lite to the registers of `hw/regs/vermilion.rdl` (`docs/registers.md`).
  *
  * The host writes all of a queue's configuration to one shadow record. COMMIT gives the record to the lane as a whole. The port reads it from its
  * RAM into registers, about 110 cycles. Then it passes the policy pipeline like a packet, about 25 cycles. Writes are held back until it has
  * passed, so the record cannot change during the commit. The scheduler gets its part in the cycle in which the pipeline accepts `commit`, at the
  * end of the pass.
  *
  * Reads return what was written, from a RAM ([[RegisterFile]]). Values that the lane must see are in flip-flops, about 3,500 bits for any number of
  * queues. The flip-flops do not show the configuration that a queue has now.
  *
  * A write is answered in the cycle in which the lane sees it, 4 cycles after address and data have arrived. A read is answered 4 cycles after its
  * address, and waits for a write in progress. A read of a count first waits for the counts ([[EventCounts]]).
  * Bits outside the fields of a register read as 0. After a reset writes wait, unanswered, for [[RegisterFile.Words]] cycles; in builds with `reports`
  * for as many as there are queues, if these are more.
  */
class ControlPort(p: LaneParams) extends Module {
  import ControlPort._
  val io = IO(new Bundle {
    val axi = new AxiLite(AddressBits)
    val lane = Flipped(new LaneConfiguration(p))
    val statistics = Flipped(new StatisticsWindow(p))
    val busy = Input(Bool())
    val lost = Input(Vec(p.inputs, Valid(UInt(PktLenBits.W))))
  })

  /** In builds with `protect`. */
  val upsets = Option.when(p.protect)(IO(Input(new UpsetCounts)))
  private val slave = Module(new AxiLiteSlave(AddressBits))
  private val file = new RegisterFile(slave.io.write, slave.io.readAddress)
  private val eventCounts = Module(new EventCounts(p))
  private def written(address: Int): Bool = file.written(address)
  private def stored(of: R.Register, index: Int*): UInt = file.register(of(index: _*), of.mask)

  private def shadow(of: R.Register, index: Int*): UInt = file.loaded(of(index: _*), of.mask & ~unknown(of))

  /** Bits of a register that a build does not have. */
  private def unknown(of: R.Register): BigInt =
    if (of == R.ShadowFlags && !p.codel) BigInt(1) << R.ShadowFlags.markLate.low else BigInt(0)

  // Words that are not in the register file. Each of them is an input of the read multiplexer.
  private val shown = scala.collection.mutable.Map.empty[Int, UInt]
  private def show(address: Int, value: UInt): Unit = shown += address -> value

  // The answer of a write and the next read wait until the write has reached its register. A write waits for the cycle in which a read accesses the file.
  private val accepted = RegNext(io.axi.ar.fire, false.B)
  slave.io.axi <> io.axi
  private val mayRead = !file.moving && eventCounts.io.ready
  slave.io.axi.ar.valid := io.axi.ar.valid && mayRead
  io.axi.ar.ready := slave.io.axi.ar.ready && mayRead
  eventCounts.io.request.valid := io.axi.ar.valid
  eventCounts.io.request.bits := io.axi.ar.bits
  eventCounts.io.taken := io.axi.ar.fire
  eventCounts.io.readAddress := slave.io.readAddress
  io.axi.b.valid := slave.io.axi.b.valid && !file.moving
  slave.io.axi.b.ready := io.axi.b.ready && !file.moving

  private def factor(to: Scaled, of: R.Register, index: Int*): Unit = {
    val word = shadow(of, index: _*)
    to.mant := word(to.mant.getWidth - 1, 0)
    to.shift := word(FactorShiftLow + to.shift.getWidth - 1, FactorShiftLow)
  }

  // -- identification and capabilities --
  private val constants: Map[Int, BigInt] = Map(
    R.BlockType() -> BigInt("564d0001", 16),
    R.Version() -> BigInt("00010007", 16),
    R.NextBlock() -> p.nextBlock,
    R.Queues() -> p.queues,
    R.Cells() -> p.cells,
    R.DataBits() -> p.dataBits,
    R.Inputs() -> p.inputs,
    R.Egresses() -> p.egresses,
    R.EwmaStages() -> EwmaStages,
    R.MaxFrameBytes() -> p.maxFrameBytes,
    R.Flows() -> p.flows,
    R.Victims() -> p.victims,
    R.Protect() -> (if (p.protect) 1 else 0),
    R.Codel() -> (if (p.codel) 1 else 0),
    R.Pie() -> (if (p.pie) 1 else 0),
    R.Dualpi2() -> (if (p.dualpi2) 1 else 0)
  )

  if (p.fq) show(R.Fq(), 1.U)

  // -- settings that reach the lane when they are written --
  file.keep(R.Control(), BigInt(1) << R.Control.departureUpdates.low) // clear_statistics reads as 0
  io.lane.departureUpdates :=
    RegEnable(R.Control.departureUpdates(file.word), 0.U(1.W), written(R.Control())).asBool
  private val clear = RegNext(written(R.Control()) && R.Control.clearStatistics(file.raw).asBool, false.B)
  io.statistics.clear := clear

  /** High one cycle after a write to `address`, when the registers hold the written value. */
  private def after(address: Int): Bool = RegNext(written(address), false.B)

  io.lane.seed.bits.decide := Cat(Seq.tabulate(4)(i => stored(R.Seed, i)).reverse)
  io.lane.seed.bits.mark := Cat(Seq.tabulate(4)(i => stored(R.MarkSeed, i)).reverse)
  io.lane.seed.bits.flow := Cat(Seq.tabulate(4)(i => stored(R.FlowSeed, i)).reverse)
  io.lane.seed.valid := after(R.MarkSeed(3))

  private val portCost = stored(R.PortCost)
  private val portBurstLow = stored(R.PortBurstLow)
  private val portBurstHigh = stored(R.PortBurstHigh)(7, 0)
  private val portEgress = if (p.egresses == 1) 0.U else stored(R.PortEgress)(2, 0)
  private val portGo = after(R.PortBurstHigh())
  for ((shaper, e) <- io.lane.portShaper.zipWithIndex) {
    shaper.valid := portGo && portEgress === e.U
    shaper.bits.costMant := R.PortCost.mant(portCost)
    shaper.bits.costShift := R.PortCost.shift(portCost)
    shaper.bits.burst := portBurstHigh ## portBurstLow
  }
  private val paused = stored(R.Pause)
  io.lane.paused := VecInit(paused.asBools.take(p.egresses))
  private val flush = stored(R.Flush)
  private val flushQueue = R.Flush.queue(flush)
  io.lane.flush.egresses := VecInit(R.Flush.egresses(flush).asBools.take(p.egresses))
  io.lane.flush.queue.valid := R.Flush.queueOn(flush).asBool && exists(flushQueue)
  io.lane.flush.queue.bits := flushQueue(p.queueBits - 1, 0)
  for ((route, input) <- io.lane.routes.zipWithIndex) {
    if (p.egresses == 1) route := 0.U
    else route := (stored(R.Routes, input / RoutesAWord) >> (input % RoutesAWord * RouteBits))(p.egressBits - 1, 0)
  }

  // -- the pool --
  private def cells(word: UInt): UInt = Arithmetic.saturate(word(20, 0), p.cellBits + 1)
  io.lane.pool.size := cells(stored(R.PoolSize))
  for (e <- 0 until p.egresses) {
    io.lane.pool.reserve(e) := cells(stored(R.PoolReserve, e))
    io.lane.pool.cap(e) := cells(stored(R.PoolCap, e))
  }
  private val poolTotal = RegInit(0.U((p.cellBits + 1 + p.egressBits).W))
  poolTotal := io.lane.poolUsed.reduceTree(_ +& _)
  for (
    (used, (shown, most)) <- io.lane.poolUsed.zipWithIndex.map { case (used, e) =>
      used -> (R.PoolUsed(e), R.PoolMost(e))
    } :+
      (poolTotal -> (R.PoolUsedTotal(), R.PoolMostTotal()))
  ) {
    val greatest = RegInit(0.U(used.getWidth.W))
    when(clear) { greatest := used }.elsewhen(used > greatest) { greatest := used }
    show(shown, used)
    show(most, greatest)
  }

  private val optionTypes = stored(R.TtlOption)
  io.lane.ttlOption.ip4 := R.TtlOption.ip4(optionTypes)
  io.lane.ttlOption.ip6 := R.TtlOption.ip6(optionTypes)

  private def exists(queue: UInt): Bool = queue < p.queues.U
  private val classAddress = stored(R.ClassAddress)
  private val classEntry = stored(R.ClassEntry)
  private val classGo = after(R.ClassEntry())
  private val classAddressExists = R.ClassAddress.address(classAddress) <= 64.U
  io.lane.classWrite.valid := classGo && exists(R.ClassEntry.queue(classEntry)) && classAddressExists
  io.lane.classWrite.bits.address := R.ClassAddress.address(classAddress)
  io.lane.classWrite.bits.entry.queue := R.ClassEntry.queue(classEntry)(p.queueBits - 1, 0)
  io.lane.classWrite.bits.entry.colour := R.ClassEntry.colour(classEntry)

  // -- the shadow record --
  private val config = io.lane.commit.bits.config
  private val flags = shadow(R.ShadowFlags)
  config.average.unit := R.ShadowFlags.unit(flags)
  config.average.update := R.ShadowFlags.update(flags)
  config.average.masks(Colour.Green) := R.ShadowFlags.maskGreen(flags)
  config.average.masks(Colour.Yellow) := R.ShadowFlags.maskYellow(flags)
  config.average.masks(Colour.Red) := R.ShadowFlags.maskRed(flags)
  for (n <- 0 until EwmaStages) factor(config.average.weight(n), R.ShadowWeight, n)
  factor(config.average.lambda, R.ShadowLambda)
  private val idleStepLow = shadow(R.ShadowIdleStepLow)
  config.average.idleStep := Cat(shadow(R.ShadowIdleStepHigh)(IdleStepBits - 33, 0), idleStepLow)
  config.decide.ecn := R.ShadowFlags.ecn(flags)
  config.decide.spacing := R.ShadowFlags.spacing(flags)
  config.size.weight := R.ShadowFlags.sizeWeight(flags)
  factor(config.size.invMeanLen, R.ShadowInvMeanLen)
  config.decide.limit := shadow(R.ShadowLimit)(LenBits - 1, 0)
  config.decide.limitPackets := shadow(R.ShadowLimitPackets)(LenBits - 1, 0)
  config.decide.alpha := R.ShadowFlags.alpha(flags)

  private val distance = shadow(R.ShadowDistance)
  config.distance.option := R.ShadowDistance.option(distance)
  config.distance.infer := R.ShadowDistance.infer(distance)
  config.distance.share := R.ShadowDistance.share(distance)
  config.decide.ttlOption := R.ShadowDistance.ttlOption(distance)
  config.decide.victim := R.ShadowDistance.victim(distance)
  config.decide.victimByColour := R.ShadowDistance.victimByColour(distance)
  config.decide.victimWindow := R.ShadowDistance.victimWindow(distance)

  private val mark = config.mark
  private val markFlags = shadow(R.ShadowMarkerFlags)
  private def wide(low: R.Register, high: R.Register, index: Int*): UInt = {
    val lowWord = shadow(low, index: _*)
    Cat(shadow(high, index: _*)(BurstBits - 33, 0), lowWord)
  }
  mark.kind := R.ShadowMarkerFlags.kind(markFlags)
  mark.colourAware := R.ShadowMarkerFlags.colourAware(markFlags)
  mark.length := R.ShadowMarkerFlags.length(markFlags)
  mark.out := R.ShadowMarkerFlags.out(markFlags)
  mark.drop := R.ShadowMarkerFlags.drop(markFlags)
  mark.packet := R.ShadowMarkerFlags.packet(markFlags)
  for (i <- 0 until 2) {
    factor(mark.cost(i), R.ShadowMarkerCost, i)
    mark.burst(i) := wide(R.ShadowMarkerBurstLow, R.ShadowMarkerBurstHigh, i)
  }
  mark.lowThreshold := wide(R.ShadowMarkerLowThresholdLow, R.ShadowMarkerLowThresholdHigh)
  mark.highThreshold := wide(R.ShadowMarkerHighThresholdLow, R.ShadowMarkerHighThresholdHigh)
  factor(mark.demote, R.ShadowMarkerDemote)
  factor(mark.promote, R.ShadowMarkerPromote)
  mark.pDrop := shadow(R.ShadowMarkerPDrop)(MarkDrawBits, 0)
  private val flowFlags = shadow(R.ShadowMarkerFlow)
  mark.flow.kind := R.ShadowMarkerFlow.kind(flowFlags)
  mark.flow.alpha := R.ShadowMarkerFlow.alpha(flowFlags)
  mark.flow.increase := R.ShadowMarkerFlow.increase(flowFlags)
  mark.flow.ack := R.ShadowMarkerFlow.ack(flowFlags)
  mark.flow.ns := R.ShadowMarkerFlow.ns(flowFlags)
  mark.flow.na := R.ShadowMarkerFlow.na(flowFlags)
  mark.flow.a0 := shadow(R.ShadowMarkerFlowA0)(FlowFormats.AverageBits - 1, 0)
  private val flowAges = shadow(R.ShadowMarkerFlowAges)
  mark.flow.idle := R.ShadowMarkerFlowAges.idle(flowAges)
  mark.flow.halfOpen := R.ShadowMarkerFlowAges.halfOpen(flowAges)
  mark.meter := wide(R.ShadowMarkerMeterLow, R.ShadowMarkerMeterHigh)
  for (c <- 0 until Colour.Count) {
    val remark = shadow(R.ShadowMarkerRemark, c)
    config.decide.remark(c).on := R.ShadowMarkerRemark.on(remark)
    config.decide.remark(c).dscp := R.ShadowMarkerRemark.dscp(remark)
  }

  for (c <- 0 until Colour.Count; (curve, k) <- Seq(config.colours(c).drop, config.colours(c).ecn).zipWithIndex) {
    val switches = shadow(R.ShadowColourCurveFlags, c, k)
    val shape = curve.shape
    shape.on := R.ShadowColourCurveFlags.on(switches)
    shape.min := shadow(R.ShadowColourCurveMin, c, k)(LenBits - 1, 0)
    shape.max := shadow(R.ShadowColourCurveMax, c, k)(LenBits - 1, 0)
    shape.end := shadow(R.ShadowColourCurveEnd, c, k)(LenBits - 1, 0)
    shape.slope1 := Cat(R.ShadowColourCurveFlags.slope1One(switches), shadow(R.ShadowColourCurveSlope1, c, k))
    shape.base2 := Cat(R.ShadowColourCurveFlags.base2One(switches), shadow(R.ShadowColourCurveBase2, c, k))
    shape.slope2 := Cat(R.ShadowColourCurveFlags.slope2One(switches), shadow(R.ShadowColourCurveSlope2, c, k))
    factor(shape.square2, R.ShadowColourCurveSquare2, c, k)
    factor(curve.inverses(0), R.ShadowColourCurveInv1, c, k)
    factor(curve.inverses(1), R.ShadowColourCurveInv2, c, k)
  }
  for (c <- 0 until Colour.Count) {
    config.colours(c).ecnOwn := shadow(R.ShadowColourEcnOwn, c)(0)
    config.colours(c).late := (if (p.codel) R.ShadowFlags.markLate(flags) else false.B)
  }

  private val service = io.lane.service.bits
  service.strict := R.ShadowFlags.strict(flags)
  service.priority := R.ShadowFlags.priority(flags)
  service.quantum := shadow(R.ShadowQuantum)(17, 0)
  private val cost = shadow(R.ShadowCost)
  service.shaper.costMant := R.ShadowCost.mant(cost)
  service.shaper.costShift := R.ShadowCost.shift(cost)
  private val burstLow = shadow(R.ShadowBurstLow)
  service.shaper.burst := Cat(shadow(R.ShadowBurstHigh)(7, 0), burstLow)

  private val aqms = new ShadowAqms(shadow(_), R.ShadowFlags.ecn(flags))
  service.codel.foreach(aqms.codel)
  service.marks.foreach(_ := MarkSettings(config))
  service.dualPi2.foreach(aqms.dualPi2)
  config.l4sMask := (if (p.dualpi2) aqms.l4sMask else 0.U)
  for ((group, flows) <- io.lane.commit.bits.group.zip(service.flows)) {
    group.bits := aqms.groupBits
    flows := group.bits.orR
  }
  if (p.pie) aqms.pie(config.pie) else config.pie := 0.U.asTypeOf(config.pie)

  // -- reports --
  private val badReports = WireInit(false.B) // selected for a queue that the build lacks
  for (ports <- io.lane.reports) {
    show(R.Reports(), 1.U)
    badReports := new ReportRegisters((of, index) => stored(of, index: _*), after, exists)(ports)
    eventCounts.io.reports.foreach(_ := ports.counts)
  }

  // -- rules --
  private val badRule = io.lane.rules.map { ports =>
    val (bad, words) = new RuleRegisters(p, of => stored(of), after, file)(ports)
    words.foreach { case (address, word) => show(address, word) }
    val held = RegInit(false.B)
    when(bad) { held := true.B }.elsewhen(written(R.Status()) && R.Status.badRule(file.raw).asBool) { held := false.B }
    held
  }

  // -- commit and snapshot of the selected queue --
  private val selected = R.QueueSelect.queue(stored(R.QueueSelect))
  private val selectedQueue = selected(p.queueBits - 1, 0)
  private val committing = RegInit(false.B)
  private val snapshotPending = Wire(Bool())
  when(io.lane.commit.fire) { committing := false.B }
  when(written(R.Commit()) && exists(selected)) {
    committing := true.B
    file.load := true.B
  }
  private val selecting = io.lane.reports.map(!_.ready).getOrElse(false.B) // the masks of reports are being cleared
  slave.io.hold := committing || file.moving || file.clearing || accepted || selecting
  io.lane.commit.valid := committing && !file.loading
  io.lane.commit.bits.queue := selectedQueue
  io.lane.service.valid := io.lane.commit.fire
  service.queue := selectedQueue

  // A snapshot first reads the averages. When they have arrived, all counters are copied as of one cycle.
  private val hostReading = RegInit(false.B) // requested, or waiting for the answer
  private val asked = RegInit(false.B)
  private val snapshotQueue = Reg(UInt(p.queueBits.W))
  when(written(R.Snapshot()) && exists(selected) && !snapshotPending) {
    hostReading := true.B
    asked := true.B
    snapshotQueue := selectedQueue
  }
  when(io.lane.hostRead.fire) { asked := false.B }
  when(io.lane.live.valid) { hostReading := false.B }
  io.lane.hostRead.valid := asked
  io.lane.hostRead.bits := snapshotQueue
  io.statistics.live := io.lane.live.bits
  io.statistics.snapshot.valid := io.lane.live.valid
  io.statistics.snapshot.bits := snapshotQueue
  snapshotPending := hostReading || io.statistics.snapshotting

  private val memoryFailed = upsets.map(_.failed).getOrElse(false.B)
  for (
    counts <- upsets;
    (count, i) <- Seq(counts.corrected, counts.repaired, counts.uncorrectable, counts.beyondRepair).zipWithIndex
  )
    show(R.Upsets(i), count)

  private val badQueue = RegInit(false.B)
  private val badNow = ((written(R.Commit()) || written(R.Snapshot())) && !exists(selected)) ||
    (classGo && !exists(R.ClassEntry.queue(classEntry))) || badReports
  when(badNow) { badQueue := true.B }
    .elsewhen(written(R.Status()) && R.Status.badQueue(file.raw).asBool) {
      badQueue := false.B
    }
  private val status = badRule.toSeq ++ Seq(
    memoryFailed,
    badQueue,
    io.lane.rules.map(0.U(3.W) ## _.pending).getOrElse(0.U(4.W)),
    io.statistics.clearing,
    snapshotPending,
    committing,
    RegNext(io.busy, true.B)
  )
  show(R.Status(), Cat(status))

  // -- events --
  eventCounts.io.lost := io.lost
  eventCounts.io.flowEvents := io.lane.flowEvents
  eventCounts.io.refreshSkipped := io.lane.refreshSkipped
  for ((count, event) <- eventCounts.io.flowCollision.zip(io.lane.flowCollision)) count := event
  eventCounts.io.clear := clear

  // -- read: the multiplexer has one register; file and counts follow their index by one cycle, the window by two --
  file.close()
  private val address = slave.io.readAddress
  private def page(at: UInt): UInt = at >> PageBits
  private val identity = Seq.tabulate(1 << IdentityBits)(i => constants.getOrElse(4 * i, BigInt(0)))
  private val others = shown.toSeq.sortBy(_._1).groupBy(_._1 >> PageBits).toSeq.map { case (number, words) =>
    val choices = words.map { case (at, x) => ((at >> 2) & PageWords - 1).U -> x.pad(32) }
    Mux(page(address) === number.U, MuxLookup(address(PageBits - 1, 2), 0.U(32.W))(choices), 0.U)
  }
  private val value = RegNext(
    others.reduce(_ | _) |
      Mux((address >> IdentityBits + 2) === 0.U, ConstantTable(identity, 32)(address(IdentityBits + 1, 2)), 0.U)
  )
  private val inWindow = address >= WindowBase.U && address < (WindowBase + WindowBytes).U
  io.statistics.index := (address - WindowBase.U)(StatisticsWindow.IndexBits + 1, 2)
  slave.io.readData := Mux(
    RegNext(RegNext(inWindow)),
    io.statistics.word,
    RegNext(value | eventCounts.io.word) | file.readWord
  )
}

object ControlPort {

  /** 16 MiB of address space. */
  val AddressBits = 24
  private val RouteBits = 4
  private val RoutesAWord = 8
  private val FactorShiftLow = R.PortCost.shift.low
  private val WindowBase = R.WindowColourArrivedPacketsLow(0)
  private val WindowBytes = StatisticsWindow.Words * 4
  private val PageBits = 8
  private val PageWords = (1 << PageBits) / 4
  private val IdentityBits = 4
}
