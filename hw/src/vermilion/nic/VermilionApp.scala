package vermilion.nic

import chisel3._
import vermilion.stream.HeldReset

/** The app block of a NIC: lanes between its MACs and its host (docs/nic.md).
  *
  * {{{
  *   BAR -> AppBar -+-> AppRegisters -> routes, time, statistics
  *                  +-> lanes' registers
  *   AppClock -> time of all lanes
  *   PortPath, one per port: TX, RX, completions
  *   NicLane, one per way or one for all ways: to the wire of a port, from its host or from its peer's MAC, and to the host of a port
  *   lanes' events -> StatPort -> statistics of the NIC
  * }}}
  * Ports have the names and packed widths of the NIC's core. A Verilog shell instantiates this block and connects them. There is one clock and one
  * synchronous reset; the internal reset begins and ends one cycle later ([[vermilion.stream.HeldReset]]). `s_axis_sync_rx_tready` is always 1. Beats that arrive there
  * during reset, or in the cycle after it, are lost.
  */
class VermilionApp(p: NicParams) extends RawModule {
  override def desiredName: String = "vermilion_app"
  val clk = IO(Input(Clock()))
  val rst = IO(Input(Bool()))
  val io = FlatIO(new AppPorts(p))

  private val held = HeldReset(clk, rst)
  withClockAndReset(clk, held) {
    val bar = Module(new AppBar(p.lanes.size + 1))
    val registers = Module(new AppRegisters(p))
    val time = Module(new AppClock(p.clockNum, p.clockDenom, p.ptpTime))
    val statistics = Module(new StatPort(p.ways.size))
    val lanes = p.lanes.map(l => Module(new NicLane(p, l)).suggestName(s"lane_${l.number}"))

    /** The reports of lanes that go to the host of a port: the first that the lane serves. */
    def reportsTo(port: Int) =
      p.lanes.zip(lanes).filter(_._1.ways.head.port == port).flatMap(_._2.reports)
    val ports = Seq.tabulate(p.ports)(i => Module(new PortPath(p, reportsTo(i).size)).suggestName(s"port_$i"))
    def laneOf(way: Way): NicLane = lanes(p.placeOf(way).get._1)

    bar.io.host.takeUnless(held, io.s_axil_app_ctrl.bus)
    registers.io.axi <> bar.io.block(0)
    for ((lane, i) <- lanes.zipWithIndex) {
      lane.now := time.io.now
      lane.control <> bar.io.block(i + 1)
    }

    time.io.ptp := io.ptp_sync_ts_rel
    time.io.usePtp := registers.io.control.usePtp
    registers.io.now := time.io.now
    registers.io.ptpLocked := io.ptp_sync_locked

    statistics.io.enable := registers.io.control.statEnable
    statistics.io.base := registers.io.control.statBase
    io.m_axis_stat_tdata := statistics.io.out.bits.data
    io.m_axis_stat_tid := statistics.io.out.bits.id
    io.m_axis_stat_tvalid := statistics.io.out.valid && !held
    statistics.io.out.ready := io.m_axis_stat_tready

    val hostTx = io.s_axis_sync_tx.receive().map(HeldReset.gate(_, held))
    val macCompletion = io.s_axis_sync_tx_cpl.receive().map(HeldReset.gate(_, held))
    val macRx = io.s_axis_sync_rx.receive()
    for ((port, i) <- ports.zipWithIndex) {
      port.io.control := registers.io.port(i)
      registers.io.status(i) := port.io.status
      port.io.hostTx <> hostTx(i)
      port.io.macCompletion <> macCompletion(i)
      port.io.macRx.valid := macRx(i).valid
      port.io.macRx.bits := macRx(i).bits
      macRx(i).ready := true.B

      val (toWire, toHost) = (Way(i, toHost = false), Way(i, toHost = true))
      val lane = laneOf(toWire)
      lane.tx(i) <> port.io.toWire
      port.io.wire <> lane.wire(i)
      port.io.report <> lane.report(i)
      port.io.lost := lane.lost(i)
      port.io.ptp := lane.events(toWire).ptp
      port.host.foreach(_ <> laneOf(toHost).host(i))
      for ((to, from) <- port.reports.zip(reportsTo(i))) to <> from
    }
    // A MAC's frames go to the wire of the peer or to the host of their own port: through one input of a lane for both ways, or of one lane each.
    for ((lane, l) <- lanes.zip(p.lanes); FrameSource(i, false) <- l.inputs) {
      val forward = Option.when(l.ways.contains(Way(p.peer(i), toHost = false)))(ports(i).io.forward)
      val both = forward.toSeq ++ ports(i).toHost.filter(_ => l.ways.contains(Way(i, toHost = true)))
      lane.rx(i).valid := both.map(_.valid).reduce(_ || _)
      lane.rx(i).bits := both.head.bits // the same for all
      lane.rxToWire(i) := forward.map(_.valid).getOrElse(false.B)
    }
    for ((way, events) <- p.ways.zip(statistics.io.events)) {
      events := laneOf(way).events(way)
      if (!way.toHost) events.completion := ports(way.port).io.status.tx.ours
    }
    io.m_axis_sync_tx.send(ports.map(port => HeldReset.gate(port.io.macTx, held)))
    io.m_axis_sync_tx_cpl.send(ports.map(port => HeldReset.gate(port.io.hostCompletion, held)))
    io.m_axis_sync_rx.send(ports.map(port => HeldReset.gate(port.io.hostRx, held)))
  }
}
