package vermilion.departure

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.fixed.{ForwardingRam, SweepInit}
import vermilion.lane.LaneParams

/** The PIE settings of one queue. They are written as a whole. */
class QueuePie(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val settings = new PieSettings
}

/** Settings of a queue's PIE, with its T_update. */
class PieSettings extends Bundle {
  val pie = new PieConfig
  val interval = UInt(UpdateSweep.IntervalBits.W) // in ticks of 2^16 ns; 1 and more
}

/** The signals between the queues and PIE: departures, and whether a queue is empty. */
class PieQueuePorts(p: LaneParams) extends Bundle {
  val departed = Flipped(Valid(new PieDeparture(p)))
  val query = Output(UInt(p.queueBits.W))
  val isEmpty = Input(Bool()) // one cycle after `query`
}

/** What PIE has beside its arrivals. `wake` and `busy` are those of the updates: `busy` is low until `wake`, a time in ns. */
class PiePorts(p: LaneParams) extends Bundle {
  val queues = new PieQueuePorts(p)
  val wake = Valid(UInt(TimeBits.W))
  val busy = Output(Bool())
}

/** PIE (RFC 8033) in all queues that have it: a [[PieUnit]], the settings of the queues, and the updates ([[UpdateSweep]]).
  *
  * Timing as in [[PieUnit]]. Arrivals from the cycle of a configuration on have its settings, departures and updates from the next one on. A queue decides from the pass
  * of the sweep on that follows after its PIE is turned on. `ready` is low for `queues` cycles after a reset.
  */
class PieQueues(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W)) // ns
    val configure = Flipped(Valid(new QueuePie(p)))
    val arrival = Flipped(Valid(new PieArrival(p)))
    val lost = Input(Bool()) // with the result
    val verdict = Output(new PieVerdict)
    val probability = Output(UInt(32.W)) // U0.32
    val ports = new PiePorts(p)
    val ready = Output(Bool())
  })
  private class ForArrivals extends Bundle {
    val on, ecn, byteMode = Bool()
    val target, burst = UInt(PieUnit.DelayBits.W)
    val mtu = UInt(PieUnit.MtuBits.W)
  }
  private class ForUpdates extends Bundle {
    val sweep = new UpdateSettings
    val target = UInt(PieUnit.DelayBits.W)
    val alpha, beta = UInt(PieUnit.GainBits.W)
    val mtu = UInt(PieUnit.MtuBits.W)
  }
  private val unit = Module(new PieUnit(p))
  private val updates = Module(new UpdateSweep(p.queues))
  private val clear = new SweepInit(p.queues)
  private def ofQueues[T <: Data](record: T, name: String, write: T => Unit): ForwardingRam[T] = {
    val ram = new ForwardingRam(p.queues, record).suggestName(name)
    val written = Wire(record)
    write(written)
    ram.write(!clear.done, clear.address, 0.U.asTypeOf(record))
    ram.write(io.configure.valid, io.configure.bits.queue, written)
    ram
  }
  private val settings = io.configure.bits.settings
  private val forArrivals = ofQueues[ForArrivals](
    new ForArrivals,
    "forArrivals",
    { to =>
      to.on := settings.pie.on
      to.ecn := settings.pie.ecn
      to.byteMode := settings.pie.byteMode
      to.target := settings.pie.target
      to.burst := settings.pie.burst
      to.mtu := settings.pie.mtu
    }
  )
  private val bursts = ofQueues[UInt](UInt(PieUnit.DelayBits.W), "bursts", _ := settings.pie.burst)
  private val forUpdates = ofQueues[ForUpdates](
    new ForUpdates,
    "forUpdates",
    { to =>
      to.sweep.on := settings.pie.on
      to.sweep.interval := settings.interval
      to.target := settings.pie.target
      to.alpha := settings.pie.alpha
      to.beta := settings.pie.beta
      to.mtu := settings.pie.mtu
    }
  )

  private val asked = forArrivals.read(io.arrival.bits.queue)
  unit.io.arrival := io.arrival
  unit.io.config := DontCare // what arrivals do not use
  unit.io.config.on := asked.on && updates.io.active
  unit.io.config.ecn := asked.ecn
  unit.io.config.byteMode := asked.byteMode
  unit.io.config.target := asked.target
  unit.io.config.burst := asked.burst
  unit.io.config.mtu := asked.mtu
  unit.io.lost := io.lost
  io.verdict.drop := unit.io.drop
  io.verdict.mark := unit.io.mark
  io.probability := unit.io.probability

  unit.io.departure := io.ports.queues.departed
  unit.io.burst := bursts.read(io.ports.queues.departed.bits.queue)

  updates.io.now := io.now
  updates.io.configured := io.configure.valid
  updates.io.query := io.arrival.bits.queue
  io.ports.queues.query := updates.io.index
  private val updated = forUpdates.read(updates.io.index)
  updates.io.settings := updated.sweep
  unit.io.update.valid := updates.io.update.valid
  updates.io.update.ready := unit.io.update.ready
  unit.io.update.bits.queue := updates.io.update.bits.index
  unit.io.update.bits.begins := updates.io.update.bits.begins
  unit.io.update.bits.isEmpty := io.ports.queues.isEmpty
  unit.io.update.bits.config := DontCare // what updates do not use
  unit.io.update.bits.config.on := true.B
  unit.io.update.bits.config.target := updated.target
  unit.io.update.bits.config.alpha := updated.alpha
  unit.io.update.bits.config.beta := updated.beta
  unit.io.update.bits.config.mtu := updated.mtu
  io.ports.wake := updates.io.wake
  io.ports.busy := updates.io.busy
  io.ready := unit.io.ready && updates.io.ready && clear.done
}
