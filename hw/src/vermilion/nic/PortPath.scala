package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Routes the frames of one port, in both directions, through the lanes or past them, and handles its completions.
  *
  * {{{
  *   host tx -> Queue -> FrameSwitch -+------------------------> FrameJoin -> Queue -> MAC tx
  *                                    +-> toWire ~ lane ~ wire ---^    |
  *                                                                     v tags, fates
  *                                      MAC's completions -> TxCompletions ---------> host's completions
  *
  *   MAC rx -> RxEntry -> FrameSwitch -+-> RxBypass ------------> FrameJoin -> Queue -> host rx
  *                                     +-> toHost ~ lane ~ host --^
  *                                     +-> forward ~ lane ~ wire of the peer
  *                                     +-> dropped          reports of lanes ---^
  * }}}
  * The lanes ([[NicLane]]) are outside this module. MAC rx is never stalled, because nothing after it can stall. No `ready` of an output reaches an
  * input in the same cycle.
  *
  * @param reporters lanes whose reports go to the host of this port
  */
class PortPath(p: NicParams, reporters: Int = 0) extends Module {
  private def txBeat = new AxisBeat(p.dataBits, NicParams.TagBits)
  private def rxBeat = new AxisBeat(p.dataBits, p.timestampBits)
  val io = IO(new Bundle {
    val control = Input(new PortControl)
    val status = Output(new PortStatus)
    val hostTx = Flipped(Decoupled(txBeat))
    val macTx = Decoupled(txBeat)
    val macCompletion = Flipped(Decoupled(new Completion))
    val hostCompletion = Decoupled(new Completion)
    val macRx = Flipped(Valid(rxBeat))
    val hostRx = Decoupled(rxBeat)
    // To and from the lanes.
    val toWire = Decoupled(txBeat)
    val wire = Flipped(Decoupled(txBeat))
    val report = Flipped(new TxReport)
    val lost = Input(Bool()) // a frame of `toWire`
    val ptp = Input(Bool()) // a verdict on a PTP event frame on its way to the wire
    val forward = Valid(rxBeat)
  })

  /** To and from the host lane, in builds with a way to the host. */
  val toHost: Option[Valid[AxisBeat]] = Option.when(p.hasHost)(IO(Valid(rxBeat)))
  val host: Option[DecoupledIO[AxisBeat]] = Option.when(p.hasHost)(IO(Flipped(Decoupled(rxBeat))))

  val reports: Seq[DecoupledIO[AxisBeat]] =
    Seq.tabulate(reporters)(i => IO(Flipped(Decoupled(rxBeat))).suggestName(s"reports_$i"))

  // -- TX --
  private val hostTx = Queue(io.hostTx, 2)
  private val tx = Module(new FrameSwitch(txBeat, 2))
  private val completions = Module(new TxCompletions)
  private val toMac = Module(new FrameJoin(txBeat, 2))
  private val firstTag = RegEnable(hostTx.bits.user, tx.io.begins)
  tx.io.in <> hostTx
  tx.io.wanted := io.control.txByLane
  tx.io.mayBegin := VecInit(true.B, completions.io.mayBegin)
  toMac.io.in(0) <> tx.io.out(0)
  toMac.io.in(1) <> io.wire
  io.macTx <> Queue(toMac.io.out, 2)

  private val begins = tx.io.begins && tx.io.inEffect === 1.U
  io.toWire <> tx.io.out(1)
  io.toWire.bits.user := Mux(tx.io.first, hostTx.bits.user, firstTag) // one tag for all beats

  completions.io.atEnqueue := io.control.completeAtEnqueue
  completions.io.tag := hostTx.bits.user
  completions.io.begins := begins
  completions.io.report <> io.report
  completions.io.lost := io.lost
  completions.io.leaves.valid := io.wire.fire && io.wire.bits.last
  completions.io.leaves.bits := io.wire.bits.user
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

  private def routed(to: Valid[AxisBeat], route: Int): Unit = {
    to.valid := rx.io.out(route).valid
    to.bits := rx.io.out(route).bits
  }
  routed(bypass.io.in, RxRoute.Bypass)
  routed(io.forward, RxRoute.Forward)
  toHost.foreach(routed(_, RxRoute.HostLane))
  private val stalled = host.toSeq ++ reports // these can be, the reports for ever
  if (stalled.isEmpty) io.hostRx <> Queue(bypass.io.out, 2)
  else {
    val join = Module(new FrameJoin(rxBeat, 1 + stalled.size, inOrder = true))
    for ((in, out) <- join.io.in.zip(bypass.io.out +: stalled)) in <> out
    io.hostRx <> Queue(join.io.out, 2)
  }

  // -- status --
  private def begun(route: Int): Bool = rx.io.begins && rx.io.inEffect === route.U
  io.status.txByLane := tx.io.inEffect.asBool
  io.status.rxRoute := rx.io.inEffect
  io.status.waits := tx.io.waits || rx.io.waits
  io.status.tx := completions.io.events
  io.status.ptp := io.ptp
  io.status.forwards := begun(RxRoute.Forward)
  io.status.rxDropped := begun(RxRoute.Drop)
  io.status.rxLost := bypass.io.lost || entry.io.lost
  io.status.rxCut := bypass.io.cut
}
