package vermilion.nic

import chisel3._

/** The app block of a NIC: lanes between its MACs and its host (docs/nic.md).
  *
  * {{{
  *   BAR -> AppBar -+-> AppRegisters -> routes, time, statistics
  *                  +-> lanes' registers
  *   AppClock -> time of all lanes
  *   PortPath a port: TX, RX, completions; its RX can go into its peer's TX
  *   lanes' events -> StatPort -> statistics of the NIC
  * }}}
  * Ports have the names and packed widths of the NIC's core, by way of the Verilog shell that instantiates this. One
  * clock, one synchronous reset. `s_axis_sync_rx_tready` is always 1; what comes in reset vanishes.
  */
class VermilionApp(p: NicParams) extends RawModule {
  override def desiredName: String = "vermilion_app"
  val clk = IO(Input(Clock()))
  val rst = IO(Input(Bool()))
  val io = FlatIO(new AppPorts(p))

  withClockAndReset(clk, rst) {
    val bar = Module(new AppBar(p.lanes + 1))
    val registers = Module(new AppRegisters(p))
    val time = Module(new AppClock(p.clockNum, p.clockDenom, p.ptpTime))
    val statistics = Module(new StatPort(p.lanes))
    val ports = Seq.tabulate(p.ports)(i => Module(new PortPath(p, i)))

    io.s_axil_app_ctrl.drive(bar.io.host)
    registers.io.axi <> bar.io.block(0)
    for (port <- 0 until p.ports; lane <- 0 until p.lanesPerPort) {
      val number = p.wireLane(port) + lane
      ports(port).io.lanes(lane) <> bar.io.block(number + 1)
      statistics.io.events(number) := ports(port).io.events(lane)
    }

    time.io.ptp := io.ptp_sync_ts_rel
    time.io.usePtp := registers.io.control.usePtp
    registers.io.now := time.io.now
    registers.io.ptpLocked := io.ptp_sync_locked

    statistics.io.enable := registers.io.control.statEnable
    statistics.io.base := registers.io.control.statBase
    io.m_axis_stat_tdata := statistics.io.out.bits.data
    io.m_axis_stat_tid := statistics.io.out.bits.id
    io.m_axis_stat_tvalid := statistics.io.out.valid
    statistics.io.out.ready := io.m_axis_stat_tready

    val hostTx = io.s_axis_sync_tx.receive()
    val macCompletion = io.s_axis_sync_tx_cpl.receive()
    val macRx = io.s_axis_sync_rx.receive()
    for ((port, i) <- ports.zipWithIndex) {
      port.io.now := time.io.now
      port.io.control := registers.io.port(i)
      registers.io.status(i) := port.io.status
      port.io.hostTx <> hostTx(i)
      port.io.macCompletion <> macCompletion(i)
      port.io.macRx.valid := macRx(i).valid
      port.io.macRx.bits := macRx(i).bits
      macRx(i).ready := true.B
      ports(p.peer(i)).io.forwarded := port.io.forward
    }
    io.m_axis_sync_tx.send(ports.map(_.io.macTx))
    io.m_axis_sync_tx_cpl.send(ports.map(_.io.hostCompletion))
    io.m_axis_sync_rx.send(ports.map(_.io.hostRx))
  }
}
