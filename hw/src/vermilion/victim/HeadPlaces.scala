package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.fixed.{Delay, ForwardingRam, SweepInit}

/** Selects the queue whose first body packet becomes head of line. The scheduler holds at most `places` packets per queue.
  *
  * A place that is free and for which a packet waits in the body is requested once:
  *  - by an enqueued packet, if fewer than `places` places of its queue are taken or requested;
  *  - by a packet that the scheduler takes, if more packets wait in the body than places are requested. Its own place is requested then.
  *    Otherwise that place is free.
  *
  * Requests wait in two lists: those of enqueued packets and those of taken packets. The lists are served alternately. A request is served in a
  * slot without a push-out. It finds no packet if the waiting packets were evicted meanwhile. Then the request is void, and the place is free.
  *
  * Each event uses its queue's state as of the cycles before. So at most three events may miss a packet that is enqueued while all places are
  * taken or requested. They are the request that is void in that cycle, the one that is void in the next, and the packet that is taken in that
  * cycle. The missed packet waits in the body without a request until the next event of its queue. There is one, as there are at least four places.
  *
  * The state is kept as counts modulo a power of two, each with one writer:
  * {{{
  *   in the body    enqueued less evicted - new heads
  *   asked for      asked (by enqueued, by taken) - new heads - void
  *   taken or asked for   asked by enqueued - void - freed
  * }}}
  * RAM: three records per queue, with three copies each, four of the third; two lists of requests in LUTs, each as long as the places of all queues.
  * Timing, in stages of [[VictimPipeline]]: `queue` s4; `enqueued`, `evicted`, `isEmpty` s5; `next`, `issue` s3; `waits` s4; `makesHead`, `void` s5.
  * `taken` may come in any cycle. After reset no packet may come until `ready`, for as many cycles as there are queues.
  */
class HeadPlaces(v: VictimParams) extends Module {
  import v.{places, queues}
  private val countBits = v.cellBits + 1
  private val placeBits = log2Ceil(places)
  private val someBits = placeBits + 1 // up to `places`

  val io = IO(new Bundle {
    val queue = Input(UInt(v.queueBits.W))
    val isEmpty = Output(Bool()) // the body of `queue` is empty, before this slot
    val enqueued = Input(Bool())
    val evicted = Input(Bool()) // the enqueued packet evicts a packet of the same queue
    val next = Valid(UInt(v.queueBits.W)) // the queue of the next request
    val issue = Input(Bool()) // that request is served
    val waits = Output(
      Bool()
    ) // a packet waits in the body of that queue, as of the slots up to that in s5, without one enqueued there in s5
    val makesHead = Input(Bool()) // one becomes head, or the request is void
    val void = Input(Bool())
    val newHeadQueue = Output(UInt(v.queueBits.W)) // s5
    val place = Output(UInt(placeBits.W)) // s5
    val taken = Flipped(Valid(UInt(v.queueBits.W))) // by the scheduler
    val busy = Output(Bool())
    val ready = Output(Bool())
  })

  private class Enqueued extends Bundle {
    val packets = UInt(countBits.W) // evicted packets are subtracted
    val asked = UInt(someBits.W)
  }
  private class Taken extends Bundle {
    val asked, freed = UInt(someBits.W)
  }
  private class Served extends Bundle {
    val newHeads = UInt(countBits.W)
    val void = UInt(someBits.W)
  }
  private val sweep = new SweepInit(queues)
  private def records[T <: Data](gen: T): ForwardingRam[T] = {
    val ram = new ForwardingRam(queues, gen)
    ram.write(!sweep.done, sweep.address, 0.U.asTypeOf(gen))
    ram
  }
  private val enqueued = records(new Enqueued)
  private val taken = records(new Taken)
  private val served = records(new Served)
  io.ready := sweep.done

  /** The records of a queue, one cycle after `queue` names it. */
  private class Seen(queue: UInt) {
    val e: Enqueued = enqueued.read(queue)
    val t: Taken = taken.read(queue)
    val s: Served = served.read(queue)
    private def count(x: UInt): UInt = x(countBits - 1, 0)
    private def some(x: UInt): UInt = x(someBits - 1, 0)
    val inBody: UInt = count(e.packets - s.newHeads)
    val asked: UInt = some(e.asked + t.asked - s.newHeads - s.void)
    val heldOrAsked: UInt = some(e.asked - s.void - t.freed)
  }

  /** A list of requests. `some` is a register, because the choice of the served request depends on it. */
  private class Requests {
    private val length = places << v.queueBits
    private val list = Mem(length, UInt(v.queueBits.W))
    private val from, to = RegInit(0.U(log2Ceil(length).W))
    private val count = RegInit(0.U((log2Ceil(length) + 1).W))
    val some: Bool = RegInit(false.B)
    val foremost: UInt = list.read(from)
    def change(asks: Bool, queue: UInt, served: Bool): Unit = {
      when(asks) {
        list.write(to, queue)
        to := to + 1.U
      }
      when(served) { from := from + 1.U }
      when(asks =/= served) { count := Mux(asks, count + 1.U, count - 1.U) }
      some := asks || Mux(served, from + 1.U =/= to, some)
      assert(some === (count =/= 0.U), "a list of requests says wrong whether there is one")
      assert(!asks || count =/= length.U, "a request found no place")
    }
  }
  private val byEnqueued, byTaken = new Requests

  private val s5Queue = Delay(io.next.bits, 2)

  // ---- enqueue
  private val atEnqueue = new Seen(io.queue)
  private val enqueuedAsks = io.enqueued && atEnqueue.heldOrAsked =/= places.U
  private val e = Wire(new Enqueued)
  e.packets := atEnqueue.e.packets + !io.evicted
  e.asked := atEnqueue.e.asked + enqueuedAsks
  enqueued.write(io.enqueued, Delay(io.queue), e)
  io.isEmpty := atEnqueue.inBody === 0.U

  // ---- taken: one cycle later
  private val atTaken = new Seen(io.taken.bits)
  private val isTaken = RegNext(io.taken.valid, false.B)
  private val voidedNow = io.void && s5Queue === Delay(io.taken.bits)
  private val takenAsks =
    isTaken && Mux(voidedNow, atTaken.inBody >= atTaken.asked, atTaken.inBody > atTaken.asked)
  private val t = Wire(new Taken)
  t.asked := Mux(takenAsks, atTaken.t.asked + 1.U, atTaken.t.asked) // the number of waiting packets is known late
  t.freed := Mux(takenAsks, atTaken.t.freed, atTaken.t.freed + 1.U)
  taken.write(isTaken, Delay(io.taken.bits), t)

  // ---- served
  private val servesTaken = RegInit(false.B)
  private val first = byEnqueued.some && !(servesTaken && byTaken.some) // serve the list of enqueued packets
  when(io.issue) { servesTaken := first }
  io.next.valid := byEnqueued.some || byTaken.some
  io.next.bits := Mux(first, byEnqueued.foremost, byTaken.foremost)
  byEnqueued.change(enqueuedAsks, Delay(io.queue), io.issue && first)
  byTaken.change(takenAsks, Delay(io.taken.bits), io.issue && !first)
  private val atServed = new Seen(io.next.bits) // s4
  io.newHeadQueue := s5Queue
  private val makesHeadAhead = io.makesHead && s5Queue === Delay(io.next.bits)
  io.waits := Mux(makesHeadAhead, atServed.inBody > 1.U, atServed.inBody =/= 0.U)
  private val s5Served = served.read(Delay(io.next.bits))
  private val s = Wire(new Served)
  s.newHeads := s5Served.newHeads + io.makesHead
  s.void := s5Served.void + io.void
  served.write(io.makesHead || io.void, s5Queue, s)
  io.place := s5Served.newHeads(placeBits - 1, 0)

  private val inService = RegNext(io.issue, false.B) || RegNext(RegNext(io.issue, false.B), false.B)
  io.busy := io.next.valid || isTaken || inService

  assert(!io.issue || io.next.valid, "a request is served that there is not")
  assert(!(io.makesHead && io.void), "a request is void and finds a packet")
  private val s5Seen = new Seen(Delay(io.next.bits))
  assert(!io.makesHead || s5Seen.inBody =/= 0.U, "a packet becomes head from an empty body")
  assert(!io.makesHead || s5Seen.heldOrAsked <= places.U, "more packets than places")
}
