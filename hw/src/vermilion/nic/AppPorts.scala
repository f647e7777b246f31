package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.control.AxiLite
import vermilion.stream.AxisBeat

/** The streams of all ports as in a NIC's core: packed, port 0 in the low bits.
  *
  * Bit 0 of a port's `tuser` is `bad`; the bits above it are the frame's `user`.
  */
class AxisVector(ports: Int, dataBits: Int, userBits: Int) extends Bundle {
  val tdata = Output(UInt((ports * dataBits).W))
  val tkeep = Output(UInt((ports * dataBits / 8).W))
  val tvalid = Output(UInt(ports.W))
  val tready = Input(UInt(ports.W))
  val tlast = Output(UInt(ports.W))
  val tuser = Output(UInt((ports * (userBits + 1)).W))

  /** Unpacks the vector into streams. */
  def receive(): Seq[DecoupledIO[AxisBeat]] = {
    val streams = Seq.tabulate(ports) { i =>
      val stream = Wire(Decoupled(new AxisBeat(dataBits, userBits)))
      val user = AppPorts.slice(tuser, i, ports)
      stream.valid := tvalid(i)
      stream.bits.data := AppPorts.slice(tdata, i, ports)
      stream.bits.keep := AppPorts.slice(tkeep, i, ports)
      stream.bits.last := tlast(i)
      stream.bits.bad := user(0)
      stream.bits.user := (if (userBits == 0) 0.U(0.W) else user(userBits, 1))
      stream
    }
    tready := VecInit(streams.map(_.ready)).asUInt
    streams
  }

  /** Packs streams into the vector. */
  def send(streams: Seq[DecoupledIO[AxisBeat]]): Unit = {
    tdata := VecInit(streams.map(_.bits.data)).asUInt
    tkeep := VecInit(streams.map(_.bits.keep)).asUInt
    tvalid := VecInit(streams.map(_.valid)).asUInt
    tlast := VecInit(streams.map(_.bits.last)).asUInt
    tuser := VecInit(streams.map(s => Cat(s.bits.user, s.bits.bad))).asUInt
    streams.zipWithIndex.foreach { case (s, i) => s.ready := tready(i) }
  }
}

/** Reports that a TX frame has left or will never leave, so the host may reuse its buffer. */
class Completion extends Bundle {
  val ts = UInt(NicParams.TimestampBits.W) // time at which the frame left; 0: it did not leave, or unknown
  val tag = UInt(NicParams.TagBits.W)
}

/** The completions of all ports: packed, port 0 in the low bits. */
class CompletionVector(ports: Int) extends Bundle {
  val ts = Output(UInt((ports * NicParams.TimestampBits).W))
  val tag = Output(UInt((ports * NicParams.TagBits).W))
  val valid = Output(UInt(ports.W))
  val ready = Input(UInt(ports.W))

  def receive(): Seq[DecoupledIO[Completion]] = {
    val streams = Seq.tabulate(ports) { i =>
      val stream = Wire(Decoupled(new Completion))
      stream.valid := valid(i)
      stream.bits.ts := AppPorts.slice(ts, i, ports)
      stream.bits.tag := AppPorts.slice(tag, i, ports)
      stream
    }
    ready := VecInit(streams.map(_.ready)).asUInt
    streams
  }

  def send(streams: Seq[DecoupledIO[Completion]]): Unit = {
    ts := VecInit(streams.map(_.bits.ts)).asUInt
    tag := VecInit(streams.map(_.bits.tag)).asUInt
    valid := VecInit(streams.map(_.valid)).asUInt
    streams.zipWithIndex.foreach { case (s, i) => s.ready := ready(i) }
  }
}

/** AXI4-Lite with the names of its signals, from the slave's side. */
class AxiLitePins(addressBits: Int) extends Bundle {
  val awaddr = Input(UInt(addressBits.W))
  val awvalid = Input(Bool())
  val awready = Output(Bool())
  val wdata = Input(UInt(32.W))
  val wstrb = Input(UInt(4.W))
  val wvalid = Input(Bool())
  val wready = Output(Bool())
  val bresp = Output(UInt(2.W))
  val bvalid = Output(Bool())
  val bready = Input(Bool())
  val araddr = Input(UInt(addressBits.W))
  val arvalid = Input(Bool())
  val arready = Output(Bool())
  val rdata = Output(UInt(32.W))
  val rresp = Output(UInt(2.W))
  val rvalid = Output(Bool())
  val rready = Input(Bool())

  /** The same as a bus. */
  def bus: AxiLite = {
    val axi = Wire(new AxiLite(addressBits))
    axi.aw.valid := awvalid
    axi.aw.bits := awaddr
    awready := axi.aw.ready
    axi.w.valid := wvalid
    axi.w.bits.data := wdata
    axi.w.bits.strb := wstrb
    wready := axi.w.ready
    bvalid := axi.b.valid
    bresp := axi.b.bits
    axi.b.ready := bready
    axi.ar.valid := arvalid
    axi.ar.bits := araddr
    arready := axi.ar.ready
    rvalid := axi.r.valid
    rdata := axi.r.bits.data
    rresp := axi.r.bits.resp
    axi.r.ready := rready
    axi
  }
}

/** A beat of a NIC's statistics stream: one increment of one counter. */
class StatBeat extends Bundle {
  val data = UInt(NicParams.StatIncBits.W)
  val id = UInt(NicParams.StatIdBits.W)
}

/** All ports of the block except clock and reset, with the names and widths that the Verilog shell around it connects. */
class AppPorts(p: NicParams) extends Bundle {
  private def axis(userBits: Int) = new AxisVector(p.ports, p.dataBits, userBits)
  val s_axil_app_ctrl = new AxiLitePins(NicParams.AddressBits)
  val ptp_sync_ts_rel = Input(UInt(64.W)) // 48 bits of ns, 16 bits of fraction
  val ptp_sync_locked = Input(Bool())
  val s_axis_sync_tx = Flipped(axis(NicParams.TagBits))
  val m_axis_sync_tx = axis(NicParams.TagBits)
  val s_axis_sync_tx_cpl = Flipped(new CompletionVector(p.ports))
  val m_axis_sync_tx_cpl = new CompletionVector(p.ports)
  val s_axis_sync_rx = Flipped(axis(p.timestampBits))
  val m_axis_sync_rx = axis(p.timestampBits)
  val m_axis_stat_tdata = Output(UInt(NicParams.StatIncBits.W))
  val m_axis_stat_tid = Output(UInt(NicParams.StatIdBits.W))
  val m_axis_stat_tvalid = Output(Bool())
  val m_axis_stat_tready = Input(Bool())
}

object AppPorts {

  /** The part of port `i` in a vector of `ports` equal parts. */
  def slice(vector: UInt, i: Int, ports: Int): UInt = {
    val width = vector.getWidth / ports
    vector(width * (i + 1) - 1, width * i)
  }
}
