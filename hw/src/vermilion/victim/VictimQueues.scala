package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, Memory}
import vermilion.lane.LaneParams
import vermilion.stream.{Chain, EnqueueRequest, QueueEntry}

/** A packet for its queue, or one that is lost already. All packets pass here, so that their order holds. */
class ArrivalRequest(p: LaneParams, v: VictimParams) extends Bundle {
  val queueEntry =
    new QueueEntry(p) // its queue, cells, length and colour are the packet's; cells is 0 if it holds none
  val distance = UInt(v.distanceBits.W)
  val ect = Bool()
  val action = UInt(Action.Bits.W)
  val byColour = Bool()
  val mayMark = Bool()
  val last = UInt(TailWindow.CountBits.W)
  val asLong = Bool()
}

/** Holds the bodies of all queues of a lane, with push-outs. It is upstream of `queue/QueueManager`, which holds their heads.
  *
  * Every arriving packet enters here with its action: admit, refuse or push out. [[VictimPipeline]] selects the victim and sets the timing.
  * `outcome` gives the results, in order, and `settled` is the packet's own queue entry, in the same cycle.
  * `newHead` gives the packets of each queue in order, as the scheduler frees places (`taken`). Its queue entry's `setCe` is also set for a packet
  * that was marked in its place, or when it came.
  * Latency: 3 cycles from a packet's arrival to its outcome, and 6 until it becomes head of line if nothing delays it.
  *
  * RAM: `queueEntries`, cells x queue entry by head cell, written when a packet is enqueued; and those of VictimPipeline.
  * After reset no packet may come until `ready`, for as many cycles as there are cells, or lists by distance. It keeps no byte counts.
  */
class VictimQueues(p: LaneParams) extends Module {
  require(p.victims != 0, s"victims is ${p.victims}; legal with the victim search are powers of two up to ${p.queues}")
  private val v = VictimParams.of(p)

  val io = IO(new Bundle {
    val ahead = Flipped(Valid(new Sought(v))) // for `arrival`, which comes VictimQueues.Ahead cycles later
    val arrival = Flipped(Valid(new ArrivalRequest(p, v)))
    val outcome = Valid(new Outcome(v))
    val settled = Output(new QueueEntry(p))
    val freed = Valid(new Chain(p))
    val newHead = Valid(new EnqueueRequest(p))
    val place = Output(UInt(p.nameBits.W)) // with `newHead`: its name in the head
    val taken = Flipped(Valid(UInt(p.queueBits.W))) // a packet of this queue has left the head
    val busy = Output(Bool()) // a packet is in progress
    val ready = Output(Bool())
  })
  private val Stages = VictimQueues.Latency - 1
  private val pipeline = Module(new VictimPipeline(v))
  private val width = (new QueueEntry(p)).getWidth
  private val queueEntries = new Memory(p.cells, new QueueEntry(p), p.largeMemory(p.cells, width))

  private val request = io.arrival.bits
  pipeline.io.ahead := io.ahead
  pipeline.io.arrival.valid := io.arrival.valid
  pipeline.io.arrival.bits.queue := request.queueEntry.queue
  pipeline.io.arrival.bits.cell := request.queueEntry.headCell
  pipeline.io.arrival.bits.cells := request.queueEntry.cells
  pipeline.io.arrival.bits.lenBytes := request.queueEntry.lenBytes
  pipeline.io.arrival.bits.colour := request.queueEntry.colour
  pipeline.io.arrival.bits.distance := request.distance
  pipeline.io.arrival.bits.ect := request.ect
  pipeline.io.arrival.bits.action := request.action
  pipeline.io.arrival.bits.byColour := request.byColour
  pipeline.io.arrival.bits.mayMark := request.mayMark
  pipeline.io.arrival.bits.last := request.last
  pipeline.io.arrival.bits.asLong := request.asLong
  pipeline.io.taken := io.taken

  private val s5 = Delay(request.queueEntry, Stages)
  private val queued = Wire(new QueueEntry(p))
  queued := s5
  queued.setCe := s5.setCe || pipeline.io.enqueuedMarked
  queueEntries.write(pipeline.io.enqueued, queued.headCell, queued)

  private val newHead = pipeline.io.newHead
  private val s6NewHead = RegNext(newHead.valid, false.B)
  private val queueEntry = queueEntries.read(newHead.bits.cell)
  io.newHead.valid := s6NewHead
  io.newHead.bits.queue := Delay(newHead.bits.queue)
  io.newHead.bits.queueEntry := queueEntry
  io.newHead.bits.queueEntry.setCe := queueEntry.setCe || Delay(newHead.bits.marked)
  io.place := Delay(newHead.bits.place)

  io.outcome := pipeline.io.outcome
  io.settled := Delay(s5)
  io.freed.valid := pipeline.io.freed.valid
  io.freed.bits.head := pipeline.io.freed.bits.cell
  io.freed.bits.cells := pipeline.io.freed.bits.cells
  private val stages = RegInit(0.U((Stages + 1).W))
  stages := stages(Stages - 1, 0) ## io.arrival.valid
  io.busy := stages.orR || pipeline.io.busy || s6NewHead
  io.ready := pipeline.io.ready

  assert(!io.ahead.valid || pipeline.io.ready, "a packet came before the memories are cleared")
  assert(!io.arrival.valid || request.queueEntry.queue < p.queues.U(log2Ceil(p.queues + 1).W), "no such queue")
  assert(
    !s6NewHead || queueEntry.headCell === Delay(newHead.bits.cell),
    "a queue entry does not belong to its head cell"
  )
}

object VictimQueues {

  /** Cycles from the search for a packet's victim to the packet's arrival, and from there to its outcome. */
  val Ahead, Latency = 3
}
