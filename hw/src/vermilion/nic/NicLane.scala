package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.control.AxiLite
import vermilion.fixed.Delay
import vermilion.fixed.Formats.{PktLenBits, TimeBits}
import vermilion.lane.Lane
import vermilion.stream.{AxisBeat, Ingress, Verdict}

/** A lane between the ports of a NIC: for one way, or for all ways of a card.
  *
  * {{{
  *   host of a port -> tx -+-> lane, an egress for each way -+-> wire -> MAC of a port
  *   MAC of a port  -> rx -+                                 +-> host of a port
  * }}}
  * A host's frames go to the wire of its port, with their tag. `rxToWire` selects the way of a MAC's frames: to the wire of the peer, or to the host of
  * their own port. At the wire they have tag 0, because no host waits for them. At the host they have their timestamp.
  * In a lane with several egresses, the way travels with the frame ([[NicLaneParams]]). So the whole frame takes one way, even if the route changes.
  */
class NicLane(p: NicParams, l: NicLaneParams) extends Module {
  private def txBeat = new AxisBeat(p.dataBits, NicParams.TagBits)
  private def rxBeat = new AxisBeat(p.dataBits, p.timestampBits)
  private val (hosts, macs) = l.inputs.partition(_.fromHost)
  val now = IO(Input(UInt(TimeBits.W)))
  val control = IO(new AxiLite(NicParams.BlockBits))

  /** By port, for the ports that the lane serves. All beats of a frame carry its tag. */
  val tx: Map[Int, DecoupledIO[AxisBeat]] =
    hosts.map(s => s.port -> IO(Flipped(Decoupled(txBeat))).suggestName(s"tx_${s.port}")).toMap
  val rx: Map[Int, Valid[AxisBeat]] =
    macs.map(s => s.port -> IO(Flipped(Valid(rxBeat))).suggestName(s"rx_${s.port}")).toMap

  /** The way of the frame at `rx`: 1: to the wire of the peer, 0: to the host. */
  val rxToWire: Map[Int, Bool] = macs.map(s => s.port -> IO(Input(Bool())).suggestName(s"rxToWire_${s.port}")).toMap
  val wire: Map[Int, DecoupledIO[AxisBeat]] =
    l.ways.filterNot(_.toHost).map(way => way.port -> IO(Decoupled(txBeat)).suggestName(s"wire_${way.port}")).toMap
  val host: Map[Int, DecoupledIO[AxisBeat]] =
    l.ways.filter(_.toHost).map(way => way.port -> IO(Decoupled(rxBeat)).suggestName(s"host_${way.port}")).toMap

  /** The results for a host's frames, and a pulse for each of its frames that the lane lost. */
  val report: Map[Int, TxReport] = hosts.map(s => s.port -> IO(new TxReport).suggestName(s"report_${s.port}")).toMap
  val lost: Map[Int, Bool] = hosts.map(s => s.port -> IO(Output(Bool())).suggestName(s"lost_${s.port}")).toMap
  val events: Map[Way, LaneEvents] = l.ways.map { way =>
    way -> IO(Output(new LaneEvents)).suggestName(s"events_${if (way.toHost) "host" else "wire"}_${way.port}")
  }.toMap

  /** In builds with `reports`: a frame for each drop and mark that was selected ([[vermilion.report.ReportStream]]), without a timestamp. */
  val reports: Option[DecoupledIO[AxisBeat]] = Option.when(l.built.reports)(IO(Decoupled(rxBeat)))

  private val lane = Module(new Lane(l.built, timesReset = false))
  for ((to, from) <- reports.zip(lane.reports)) {
    to.valid := from.valid
    to.bits := from.bits
    to.bits.user := 0.U(p.timestampBits.W)
    from.ready := to.ready
  }
  lane.io.now := now
  lane.io.paused.foreach(_ := false.B)
  lane.io.control.aw <> control.aw
  lane.io.control.w <> control.w
  lane.io.control.b <> control.b
  lane.io.control.ar <> control.ar
  lane.io.control.r <> control.r

  // ---- ingress
  private def withPlace(place: UInt, payload: UInt): UInt =
    if (l.built.userBits == 0) 0.U(0.W)
    else if (l.placeBits == 0) payload.pad(l.payloadBits)(l.payloadBits - 1, 0)
    else Cat(payload.pad(l.payloadBits)(l.payloadBits - 1, 0), place.pad(l.placeBits)(l.placeBits - 1, 0))
  private def egressOf(way: Way): UInt = l.ways.indexOf(way).max(0).U(l.lane.egressBits.max(1).W)
  private val carriesStamps = l.ways.exists(_.toHost)

  /** The egress of the frame at each input. */
  private val goesTo = l.inputs.map { source =>
    if (source.fromHost) egressOf(Way(source.port, toHost = false))
    else
      Mux(
        rxToWire(source.port),
        egressOf(Way(p.peer(source.port), toHost = false)),
        egressOf(Way(source.port, toHost = true))
      )
  }
  for (((source, in), egress) <- l.inputs.zip(lane.io.in).zip(goesTo)) {
    if (source.fromHost) {
      val from = tx(source.port)
      in.valid := from.valid
      in.bits := from.bits
      in.bits.user := withPlace(egress, from.bits.user)
      from.ready := in.ready
    } else {
      val from = rx(source.port)
      in.valid := from.valid
      in.bits := from.bits
      in.bits.user := withPlace(egress, if (carriesStamps) from.bits.user else 0.U)
      assert(!from.valid || in.ready, "a lane stalled RX")
    }
  }

  // ---- results for the hosts' frames
  private def payloadOf(user: UInt): UInt = user(user.getWidth - 1, l.placeBits)

  /** True if a kept `user` belongs to a frame that came from a host, by this input. */
  private def cameBy(user: UInt, input: Int): Bool =
    if (l.placeBits == 0) l.inputs(input).fromHost.B
    else user(l.placeBits - 1, 0) === input.U
  for (fates <- lane.fates) {
    val fate = fates.fate.bits
    val inputs = l.inputs.zipWithIndex.filter(_._1.fromHost)
    val tags = inputs.map { case (source, i) =>
      val here = if (l.inputs.size == 1) true.B else fate.input === i.U
      val to = report(source.port)
      to.fate.valid := fates.fate.valid && here
      to.fate.bits.tag := payloadOf(fate.user)
      to.fate.bits.ptpEvent := fate.ptpEvent
      to.fate.bits.admitted := fate.admitted
      to.evicted.valid := fates.evicted.valid && cameBy(fates.evicted.bits, i)
      to.evicted.bits := payloadOf(fates.evicted.bits)
      here -> to.keep
    }
    val keep = tags.foldLeft(payloadOf(fate.user)) { case (other, (here, tag)) =>
      Mux(here, tag.pad(l.payloadBits), other)
    }
    fates.keep := withPlace(fate.input, keep)
  }
  for ((source, i) <- l.inputs.zipWithIndex if source.fromHost) lost(source.port) := lane.io.lost(i).valid

  // ---- egress
  private val fromHosts = l.inputs.zipWithIndex.filter(_._1.fromHost)
  for ((way, out) <- l.ways.zip(lane.io.out)) {
    val to = if (way.toHost) host(way.port) else wire(way.port)
    to.valid := out.valid
    to.bits.data := out.bits.data
    to.bits.keep := out.bits.keep
    to.bits.last := out.bits.last
    to.bits.bad := out.bits.bad
    out.ready := to.ready
    val user = out.bits.user
    if (way.toHost) to.bits.user := (if (p.timestampBits == 0) 0.U(0.W) else payloadOf(user))
    else {
      // The payload of a MAC's frame is its timestamp in lanes that carry timestamps, otherwise 0.
      val isHosts = if (l.placeBits == 0) true.B else fromHosts.map { case (_, i) => cameBy(user, i) }.reduce(_ || _)
      to.bits.user := Mux(isHosts, payloadOf(user), 0.U)
    }
  }

  // ---- statistics: the lane's trace, by egress
  private val decision = lane.io.decision.bits
  private val decided = lane.io.decision.valid && !decision.refresh
  private val evicts = decided && decision.pushOut && decision.outcome.evicted
  private val drops = decided && !Verdict.admits(decision.verdict)
  private val departed = lane.io.departed.bits
  private val lostTo = goesTo.map(Delay(_, Ingress.LostLatency)) // the egress of the frame that `lost` shows
  for ((way, e) <- l.ways.zipWithIndex) {
    def isHere(egress: UInt): Bool = if (l.ways.size == 1) true.B else egress === e.U
    def ofQueue(queue: UInt): Bool =
      if (l.ways.size == 1) true.B else isHere(queue(l.lane.queueBits - 1, l.lane.queueBits - l.lane.egressBits))
    def bytes(when: Bool, lenBytes: UInt): UInt = Mux(when, lenBytes, 0.U(PktLenBits.W))
    val here = ofQueue(decision.queue)
    val losses = lane.io.lost.zip(lostTo).map { case (lost, egress) => (lost.valid && isHere(egress), lost.bits) }
    val told = events(way)
    told.verdict.valid := decided && here
    told.verdict.bits := decision.verdict
    val departs = lane.io.departed.valid && ofQueue(departed.queue)
    val discards = departs && !departed.isSent
    told.evicted := (evicts && here) +& discards
    told.lost := PopCount(losses.map(_._1))
    told.sent.valid := departs && departed.isSent
    told.sent.bits := departed.lenBytes
    told.droppedBytes := (losses.map { case (lost, size) => bytes(lost, size) } ++ Seq(
      bytes(drops && here, decision.lenBytes),
      bytes(evicts && here, decision.outcome.victim.lenBytes),
      bytes(discards, departed.lenBytes)
    )).reduce(_ +& _)
    told.ceWritten := lane.io.ceWritten && ofQueue(lane.io.ceWrittenQueue)
    told.completion := false.B
    told.ptp := lane.fates.map(fates => fates.fate.valid && fates.fate.bits.ptpEvent && here).getOrElse(false.B)
  }
}
