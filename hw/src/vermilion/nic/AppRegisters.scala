package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.control.{AxiLite, AxiLiteSlave}
import vermilion.fixed.Formats.TimeBits
import vermilion.nic.{AppRegisterMap => R}

/** The routes of a port's RX frames. */
object RxRoute {
  val Bypass = 0 // to the host
  val HostLane = 1
  val Forward = 2 // into the peer's wire lane
  val Drop = 3
  val Count = 4
  val Bits = 2
}

/** The settings of a port. */
class PortControl extends Bundle {
  val txByLane = Bool()
  val rxRoute = UInt(RxRoute.Bits.W)
  val completeAtEnqueue = Bool()
}

/** The state and the events of a port. Each event lasts one cycle. */
class PortStatus extends Bundle {
  val txByLane = Bool() // in effect
  val rxRoute = UInt(RxRoute.Bits.W)
  val waits = Bool()
  val tx = new TxEvents
  val ptp = Bool() // a verdict on a PTP event frame on its way to the wire, from any source
  val forwards = Bool() // a frame of this port's RX
  val rxLost = Bool()
  val rxCut = Bool()
  val rxDropped = Bool()

  /** Events in the order of the registers that count them. */
  def counted: Seq[Bool] =
    Seq(tx.taken, tx.forDrop, tx.forEviction, tx.atEnqueue, tx.ofMac, ptp, forwards, rxLost, rxCut, rxDropped)
}

/** The settings of the whole block. */
class AppControl extends Bundle {
  val usePtp = Bool()
  val statBase = UInt(NicParams.StatIdBits.W)
  val statEnable = Bool()
}

/** The app block's own registers, of `hw/regs/app.rdl` (`docs/app-registers.md`), with an AXI4-Lite port.
  *
  * Settings are flip-flops. A port's counters are totals in RAM ([[EventTotals]]), at most 19 cycles late. A read of a
  * low half copies the high half to a second RAM, and the read of the high half returns that copy. A setting takes effect
  * in the cycle after its write, before the write is answered.
  *
  * @param counterStart value of the counters after a reset; values other than 0 are for tests of the high halves
  */
class AppRegisters(p: NicParams, counterStart: BigInt = 0) extends Module {
  val io = IO(new Bundle {
    val axi = new AxiLite(NicParams.BlockBits)
    val now = Input(UInt(TimeBits.W))
    val ptpLocked = Input(Bool())
    val status = Input(Vec(p.ports, new PortStatus))
    val control = Output(new AppControl)
    val port = Output(Vec(p.ports, new PortControl))
  })
  private val slave = Module(new AxiLiteSlave(NicParams.BlockBits))
  slave.io.axi <> io.axi
  slave.io.hold := false.B
  private val write = slave.io.write

  /** A register of flip-flops for a field. `legal` maps a written value to a legal one. */
  private def setting(address: Int, field: R.Field, initial: Int)(legal: UInt => UInt): UInt = {
    val value = RegInit(initial.U((field.high - field.low + 1).W))
    val mask = field(write.bits.mask)
    when(write.valid && write.bits.address === address.U) {
      value := legal((value & ~mask) | (field(write.bits.data) & mask))
    }
    value
  }
  private val shown = scala.collection.mutable.Map.empty[Int, UInt]

  // -- build parameters --
  private def flag(on: Boolean, field: R.Field): Int = if (on) 1 << field.low else 0
  private val constants = Seq[(Int, BigInt)](
    R.BlockType() -> BigInt("564d0002", 16),
    R.Version() -> BigInt("00010001", 16),
    R.NextBlock() -> NicParams.laneBase(0),
    R.Ports() -> p.ports,
    R.Lanes() -> p.lanes.size,
    R.DataBits() -> p.dataBits,
    R.Features() -> (flag(p.hasHost, R.Features.hostLanes) + flag(p.timestamps, R.Features.timestamps) +
      flag(p.ptpTime, R.Features.ptpTime)),
    R.ClockNum() -> p.clockNum,
    R.ClockDenom() -> p.clockDenom,
    R.StatIds() -> NicParams.StatIds
  )
  for ((address, value) <- constants) shown += address -> value.U(32.W)

  // -- the whole block --
  private val timeSource = setting(R.Control(), R.Control.timeSource, 0)(if (p.ptpTime) identity else _ => 0.U)
  private val statBase = setting(R.Statistics(), R.Statistics.base, 64)(identity)
  private val statEnable = setting(R.Statistics(), R.Statistics.enable, 1)(identity)
  io.control.usePtp := timeSource.asBool
  io.control.statBase := statBase
  io.control.statEnable := statEnable.asBool
  shown += R.Control() -> timeSource
  shown += R.Status() -> io.ptpLocked
  shown += R.Statistics() -> Cat(statEnable, statBase.pad(R.Statistics.enable.low))

  // The address of a read is valid from the cycle after its acceptance; its data is needed two cycles later.
  private val accepted = RegNext(io.axi.ar.fire, false.B)
  private val address = slave.io.readAddress
  private val nowHigh = RegEnable(io.now(TimeBits - 1, 32), 0.U, accepted && address === R.NowLow().U)
  shown += R.NowLow() -> io.now(31, 0)
  shown += R.NowHigh() -> nowHigh

  // -- ports --
  private def inPort(i: Int): Bool = (address >> PortBits).asUInt === (R.PortRoute(i) >> PortBits).U
  private val inCounters = address(PortBits - 1, 0) >= CountersAt.U && address(PortBits - 1, 0) < CountersEnd.U
  private val counter = address(PortBits - 1, 3) - (CountersAt >> 3).U
  private val high = address(2)
  private val counts = Seq.tabulate(p.ports) { i =>
    val status = io.status(i)
    val tx = setting(R.PortRoute(i), R.PortRoute.tx, 0)(identity)
    val rx = setting(R.PortRoute(i), R.PortRoute.rx, RxRoute.Bypass)(x =>
      if (p.hasHost) x else Mux(x === RxRoute.HostLane.U, RxRoute.Bypass.U, x)
    )
    val atEnqueue = setting(R.PortCompletion(i), R.PortCompletion.atEnqueue, 1)(identity)
    io.port(i).txByLane := tx.asBool
    io.port(i).rxRoute := rx
    io.port(i).completeAtEnqueue := atEnqueue.asBool
    shown += R.PortRoute(i) -> Cat(rx, tx.pad(R.PortRoute.rx.low))
    shown += R.PortCompletion(i) -> atEnqueue
    shown += R.PortWays(i) -> waysOf(i).U(32.W)
    val effect = R.PortRouteInEffect
    shown += effect(i) ->
      Cat(
        status.waits,
        status.rxRoute.pad(effect.waits.low - effect.rx.low),
        0.U((effect.rx.low - 1).W),
        status.txByLane
      )

    val events = status.counted
    require(events.size == (CountersEnd - CountersAt) / 8, s"${events.size} events counted; the map has others")
    val totals = new EventTotals(events.map(event => RegNext(event, false.B).asUInt), 64, counterStart)
    totals.close()
    val index = counter(log2Ceil(totals.slots) - 1, 0)
    val total = totals.read(index)
    val taken = Mem(totals.slots, UInt(32.W))
    val here = inPort(i) && inCounters
    when(accepted && here && !high) { taken.write(index, total(63, 32)) }
    RegNext(Mux(here, Mux(high, taken.read(index), total(31, 0)), 0.U))
  }

  // -- reads --
  private val words = shown.toSeq.sortBy(_._1).map { case (at, x) => at.U -> x.asTypeOf(UInt(32.W)) }
  slave.io.readData := RegNext(RegNext(MuxLookup(address, 0.U(32.W))(words)) | counts.reduce(_ | _))

  /** The register `ways` of a port: lane and egress of its way to the wire, and of its way to the host; each 0xff if the way is not built. */
  private def waysOf(port: Int): BigInt = {
    def place(toHost: Boolean): BigInt =
      p.placeOf(Way(port, toHost)).map { case (lane, egress) => BigInt(egress << 8 | lane) }.getOrElse(BigInt(0xffff))
    place(toHost = false) | place(toHost = true) << 16
  }

  private def CountersAt: Int = R.PortTakenLow(0) - R.PortRoute(0)
  private def CountersEnd: Int = R.PortRxDroppedHigh(0) - R.PortRoute(0) + 4
  private def PortBits: Int = log2Ceil(R.PortRoute(1) - R.PortRoute(0))
}
