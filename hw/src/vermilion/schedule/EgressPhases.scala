package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.lane.LaneParams
import vermilion.queue.{QueueHead, QueuePorts}

/** Wires each egress's scheduler to the queues and shapers that they share.
  *
  * One packet can be taken per cycle, so the schedulers are time-multiplexed.
  * Each scheduler may take a packet in one of `egresses` cycles, its phase. None may take one in a cycle in which a shaper is configured.
  * The queues' packet information goes to the scheduler of its egress in every cycle.
  * A scheduler knows only its own queues, by the low bits of their numbers.
  */
class EgressPhases(p: LaneParams, queues: QueuePorts, schedulers: Seq[Scheduler]) {
  require(schedulers.size == p.egresses, s"${schedulers.size} schedulers for ${p.egresses} egresses; legal is one each")
  private val isAlone = p.egresses == 1
  private val localBits = p.ofOneEgress.queueBits
  private val phases = if (isAlone) 1.U(1.W) else RegInit(1.U(p.egresses.W)) // one hot
  if (!isAlone) phases := phases(p.egresses - 2, 0) ## phases(p.egresses - 1)

  val shaper: QueueShaper = Module(new QueueShaper(p))
  val port: PortShaper = Module(new PortShaper(p))

  /** A shaper is configured in this cycle. */
  val configures: Bool = shaper.io.configure.valid || port.io.configure.map(_.valid).reduce(_ || _)

  def isOf(egress: Int, queue: UInt): Bool = queues.egressOf(queue) === egress.U

  /** The number of a queue within its egress. */
  def local(queue: UInt): UInt = queue(localBits - 1, 0)

  private def global(egress: Int, queue: UInt): UInt = if (isAlone) queue else egress.U(p.egressBits.W) ## queue
  private def global(egress: Int, head: QueueHead): QueueHead = {
    val out = Wire(new QueueHead(p))
    out.queue := global(egress, head.queue)
    out.packet := head.packet
    out
  }
  private def tell(isOfEgress: Bool, from: Valid[QueueHead], to: Valid[QueueHead]): Unit = {
    to.valid := from.valid && isOfEgress
    to.bits.queue := local(from.bits.queue)
    to.bits.packet := from.bits.packet
  }
  private def ofPhase[T <: Data](of: Seq[T]): T = if (isAlone) of.head else Mux1H(phases, of)

  queues.serve := ofPhase(schedulers.zipWithIndex.map { case (scheduler, e) => global(e, scheduler.io.serve) })
  queues.take := schedulers.map(_.io.take).reduce(_ || _)
  queues.emptied := ofPhase(schedulers.map(_.io.emptied))
  shaper.io.phase := phases
  shaper.io.queue := queues.serve.queue
  shaper.io.lenBytes := queues.serve.packet.lenBytes
  port.io.phase := phases

  /** Connects the packet that a verdict drops in this cycle. */
  def drop(packet: Valid[DroppedPacket]): Unit = {
    for ((scheduler, e) <- schedulers.zipWithIndex) {
      val isOfEgress = packet.valid && isOf(e, packet.bits.queue)
      shaper.io.dropped.get(e) := isOfEgress
      port.io.dropped.get(e) := isOfEgress
      scheduler.io.dropped.get.valid := isOfEgress
      scheduler.io.dropped.get.bits.queue := local(packet.bits.queue)
      scheduler.io.dropped.get.bits.lenBytes := packet.bits.lenBytes
    }
  }
  port.io.lenBytes := queues.serve.packet.lenBytes
  for ((scheduler, e) <- schedulers.zipWithIndex) {
    scheduler.io.phase := phases(e) && !configures
    scheduler.io.shaper <> shaper.io.egresses(e)
    scheduler.io.port <> port.io.egresses(e)
    // The queue that may become backlogged is known one cycle earlier, when a packet is enqueued to it.
    val isMine = RegNext(isOf(e, queues.enqueue.bits.queue))
    tell(isMine, queues.becameBacklogged, scheduler.io.becameBacklogged)
    assert(
      !queues.becameBacklogged.valid || isMine === isOf(e, queues.becameBacklogged.bits.queue),
      "another queue becomes backlogged than was enqueued to"
    )
    for ((from, to) <- Seq(queues.appended -> scheduler.io.appended, queues.reactivated -> scheduler.io.reactivated))
      tell(isOf(e, from.bits.queue), from, to)
    queues.ask(e) := scheduler.io.ask
    queues.askQueue(e) := global(e, scheduler.io.askQueue)
    scheduler.io.successor := queues.successor(e)
    scheduler.io.newestServed := queues.newestServed(e)
    for (i <- 0 until 2) queues.lookup(e)(i) := global(e, scheduler.io.lookup(i))
    scheduler.io.newest := queues.newest(e)
    scheduler.io.newestLength := queues.newestLength(e)
    scheduler.io.newestBefore := queues.newestBefore(e)
  }
}
