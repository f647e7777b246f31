package vermilion.protect

import chisel3._
import chisel3.util._
import vermilion.fixed.{ForwardingRam, Memory, MemoryKind}

/** What the guarded memories of a module, and of the modules in it, say and hear. */
class GuardPorts(count: Int) extends Bundle {
  val events = Output(Vec(count, new UpsetEvents))
  val ready = Output(Bool()) // all are cleared; until then nothing may be written but zeros
  val failed = Input(
    Bool()
  ) // a word was used that could not be corrected, in a clock before this one: nothing more may leave
}

/** The long-lived memories of a module: plain, or protected by [[ScrubbedRam]] in builds with `LaneParams.protect`.
  *
  * Latencies are the same in both. A plain memory is the `ForwardingRam` or `Memory` that it was, and costs what it did.
  * At the module's end `val guard = guards.ports(inner...)` brings out the events, those of inner modules behind its own.
  */
class Guards(protect: Boolean) {
  private val rams = scala.collection.mutable.ArrayBuffer.empty[ScrubbedRam]

  /** A register elsewhere, set for good by the first `uncorrectable` event of any memory of the lane. */
  val failed: Bool = if (protect) WireDefault(false.B) else false.B

  private[protect] def add(ram: ScrubbedRam): ScrubbedRam = {
    rams += ram
    ram
  }

  def ram[T <: Data](depth: Int, gen: T): GuardedRam[T] = new GuardedRam(depth, gen, protect, this, None)

  /** As [[ram]], but a plain one, called `name`, does not forward: a read in the clock of a write gives anything. */
  def unforwarded[T <: Data](name: String, depth: Int, gen: T): GuardedRam[T] =
    new GuardedRam(depth, gen, protect, this, Some(name))

  def ports(inner: Option[GuardPorts]*): Option[GuardPorts] = Option.when(protect) {
    val within = inner.flatten
    val guard = IO(new GuardPorts(rams.size + within.map(_.events.size).sum))
    guard.suggestName("guard")
    guard.events := VecInit(rams.map(_.io.events).toSeq ++ within.flatMap(_.events))
    guard.ready := (rams.map(_.io.ready) ++ within.map(_.ready)).reduce(_ && _)
    within.foreach(_.failed := guard.failed)
    failed := guard.failed
    guard
  }
}

/** A memory with one write port and a copy of itself for each read port; latency 1. See [[Guards]]. */
class GuardedRam[T <: Data](depth: Int, gen: T, protect: Boolean, guards: Guards, unforwarded: Option[String]) {
  private val forwarding = Option.when(!protect && unforwarded.isEmpty)(new ForwardingRam(depth, gen))
  private val array =
    unforwarded.filter(_ => !protect).map(name => new Memory(depth, gen, MemoryKind.of(depth)).suggestName(name))
  private val writing = Option.when(protect) {
    val port = Wire(Valid(new Bundle {
      val address = UInt(log2Ceil(depth).max(1).W)
      val data = gen.cloneType
    }))
    port.valid := false.B
    port.bits := DontCare
    port
  }

  /** Drives the write port; the last connection in program order wins. */
  def write(enable: Bool, address: UInt, data: T): Unit = {
    forwarding.foreach(_.write(enable, address, data))
    array.foreach(_.write(enable, address, data))
    writing.foreach { port =>
      when(enable) {
        port.valid := true.B
        port.bits.address := address
        port.bits.data := data
      }
    }
  }

  /** Adds a read port; the data belong to the address of the clock before. `used`: whether anything hangs on them, in their clock. The second
    * result says that they are wrong and beyond correction.
    */
  def check(address: UInt, used: => Bool, enable: => Bool = true.B): (T, Bool) = writing match {
    case None => (forwarding.map(_.read(address)).getOrElse(array.get.read(address)), false.B)
    case Some(port) =>
      val ram = guards.add(Module(new ScrubbedRam(depth, gen.getWidth)))
      unforwarded.foreach(name => ram.suggestName(s"${name}Ram"))
      ram.io.write.valid := port.valid
      ram.io.write.bits.address := port.bits.address
      ram.io.write.bits.data := port.bits.data.asUInt
      ram.io.readAddress := address
      ram.io.used := used
      (ram.io.readData.asTypeOf(gen), ram.io.uncorrectable)
  }

  def read(address: UInt, used: => Bool): T = check(address, used)._1
}
