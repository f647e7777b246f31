package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.QueueManager
import vermilion.stream._

/** Queues and their scheduler: packets in by queue, packets out in the order of the wire. Wires only, and a short queue of descriptors.
  *
  * `descriptor` feeds a `PacketReader`. A packet counts as departed (`departed`) when it is chosen. The next is chosen before the reader asks
  * for it, so that the reader never waits between two packets for anything but the scheduler's pace; but no more than that needs: one packet
  * beside the one in the reader, and a second where that one has fewer than `LoopCells` cells, as many as a choice and the end of a visit take clocks. So
  * behind the packet being read there is departed but unread at most one packet, or two of which the first is shorter than 12 cells:
  * 704 bytes and one longest frame.
  * Latency: enqueue of a packet to an empty lane to `departed` 7 clocks, to `descriptor` 8.
  * `busy` is low when only time (see `wake`) or an enqueue can change anything here.
  */
class EgressQueues(p: LaneParams) extends Module {
  private val Ahead = 2
  private val LoopCells = 12

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val enqueue = Flipped(Valid(new EnqueueRequest(p)))
    val configure = Flipped(Valid(new QueueService(p)))
    val configurePort = Flipped(Valid(new ShaperConfig))
    val descriptor = Decoupled(new Descriptor(p))
    val departed = Valid(new Departure(p))
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
  })

  private val queues = Module(new QueueManager(p))
  private val scheduler = Module(new Scheduler(p))
  private val chosen = Module(new Queue(new Descriptor(p), Ahead))

  queues.io.enqueue := io.enqueue
  queues.io.peek := scheduler.io.peek
  queues.io.take := scheduler.io.take
  scheduler.io.nonEmpty := queues.io.nonEmpty
  scheduler.io.head := queues.io.head
  scheduler.io.now := io.now
  scheduler.io.configure := io.configure
  scheduler.io.configurePort := io.configurePort
  scheduler.io.room := chosen.io.count === 0.U || (chosen.io.enq.ready && chosen.io.deq.bits.cells < LoopCells.U)

  chosen.io.enq.valid := queues.io.taken.valid
  chosen.io.enq.bits := queues.io.taken.bits.descriptor
  io.descriptor <> chosen.io.deq
  assert(!chosen.io.enq.valid || chosen.io.enq.ready, "a packet was taken with no place for it")

  io.departed.valid := queues.io.taken.valid
  io.departed.bits.queue := queues.io.taken.bits.queue
  io.departed.bits.colour := queues.io.taken.bits.descriptor.colour
  io.departed.bits.lenBytes := queues.io.taken.bits.descriptor.lenBytes
  io.departed.bits.arrival := queues.io.taken.bits.descriptor.arrival

  io.wake := scheduler.io.wake
  private val arriving = RegNext(io.enqueue.valid, false.B)
  io.busy := scheduler.io.busy || io.enqueue.valid || arriving || queues.io.taken.valid || chosen.io.deq.valid
}
