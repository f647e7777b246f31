package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._
import vermilion.lane.LaneParams
import vermilion.protect.Guards
import vermilion.queue.{PacketRef, QueueHead}

/** Where a queue stands: strict levels from 0, the highest, to 7, and the round. */
object Level {
  val Round = 8
  val Count = 9
  val Bits = log2Ceil(Count)

  def apply(service: ServiceRecord): UInt = Mux(service.strict, 7.U(Bits.W) - service.priority, Round.U(Bits.W))
}

/** A queue with its first packet and what it may still send in this visit. */
class ListedQueue(p: LaneParams) extends Bundle {
  val head = new QueueHead(p)
  val deficit = UInt(Scheduler.DeficitBits.W) // means nothing in a strict level
}

/** The queues that may send, in nine lists, one a level; a queue is in at most one.
  *
  * The first of each list stands in registers, with the number of the queue behind it; all others in RAM, linked. The first's own packet lies
  * in one of two small memories by level, `pushedPackets` or `comePackets`: a list's first packet comes by a push or out of RAM, both may
  * happen in one clock, and only that of the list that is served is ever read.
  * `chosen` is the first of the highest list, in the same clock: nothing is searched. `pop` takes it off; `keep` says that its packet was
  * taken and that the queue stays first. The next clock's choice may be the queue behind, or the packet behind: both come
  * straight from RAM then (`entries` and `links`, or the queue manager's `successor`). So one packet a clock leaves whatever the mixture is.
  *
  * The choice loops in one clock, so what does not hang on RAM is ready before: which list is served next is worked out a clock ahead, for both
  * cases, that the list served now falls empty and that it does not; and whether a deficit covers a packet is stored with the entry, and for
  * the first of the round in a register.
  *
  * `more` says that the queue holds a packet behind the first, as of the clock before: made from RAM when a queue or packet comes
  * first, kept up to date by `joined`. `moved` says that the queue was configured since it joined and belongs elsewhere, or may.
  *
  * Whether its deficit covers a packet that comes out of the queue manager's RAM is known last of all. So whatever hangs on it is
  * worked out for both answers, `coveredIf`, and `keptCovered` chooses at the end.
  *
  * In builds that decide in turn nothing is served in the clock behind a `pop` or `keep`: what comes out of RAM then stands in registers before it is
  * chosen, and none of its paths goes on to a choice. That a list has fallen empty, and who stands first there then, is heeded in that clock, too.
  *
  * RAMs: `entries`, queues x (packet, deficit, covered), 1W (store) 2R by two copies (the queue behind the chosen; `parkedQueue` for who
  * keeps queues aside); `links`, queues x queue, 1W (push) 1R. Lists hold no counts: who is last is known by `tails`.
  *
  * A push shows in `chosen` in the next clock; in turn, into a list that falls empty in its clock, a clock later. It does not judge who may send.
  * Longest path: the queue manager's RAM, compare of a packet's length with the deficit, `pop`, which list takes what is pushed as its first.
  */
class ServiceLists(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val store = Flipped(Valid(new ListedQueue(p)))
    val storeCovered = Input(Bool()) // its deficit covers its packet
    val push = Input(Bool()) // what is stored joins the list of its level, at the end
    val pushService = Input(new ServiceRecord)
    val pushMore = Input(Bool())
    val hold = Input(Bool()) // `chosen` is of the same level in the next clock
    val chosen = Valid(new ListedQueue(p))
    val standing =
      Output(Bool()) // `chosen` is valid, known earlier; means nothing behind a `hold` and, in turn, a `pop`
    val holdsQueues = Output(Bool())
    val level = Output(UInt(Level.Bits.W))
    // Of a strict level, or its deficit covers its packet; if keptCovered is 0, and if it is 1.
    val coveredIf = Output(Vec(2, Bool()))
    val keptCovered = Output(Bool())
    val more = Output(Bool())
    val shaped = Output(Bool())
    val moved = Output(Bool())
    val pop = Input(Bool())
    val keep = Input(Bool())
    val taken = Input(Bool()) // with keep, or the pop of a queue whose last packet goes
    val deficitLeft = Input(UInt(Scheduler.DeficitBits.W)) // with keep
    val joined = Flipped(Valid(UInt(p.queueBits.W)))
    val configured = Flipped(Valid(UInt(p.queueBits.W)))
    val behind = Output(UInt(p.queueBits.W)) // looked up by others too; their answers in the next clock:
    val behindService = Input(new ServiceRecord)
    val behindNewest = Input(UInt(p.cellBits.W))
    val successor = Input(new PacketRef(p))
    val newestServed = Input(UInt(p.cellBits.W))
    val parkedQueue = Input(UInt(p.queueBits.W))
    val parked = Output(new ListedQueue(p)) // a clock later
  })

  private class First extends Bundle {
    val queue, behind = UInt(p.queueBits.W)
    val more, shaped, moved = Bool()
  }
  private class Stored extends Bundle {
    val packet = new PacketRef(p)
    val deficit = UInt(Scheduler.DeficitBits.W)
    val covered = Bool() // the packet, by the deficit
  }

  private val valid = RegInit(VecInit.fill(Level.Count)(false.B))
  private val served = RegInit(
    0.U(Level.Count.W)
  ) // one hot: the first of `valid` that is set, unless it is held or, in turn, has just fallen empty
  private val firsts = Reg(Vec(Level.Count, new First))
  private val deficit = Reg(UInt(Scheduler.DeficitBits.W)) // of the first in the round
  private val heldCovered = Reg(Bool()) // that covers its packet, once it no longer comes out of RAM
  private val tails = Mem(Level.Count, UInt(p.queueBits.W))
  private val lone = Reg(UInt(Level.Count.W)) // whose first is the last, too
  private val pushedPackets, comePackets = Mem(Level.Count, new PacketRef(p))
  private val byPush = Reg(UInt(Level.Count.W)) // which of them holds a list's first
  private val guards = new Guards(p.protect)
  private val entries = guards.ram(p.queues, new Stored)
  private val links = guards.ram(p.queues, UInt(p.queueBits.W))

  private val pushed = io.store.bits

  // ---- what comes out of RAM in this clock, for the level served in the last one
  private val lastServed = Delay(served)
  private val lastLevel = Delay(io.level)
  private val lastRound = lastServed(Level.Round)
  private val kept = RegNext(io.keep, false.B)
  private val servedLone = Wire(Bool())
  private val arrived = RegNext(io.pop && !servedLone, false.B)
  private val arrivedEntry = entries.read(io.behind, arrived)
  private val arrivedQueue = Delay(io.behind)
  private val arrivedBehind = links.read(io.behind, arrived)
  private val arrivedMore = arrivedEntry.packet.cell =/= io.behindNewest
  private val arrivedMoved = Level(io.behindService) =/= lastLevel
  private val keptMore = io.successor.cell =/= io.newestServed
  private val arrivedLone = tails.read(lastLevel) === arrivedQueue
  private val keptCovered = deficit >= io.successor.lenBytes
  private val comes = arrived || kept
  private val comingPacket = Mux(arrived, arrivedEntry.packet, io.successor)
  private val followed = Wire(UInt(Level.Count.W)) // in turn: what was pushed in the clock before stands first since
  private val follower = Delay(pushed.head)
  when(comes || followed.orR) { comePackets.write(lastLevel, Mux(followed.orR, follower.packet, comingPacket)) }
  when(comes) {
    when(lastRound) { heldCovered := Mux(arrived, arrivedEntry.covered, keptCovered) }
  }

  // ---- choice
  io.level := OHToUInt(served)
  private val same = if (p.inTurn) false.B else (lastServed & served).orR // what comes out of RAM can be chosen at once
  private val fromEntries = arrived && same
  private val fromQueue = kept && same
  private val held = Mux1H(served, firsts)
  private val heldPacket = Mux((byPush & served).orR, pushedPackets.read(io.level), comePackets.read(io.level))
  private val roundArrived = arrived && lastRound
  private val roundDeficit = Mux(roundArrived, arrivedEntry.deficit, deficit)
  io.chosen.valid := (valid.asUInt & served).orR
  io.chosen.bits.head.queue := Mux(fromEntries, arrivedQueue, held.queue)
  io.chosen.bits.head.packet := Mux(comes && same, comingPacket, heldPacket)
  io.chosen.bits.deficit := (if (p.inTurn) deficit else roundDeficit)
  // Each late answer meets one choice whose selects are early.
  private def choose(ofEntries: Bool, ofQueue: Bool, held: Bool) =
    (fromEntries && ofEntries) || (fromQueue && ofQueue) || (!(comes && same) && held)
  io.keptCovered := (if (p.inTurn) false.B else keptCovered)
  io.coveredIf := VecInit(
    Seq(false.B, true.B).map(kept => !served(Level.Round) || choose(arrivedEntry.covered, kept, heldCovered))
  )
  io.more := choose(arrivedMore, keptMore, held.more)
  io.moved := Mux(fromEntries, arrivedMoved, held.moved)
  io.shaped := Mux(fromEntries, io.behindService.shaped, held.shaped)
  io.behind := Mux(fromEntries, arrivedBehind, held.behind)

  // ---- a push
  private val pushLevel = Level(io.pushService)
  private val stored = Wire(new Stored)
  stored.packet := pushed.head.packet
  stored.deficit := pushed.deficit
  stored.covered := io.storeCovered
  entries.write(io.store.valid, pushed.head.queue, stored)
  private val pushing = io.store.valid && io.push
  links.write(pushing && valid(pushLevel), tails.read(pushLevel), pushed.head.queue)
  when(pushing) { tails.write(pushLevel, pushed.head.queue) }

  private val pushes = VecInit(Seq.tabulate(Level.Count)(level => pushing && pushLevel === level.U)).asUInt
  private val arrives = Mux(arrived, lastServed, 0.U)
  private val keeps = Mux(kept, lastServed, 0.U)
  private val alone = (arrives & Fill(Level.Count, arrivedLone)) | (~arrives & lone) | followed
  servedLone := Mux(fromEntries, arrivedLone, (lone & served).orR)
  private val empties = io.pop && servedLone // the list that is served
  private val highestBehind = PriorityEncoderOH((valid.asUInt & ~served) | pushes)
  private val highest = PriorityEncoderOH(valid.asUInt | pushes)
  // In turn that a list falls empty is heeded a clock later: nothing is served in that clock, and `pop` is known late.
  private val heeded = if (p.inTurn) false.B else empties
  private val unheeded = RegNext(empties && !heeded, false.B)
  served := Mux(io.hold, served, Mux(heeded, highestBehind, highest))
  io.standing := RegNext(Mux(heeded, (valid.asUInt & ~served).orR, valid.asUInt.orR) || pushing, false.B)
  io.holdsQueues := valid.asUInt.orR

  private def is(other: Valid[UInt], queue: UInt): Bool = other.valid && other.bits === queue
  private val ofServed = Wire(UInt(Scheduler.DeficitBits.W))
  ofServed := Mux(io.taken && served(Level.Round), io.deficitLeft, roundDeficit)
  deficit := ofServed
  // What is pushed comes into an empty list, or into one that falls empty, which is known last: in turn this is done a clock later, as nothing is
  // served in that clock and nothing comes out of RAM.
  private val opens = pushes & ~valid.asUInt
  private val follows = pushes & served & Fill(Level.Count, servedLone)
  followed := (if (p.inTurn) RegNext(follows, 0.U) & Fill(Level.Count, RegNext(io.pop, false.B)) else 0.U)
  private val becomesFirst = if (p.inTurn) opens else opens | (follows & Fill(Level.Count, io.pop))
  when(becomesFirst.orR) { pushedPackets.write(pushLevel, pushed.head.packet) }
  byPush := (byPush & ~(arrives | keeps | followed)) | becomesFirst
  lone := (alone & ~pushes) | becomesFirst
  private val pushedFirst = Wire(new First)
  pushedFirst.queue := pushed.head.queue
  pushedFirst.behind := DontCare
  pushedFirst.more := io.pushMore || is(io.joined, pushed.head.queue)
  pushedFirst.shaped := io.pushService.shaped
  pushedFirst.moved := is(io.configured, pushed.head.queue)
  private val followerFirst = Delay(pushedFirst)
  for (level <- 0 until Level.Count) {
    val first = firsts(level)
    when(arrives(level)) {
      first.queue := arrivedQueue
      first.behind := arrivedBehind
      first.shaped := io.behindService.shaped
    }
    first.more := Mux(
      arrives(level),
      arrivedMore || is(io.joined, arrivedQueue),
      Mux(keeps(level), keptMore, first.more) || is(io.joined, first.queue)
    )
    first.moved := Mux(
      arrives(level),
      arrivedMoved || is(io.configured, arrivedQueue),
      first.moved || is(io.configured, first.queue)
    )
    when(followed(level)) {
      first.queue := followerFirst.queue
      first.more := followerFirst.more || is(io.joined, followerFirst.queue)
      first.shaped := followerFirst.shaped
      first.moved := followerFirst.moved || is(io.configured, followerFirst.queue)
    }
    when(becomesFirst(level)) {
      valid(level) := true.B
      first.queue := pushedFirst.queue
      first.more := pushedFirst.more
      first.shaped := pushedFirst.shaped
      first.moved := pushedFirst.moved
    }.otherwise {
      when(empties && served(level) && !pushes(level)) { valid(level) := false.B }
      when(pushes(level) && alone(level)) { first.behind := pushed.head.queue }
    }
  }
  private def round(entry: Stored): Unit = {
    deficit := entry.deficit
    heldCovered := entry.covered
  }
  when(becomesFirst(Level.Round)) { round(stored) }
  when(followed(Level.Round)) { round(Delay(stored)) }

  private val parkedEntry = entries.read(io.parkedQueue, true.B)
  io.parked.head.queue := Delay(io.parkedQueue)
  io.parked.head.packet := parkedEntry.packet
  io.parked.deficit := parkedEntry.deficit

  private val isSettled = !RegNext(io.hold, false.B) && !unheeded
  assert(!isSettled || served === PriorityEncoderOH(valid.asUInt), "another list is the highest")
  for (level <- 0 until Level.Count) {
    val first = Mux(arrives(level), arrivedQueue, Mux(followed(level), follower.queue, firsts(level).queue))
    assert(
      !valid(level) || alone(level) === (tails.read(level.U) === first),
      "it is not known whether a list holds one queue"
    )
  }
  private val roundHeld = valid(Level.Round) && served(Level.Round) && !(comes && lastRound) && !followed(Level.Round)
  assert(
    !roundHeld || heldCovered === (deficit >= heldPacket.lenBytes),
    "it is not known whether a deficit covers the packet"
  )
  assert(!isSettled || io.standing === io.chosen.valid, "it is not known whether a queue is chosen")
  assert(!(io.pop && io.keep), "a queue is kept and taken off at once")
  if (p.inTurn)
    assert(
      !((io.pop || io.keep) && RegNext(io.pop || io.keep, false.B)),
      "who is served comes out of RAM in this clock"
    )
  assert(!((io.pop || io.keep) && !io.chosen.valid), "nothing is there to be served")

  val guard = guards.ports()
}
