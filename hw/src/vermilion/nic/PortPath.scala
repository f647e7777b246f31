package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.control.AxiLite
import vermilion.fixed.Formats.{PktLenBits, TimeBits}
import vermilion.lane.Lane
import vermilion.stream.{AxisBeat, Verdict}

/** One port: its frames of both directions, its lanes and its completions.
  *
  * {{{
  *   host tx -> Queue -> FrameSwitch -+------------------------> FrameJoin -> Queue -> MAC tx
  *                                    +-> wire lane, input 1 ---^    |
  *       peer's RX, forwarded ----------> wire lane, input 0         v tags, fates
  *                                      MAC's completions -> TxCompletions ---------> host's completions
  *
  *   MAC rx -> RxEntry -> FrameSwitch -+-> RxBypass ------------> FrameJoin -> Queue -> host rx
  *                                     +-> host lane ------------^
  *                                     +-> `forward`, to the peer
  *                                     +-> dropped
  * }}}
  * MAC rx is never stalled: nothing behind it can wait. No `ready` of an output reaches an input in the same clock.
  */
class PortPath(p: NicParams, port: Int) extends Module {
  private val wireParams = p.wireOf(port)
  private val hostParams = p.hostOf(port)
  private def txBeat = new AxisBeat(p.dataBits, NicParams.TagBits)
  private def rxBeat = new AxisBeat(p.dataBits, p.timestampBits)
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val control = Input(new PortControl)
    val status = Output(new PortStatus)
    val hostTx = Flipped(Decoupled(txBeat))
    val macTx = Decoupled(txBeat)
    val macCompletion = Flipped(Decoupled(new Completion))
    val hostCompletion = Decoupled(new Completion)
    val macRx = Flipped(Valid(rxBeat))
    val hostRx = Decoupled(rxBeat)
    val forward = Valid(txBeat)
    val forwarded = Flipped(Valid(txBeat))
    val lanes = Vec(p.lanesPerPort, new AxiLite(NicParams.BlockBits)) // registers: wire, host
    val events = Output(Vec(p.lanesPerPort, new LaneEvents))
  })

  private val wire = Module(new Lane(wireParams))
  private val host = hostParams.map(lane => Module(new Lane(lane)))
  for ((lane, i) <- (wire +: host.toSeq).zipWithIndex) {
    lane.io.now := io.now
    lane.io.paused.foreach(_ := false.B)
    PortPath.connect(lane.io.control, io.lanes(i))
    io.events(i) := PortPath.events(lane)
  }

  // -- TX --
  private val hostTx = Queue(io.hostTx, 2)
  private val tx = Module(new FrameSwitch(txBeat, 2))
  private val completions = Module(new TxCompletions(wireParams))
  private val toMac = Module(new FrameJoin(txBeat, 2))
  private val firstTag = RegEnable(hostTx.bits.user, tx.io.begins)
  tx.io.in <> hostTx
  tx.io.wanted := io.control.txByLane
  tx.io.mayBegin := VecInit(true.B, completions.io.mayBegin)
  toMac.io.in(0) <> tx.io.out(0)
  toMac.io.in(1) <> wire.io.out.head
  io.macTx <> Queue(toMac.io.out, 2)

  private val begins = tx.io.begins && tx.io.inEffect === 1.U
  wire.io.in(1) <> tx.io.out(1)
  wire.io.in(1).bits.user := Mux(tx.io.first, hostTx.bits.user, firstTag) // one tag for all beats
  wire.io.in(0).valid := io.forwarded.valid
  wire.io.in(0).bits := io.forwarded.bits

  completions.io.atEnqueue := io.control.completeAtEnqueue
  completions.io.tag := hostTx.bits.user
  completions.io.begins := begins
  completions.io.report <> wire.fates.get
  completions.io.lost := wire.io.lost(1).valid
  completions.io.leaves.valid := wire.io.out.head.fire && wire.io.out.head.bits.last
  completions.io.leaves.bits := wire.io.out.head.bits.user
  completions.io.mac <> io.macCompletion
  io.hostCompletion <> completions.io.out

  // -- RX --
  private val entry = Module(new RxEntry(rxBeat))
  private val rx = Module(new FrameSwitch(rxBeat, RxRoute.Count))
  private val bypass = Module(new RxBypass(rxBeat, p.bypassBeats))
  entry.io.in := io.macRx
  rx.io.in.valid := entry.io.out.valid
  rx.io.in.bits := entry.io.out.bits
  rx.io.wanted := io.control.rxRoute
  rx.io.mayBegin := VecInit.fill(RxRoute.Count)(true.B)
  rx.io.out.foreach(_.ready := true.B)
  assert(!rx.io.in.valid || rx.io.in.ready, "RX was stalled")

  bypass.io.in.valid := rx.io.out(RxRoute.Bypass).valid
  bypass.io.in.bits := rx.io.out(RxRoute.Bypass).bits
  host match {
    case None => io.hostRx <> Queue(bypass.io.out, 2)
    case Some(lane) =>
      val toHost = Module(new FrameJoin(rxBeat, 2, firstAhead = true)) // the lane can wait
      lane.io.in(0).valid := rx.io.out(RxRoute.HostLane).valid
      lane.io.in(0).bits := rx.io.out(RxRoute.HostLane).bits
      assert(lane.io.in(0).ready, "the host lane stalled RX")
      lane.fates.foreach(report => report.keep := report.fate.bits.user)
      toHost.io.in(0) <> bypass.io.out
      toHost.io.in(1) <> lane.io.out.head
      io.hostRx <> Queue(toHost.io.out, 2)
  }
  io.forward.valid := rx.io.out(RxRoute.Forward).valid
  private val sent = rx.io.out(RxRoute.Forward).bits
  io.forward.bits.data := sent.data
  io.forward.bits.keep := sent.keep
  io.forward.bits.last := sent.last
  io.forward.bits.bad := sent.bad
  io.forward.bits.user := 0.U // no host waits for it, and no timestamp becomes a tag

  // -- what is told --
  private def begun(route: Int): Bool = rx.io.begins && rx.io.inEffect === route.U
  io.status.txByLane := tx.io.inEffect.asBool
  io.status.rxRoute := rx.io.inEffect
  io.status.waits := tx.io.waits || rx.io.waits
  io.status.tx := completions.io.events
  io.status.forwards := begun(RxRoute.Forward)
  io.status.rxDropped := begun(RxRoute.Drop)
  io.status.rxLost := bypass.io.lost || entry.io.lost
  io.status.rxCut := bypass.io.cut
  io.events(0).completion := completions.io.events.ours
}

object PortPath {

  /** A lane's registers, which know a wider address, behind a block's part of the BAR. */
  private def connect(lane: AxiLite, block: AxiLite): Unit = {
    lane.aw <> block.aw
    lane.w <> block.w
    lane.b <> block.b
    lane.ar <> block.ar
    lane.r <> block.r
  }

  /** What a lane's trace says to its statistics; what a wire lane's completions say is added to it. */
  private def events(lane: Lane): LaneEvents = {
    val decision = lane.io.decision.bits
    val decided = lane.io.decision.valid && !decision.refresh
    val evicted = decided && decision.contest && decision.outcome.evicted
    val dropped = decided && !Verdict.admits(decision.verdict)
    def bytes(when: Bool, lenBytes: UInt): UInt = Mux(when, lenBytes, 0.U(PktLenBits.W))
    val e = Wire(new LaneEvents)
    e.verdict.valid := decided
    e.verdict.bits := decision.verdict
    e.evicted := evicted
    e.lost := PopCount(lane.io.lost.map(_.valid))
    e.sent.valid := lane.io.departed.valid
    e.sent.bits := lane.io.departed.bits.lenBytes
    e.droppedBytes := (bytes(dropped, decision.lenBytes) +& bytes(evicted, decision.outcome.victim.lenBytes)) +&
      lane.io.lost.map(lost => bytes(lost.valid, lost.bits)).reduce(_ +& _)
    e.ceWritten := lane.io.ceWritten
    e.completion := false.B
    e.ptp := lane.fates.map(report => report.fate.valid && report.fate.bits.ptpEvent).getOrElse(false.B)
    e
  }
}
