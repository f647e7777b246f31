package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.queue.QueueHead

/** How a queue is served. Written whole, one queue a clock. */
class QueueService(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val strict = Bool()
  val priority = UInt(4.W) // among strict queues, higher first
  val quantum = UInt(18.W) // bytes a round, for the others; below 64 counts as 64
  val shaper = new ShaperConfig
}

/** Chooses the next packet: strict priority first, deficit round robin over the rest, each queue and the port shaped.
  *
  * Strict queues: the highest priority that has an eligible queue; of equals the smallest number.
  * The others: the round goes upwards from the queue last visited. A visit adds the quantum if the deficit is less than the
  * head packet, and lasts while the deficit covers the head. That is Shreedhar and Varghese's rule (there a visit always begins with too small a
  * deficit), and also keeps a queue that its shaper cut short from hoarding. An emptied queue's deficit is 0. So deficit < quantum + longest packet.
  * A quantum less than the longest packet works, at the price of visits that send nothing.
  * Eligible: not empty and not blocked by its shaper. Nothing is granted while the port is blocked.
  *
  * Clocks of a grant, 4 in all: Level (highest strict priority, registered), Pick (search, registered), Look (queue head, deficit, quantum
  * are read), Decide (take, or end the visit). After a grant that some shaper charges it waits 5 more for the charge to settle.
  *
  * RAMs: `quantum`, queues x 18, 1W (configure) 1R; `deficit`, queues x 19, 1W 1R, both used by this machine alone. Bits
  * `configured`, `inDebt` make their initialisation unnecessary: an unconfigured queue has quantum 2048, no priority, no shaper.
  *
  * `wake` is the first ns at which something can be sent, when packets wait and nothing can be sent at this one; it lies less than
  * half the range of time ahead.
  * `busy` says that something is going on or may be: when it is low, only time or an enqueue can change anything.
  * Growth with queues, yet to be flattened: the bits a queue (strict, priority, four flags) are registers, and the search for the highest
  * priority is a tree over all queues in one clock.
  * It does not count the bytes a wire adds to a frame, and does not look into packets.
  */
class Scheduler(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new QueueService(p)))
    val configurePort = Flipped(Valid(new ShaperConfig))
    val nonEmpty = Input(UInt(p.queues.W))
    val peek = Valid(UInt(p.queueBits.W))
    val head = Input(new QueueHead)
    val take = Output(Bool())
    val room = Input(Bool()) // the way out can hold one more packet; must not fall but by a take
    val wake = Valid(UInt(TimeBits.W))
    val busy = Output(Bool())
  })

  private val DeficitBits = 19
  private val DefaultQuantum = 2048

  private val queueShaper = Module(new Shaper(p.queues))
  private val portShaper = Module(new Shaper(1))
  private val eligible = io.nonEmpty & ~queueShaper.io.blocked
  private val portBlocked = portShaper.io.blocked.asBool
  private val settling = queueShaper.io.settling || portShaper.io.settling

  // ---- configuration
  private val configured = RegInit(VecInit.fill(p.queues)(false.B))
  private val strict = RegInit(VecInit.fill(p.queues)(false.B))
  private val priority = RegInit(VecInit.fill(p.queues)(0.U(4.W)))
  private val quantum = SyncReadMem(p.queues, UInt(18.W))
  when(io.configure.valid) {
    val c = io.configure.bits
    configured(c.queue) := true.B
    strict(c.queue) := c.strict
    priority(c.queue) := c.priority
    quantum.write(c.queue, Mux(c.quantum < CellBytes.U, CellBytes.U, c.quantum))
  }

  private object State extends ChiselEnum { val Level, Pick, Look, Decide = Value }
  private val state = RegInit(State.Level)

  // ---- Level: the highest strict priority among the eligible. The key has a 1 on top when there is any.
  private val keys = (0 until p.queues).map(q => Mux(eligible(q) && strict(q), 1.U(1.W) ## priority(q), 0.U(5.W)))
  private val topKey = RegNext(VecInit(keys).reduceTree((a, b) => Mux(a > b, a, b)))
  private val anyStrict = topKey(4)

  // ---- Pick
  private val roundLast = RegInit((p.queues - 1).U(p.queueBits.W))
  private val visiting = RegInit(false.B) // the visit of queue roundLast goes on
  private val atLevel = VecInit((0 until p.queues).map { q =>
    eligible(q) && strict(q) === anyStrict && (!anyStrict || priority(q) === topKey(3, 0))
  }).asUInt
  private val stay = !anyStrict && visiting && atLevel(roundLast)
  private val fromStart = (p.queues - 1).U(p.queueBits.W)
  private val (searched, _) = RoundRobinPick(atLevel, Mux(anyStrict, fromStart, roundLast))
  private val queue = RegEnable(Mux(stay, roundLast, searched), state === State.Pick)
  private val queueStrict = RegEnable(anyStrict, state === State.Pick)
  private val newVisit = RegEnable(!stay, state === State.Pick)

  // ---- Look
  private val looking = state === State.Look
  io.peek.valid := looking
  io.peek.bits := queue
  private val deficit = SyncReadMem(p.queues, UInt(DeficitBits.W))
  private val inDebt = RegInit(VecInit.fill(p.queues)(false.B)) // deficit holds a value
  private val deficitRead = deficit.read(queue, looking)
  private val quantumRead = quantum.read(queue, looking)

  // ---- Decide
  private val deciding = state === State.Decide
  private val before = Mux(inDebt(queue), deficitRead, 0.U)
  private val added = Mux(configured(queue), quantumRead, DefaultQuantum.U)
  private val short = before < io.head.lenBytes
  private val credited = before +& Mux(newVisit && short, added, 0.U)
  private val covered = credited >= io.head.lenBytes
  private val left = Mux(covered, credited - io.head.lenBytes, credited)
  private val grant = deciding && io.head.valid && (queueStrict || covered)
  io.take := grant
  private val roundDecision = deciding && io.head.valid && !queueStrict
  when(roundDecision) {
    deficit.write(queue, left(DeficitBits - 1, 0))
    inDebt(queue) := !(covered && io.head.last)
    roundLast := queue
    visiting := covered && !io.head.last
  }
  assert(!roundDecision || left(DeficitBits) === 0.U, "a deficit does not fit")

  // ---- the machine
  private val mayGrant = eligible.orR && !portBlocked && !settling && io.room
  switch(state) {
    is(State.Level) { when(mayGrant) { state := State.Pick } }
    is(State.Pick) { state := Mux(atLevel.orR && !portBlocked && io.room, State.Look, State.Level) }
    is(State.Look) { state := State.Decide }
    is(State.Decide) { state := State.Level }
  }

  // ---- shapers
  for (shaper <- Seq(queueShaper, portShaper)) {
    shaper.io.now := io.now
    shaper.io.charge.valid := grant
    shaper.io.charge.bits.lenBytes := io.head.lenBytes
  }
  queueShaper.io.charge.bits.entry := queue
  queueShaper.io.interesting := io.nonEmpty
  queueShaper.io.configure.valid := io.configure.valid
  queueShaper.io.configure.bits.entry := io.configure.bits.queue
  queueShaper.io.configure.bits.config := io.configure.bits.shaper
  portShaper.io.charge.bits.entry := 0.U
  portShaper.io.interesting := io.nonEmpty.orR
  portShaper.io.configure.valid := io.configurePort.valid
  portShaper.io.configure.bits.entry := 0.U
  portShaper.io.configure.bits.config := io.configurePort.bits

  // ---- when to come back
  private val waiting = io.nonEmpty.orR
  private val queueKnown = eligible.orR || queueShaper.io.earliest.valid
  private val portKnown = !portBlocked || portShaper.io.earliest.valid
  private val queueTime = Mux(eligible.orR, io.now, queueShaper.io.earliest.bits)
  private val portTime = Mux(portBlocked, portShaper.io.earliest.bits, io.now)
  private val quiet = state === State.Level && !settling
  private val wakeTime = Mux(Arithmetic.reached(queueTime, portTime), queueTime, portTime)
  private val stuck = portBlocked || !eligible.orR
  io.wake.valid := waiting && quiet && stuck && queueKnown && portKnown && !Arithmetic.reached(io.now, wakeTime)
  io.wake.bits := wakeTime
  io.busy := !quiet || (waiting && !io.wake.valid)
}
