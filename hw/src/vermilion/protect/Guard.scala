package vermilion.protect

import chisel3._
import chisel3.util._
import vermilion.fixed.{ForwardingRam, Memory, MemoryKind}

/** Ports of a module's guarded memories, including those of its inner modules. */
class GuardPorts(count: Int) extends Bundle {
  val events = Output(Vec(count, new UpsetEvents))
  val ready = Output(Bool()) // all memories are cleared; until then only zeros may be written
  val failed = Input(
    Bool()
  ) // a word that could not be corrected was used in an earlier cycle: the lane must send nothing more
}

/** The long-lived memories of a module: plain, or protected by [[ScrubbedRam]] in builds with `LaneParams.protect`.
  *
  * Both have the same latencies. A plain memory is a `ForwardingRam` or a `Memory`, without extra logic.
  * At the module's end `val guard = guards.ports(inner...)` brings out the events: first the module's own, then those of inner modules.
  */
class Guards(protect: Boolean) {
  private val rams = scala.collection.mutable.ArrayBuffer.empty[ScrubbedRam]

  /** A register elsewhere. The first `uncorrectable` event of any memory of the lane sets it, and only a reset clears it. */
  val failed: Bool = if (protect) WireDefault(false.B) else false.B

  private[protect] def add(ram: ScrubbedRam): ScrubbedRam = {
    rams += ram
    ram
  }

  def ram[T <: Data](depth: Int, gen: T): GuardedRam[T] = new GuardedRam(depth, gen, protect, this, None)

  /** As [[ram]], but a plain memory, called `name`, does not forward: a read in the cycle of a write returns undefined data. */
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

/** A memory with one write port and one copy per read port; latency 1. See [[Guards]]. */
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

  /** Adds a read port. The data belongs to the address of the cycle before. `used`, in the cycle of the data: the data is used. The second
    * result says that the data is wrong and cannot be corrected.
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
