package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam}
import vermilion.lane.LaneParams
import vermilion.queue.{PacketRef, QueueHead, QueuePorts}
import vermilion.stream.{Chain, Descriptor}

/** A packet for its queue, or one that is lost already: all pass here, so that their order holds. */
class ArrivalRequest(p: LaneParams, v: VictimParams) extends Bundle {
  val descriptor =
    new Descriptor(p) // its queue, cells, length and colour are the packet's; cells is 0 if it holds none
  val distance = UInt(v.distanceBits.W)
  val ect = Bool()
  val action = UInt(Action.Bits.W)
  val byColour = Bool()
  val mayMark = Bool()
  val last = UInt(TailWindow.CountBits.W)
  val asLong = Bool()
}

/** All queues of a lane, with contests: takes the place of `queue/QueueManager` in front of the same scheduler.
  *
  * Every arriving packet comes here with its action: admit, refuse or contest ([[VictimPipeline]], which says who goes and when).
  * `outcome` says what became of it, in order, and `settled` is the packet's own descriptor, in the same clock.
  * The ports to the scheduler are QueueManager's, name by name and clock by clock, `joined` 2 clocks behind the arrival, `awake` 3.
  * `taken.descriptor.setCe` is set also for a packet that was marked where it stood, or when it came.
  *
  * RAM: descriptors, cells x descriptor by head cell, written when a packet is enqueued, in which clock it could already be taken if it became its
  * queue's first in place of a victim, which the scheduler does a clock later; and those of VictimPipeline.
  * After reset nothing may come until `ready`, for as many clocks as there are cells, or lists by distance. It keeps no byte counts.
  */
class VictimQueues(p: LaneParams) extends Module {
  require(p.victims != 0, s"victims is ${p.victims}; legal with the victim search are powers of two up to ${p.queues}")
  private val v = VictimParams.of(p)

  val io = IO(new QueuePorts(p) {
    val ahead = Flipped(Valid(new Sought(v))) // of `arrival`, which comes VictimQueues.Ahead clocks later
    val arrival = Flipped(Valid(new ArrivalRequest(p, v)))
    val outcome = Valid(new Outcome(v))
    val settled = Output(new Descriptor(p))
    val freed = Valid(new Chain(p))
    val busy = Output(Bool()) // a packet is on its way through
    val ready = Output(Bool())
  })
  private val Stages = VictimQueues.Latency - 1
  private val pipeline = Module(new VictimPipeline(v))
  private val descriptors =
    new ForwardingRam(p.cells, new Descriptor(p), Some(p.largeMemory(p.cells, (new Descriptor(p)).getWidth)))

  private val request = io.arrival.bits
  pipeline.io.ahead := io.ahead
  pipeline.io.arrival.valid := io.arrival.valid
  pipeline.io.arrival.bits.queue := request.descriptor.queue
  pipeline.io.arrival.bits.cell := request.descriptor.headCell
  pipeline.io.arrival.bits.cells := request.descriptor.cells
  pipeline.io.arrival.bits.lenBytes := request.descriptor.lenBytes
  pipeline.io.arrival.bits.colour := request.descriptor.colour
  pipeline.io.arrival.bits.distance := request.distance
  pipeline.io.arrival.bits.ect := request.ect
  pipeline.io.arrival.bits.action := request.action
  pipeline.io.arrival.bits.byColour := request.byColour
  pipeline.io.arrival.bits.mayMark := request.mayMark
  pipeline.io.arrival.bits.last := request.last
  pipeline.io.arrival.bits.asLong := request.asLong

  private val s5 = Delay(request.descriptor, Stages)
  private val queued = Wire(new Descriptor(p))
  queued := s5
  queued.setCe := s5.setCe || pipeline.io.enqueuedMarked
  descriptors.write(pipeline.io.enqueued, queued.headCell, queued)
  private val own = Wire(new QueueHead(p))
  own.queue := s5.queue
  own.packet.cell := s5.headCell
  own.packet.lenBytes := s5.lenBytes
  // Whether a packet is enqueued is known late, and much hangs on a queue that awakes.
  io.awake.valid := RegNext(pipeline.io.awake, false.B)
  io.awake.bits := Delay(own)
  io.joined.valid := pipeline.io.joined
  io.joined.bits := own

  private val successor = Wire(new PacketRef(p))
  successor.cell := pipeline.io.successor.cell
  successor.lenBytes := pipeline.io.successor.lenBytes
  private val t1Queue = Delay(io.serve.queue)
  pipeline.io.serveQueue := io.serve.queue
  pipeline.io.serveCell := io.serve.packet.cell
  pipeline.io.take := io.take
  pipeline.io.emptied := io.emptied
  pipeline.io.look := VecInit(io.look.flatten)
  io.successor.foreach(_ := successor)
  io.newestServed.foreach(_ := pipeline.io.newestServed)
  private val late = io.late.get
  private val choice = pipeline.io.choice
  for ((out, of) <- (late.of :+ late.behind).zip(choice.of :+ choice.behind)) {
    out.cell := of.cell
    out.lenBytes := of.lenBytes
  }
  late.pick := choice.pick
  late.newest := choice.newest
  late.mayReplace := pipeline.io.mayReplace
  late.replaced := choice.replaced
  late.behindIsNewest := choice.behindIsNewest
  for (e <- 0 until p.egresses; i <- 0 until 2) io.newest(e)(i) := pipeline.io.newest(2 * e + i)
  io.newestLength := DontCare // no second packet is known of
  io.newestBefore := DontCare
  io.refilled.valid := pipeline.io.refilled
  io.refilled.bits.queue := t1Queue
  io.refilled.bits.packet := successor
  private val taken = descriptors.read(io.serve.packet.cell)
  io.taken.valid := RegNext(io.take, false.B)
  io.taken.bits.queue := t1Queue
  io.taken.bits.descriptor := taken
  io.taken.bits.descriptor.setCe := taken.setCe || pipeline.io.takenMarked

  io.outcome := pipeline.io.outcome
  io.settled := Delay(s5)
  io.freed.valid := pipeline.io.freed.valid
  io.freed.bits.head := pipeline.io.freed.bits.cell
  io.freed.bits.cells := pipeline.io.freed.bits.cells
  private val stages = RegInit(0.U((Stages + 1).W))
  stages := stages(Stages - 1, 0) ## io.arrival.valid
  io.busy := stages.orR
  io.ready := pipeline.io.ready

  assert(!io.ahead.valid || pipeline.io.ready, "a packet came within the first clocks after reset")
  private val t1Emptied = RegNext(io.take && io.emptied, false.B)
  private val t1Followed = RegNext(pipeline.io.joined && s5.queue === io.serve.queue, false.B)
  assert(!t1Emptied || t1Followed === pipeline.io.refilled, "a queue is told empty that is not, or the reverse")
  assert(!io.arrival.valid || request.descriptor.queue < p.queues.U(log2Ceil(p.queues + 1).W), "no such queue")
  assert(
    !io.taken.valid || taken.headCell === Delay(io.serve.packet.cell),
    "a descriptor does not belong to its head cell"
  )
}

object VictimQueues {

  /** Clocks from the question who may pay for a packet to its arrival, and from there to its outcome. */
  val Ahead, Latency = 3
}
