package vermilion.queue

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.lane.LaneParams

/** [[QueueManager]]: no packet is lost or doubled, each queue keeps its order, and it is backlogged exactly when it holds a packet or is about to become idle.
  *
  * Assumed: a packet has a cell that no queued packet has; it may be used again in the clock behind `taken`. Queues and cells are of the build.
  * The taker takes only what the block told it, the first packet of a queue, and asks for an idle queue (`emptied`) when it knows of no successor, as
  * `schedule/ServiceLists` does. Which packets come, to which queue, and who is taken when, is free, up to one of each a clock. So is whose successor is
  * asked for, if it has had one for a clock; a taker that has asked for that of a packet behind the first knows the next first from before.
  *
  * Beside the block stand plain queues, arrays of packets in order. A packet is in its queue from the clock behind its enqueue on (e1).
  */
class QueueChecks(p: LaneParams) extends Module {
  private val TagBits = 2 // stands for all else that a queue entry carries
  val free = IO(Input(new Bundle {
    val enqueues, takes, asks = Bool()
    val queue, takeQueue, askQueue = UInt(p.queueBits.W)
    val cell, askPlace = UInt(p.cellBits.W)
    val tag = UInt(TagBits.W)
    val lookup = Vec(2, UInt(p.queueBits.W))
  }))
  private class Packet extends Bundle {
    val cell = UInt(p.cellBits.W)
    val tag = UInt(TagBits.W)
  }
  private class Plain extends Bundle {
    val packets = Vec(p.cells, new Packet)
    val length = UInt((p.cellBits + 1).W)
    def empty: Bool = length === 0.U
    def newest: Packet = packets((length - 1.U)(p.cellBits - 1, 0))
  }
  private val dut = Module(new QueueManager(p))
  private def cellsOf(tag: UInt) = Mux(tag(0), 2.U(2.W), 1.U(2.W)) // any but 0
  private def isRef(ref: PacketRef, packet: Packet) = ref.name === packet.cell && ref.lenBytes === packet.tag

  // ---- what comes: e1 is the clock behind
  private val started = RegInit(0.U((p.queueBits + 1).W)) // the sweep behind reset
  private val ready = started === p.queues.U
  when(!ready) { started := started + 1.U }
  private val held = RegInit(0.U(p.cells.W))
  private val comes = free.enqueues && ready && !held(free.cell)
  dut.io.enqueue.valid := comes
  dut.io.enqueue.bits := 0.U.asTypeOf(dut.io.enqueue.bits)
  dut.io.enqueue.bits.queue := free.queue
  dut.io.enqueue.bits.queueEntry.headCell := free.cell
  dut.io.enqueue.bits.queueEntry.cells := cellsOf(free.tag)
  dut.io.enqueue.bits.queueEntry.lenBytes := free.tag
  dut.io.enqueue.bits.queueEntry.arrival := free.tag
  private val e1 = RegNext(comes, false.B)
  private val e1Queue = Delay(free.queue)
  private val e1Packet = Wire(new Packet)
  e1Packet.cell := Delay(free.cell)
  e1Packet.tag := Delay(free.tag)

  // ---- plain queues, as of the end of the clock before
  private val plain = RegInit(VecInit.fill(p.queues)(0.U.asTypeOf(new Plain)))
  private val taken = RegInit(false.B)
  private val takenQueue = Delay(free.takeQueue)
  private val takenCell = Delay(dut.io.serve.packet.name)
  private val asked = RegInit(false.B) // to become idle
  private val sought = RegInit(false.B) // somebody's successor
  private val soughtFirst = Reg(Bool()) // that of its queue's first packet
  private val soughtQueue = Reg(UInt(p.queueBits.W))
  private val soughtCell = Reg(UInt(p.cellBits.W))
  private val soughtPacket = Reg(new Packet)
  private def without(from: Plain): Plain = {
    val rest = Wire(new Plain)
    for (i <- 0 until p.cells) rest.packets(i) := from.packets((i + 1).min(p.cells - 1))
    rest.length := from.length - 1.U
    rest
  }
  private val leaves = plain(takenQueue)
  private val now = WireDefault(plain) // without what was taken, before what comes
  when(taken) { now(takenQueue) := without(leaves) }
  private val after = WireDefault(now)
  when(e1) {
    after(e1Queue).packets(now(e1Queue).length(p.cellBits - 1, 0)) := e1Packet
    after(e1Queue).length := now(e1Queue).length + 1.U
  }
  plain := after

  // ---- the taker: what it knows of each queue
  private val first = Reg(Vec(p.queues, new PacketRef(p)))
  private val known, more = RegInit(VecInit.fill(p.queues)(false.B))
  private val firstNow = WireDefault(first)
  private val knownNow = WireDefault(known)
  private val moreNow = WireDefault(more)
  private val follows = taken && !asked
  when(follows) {
    when(sought && soughtFirst) { firstNow(takenQueue) := dut.io.successor.head }.otherwise {
      firstNow(takenQueue).name := now(takenQueue).packets(0).cell
      firstNow(takenQueue).lenBytes := now(takenQueue).packets(0).tag
    }
    knownNow(takenQueue) := true.B
    moreNow(takenQueue) := firstNow(takenQueue).name =/= dut.io.newestServed.head
  }
  first := firstNow
  known := knownNow
  more := moreNow
  private val take = free.takes && knownNow(free.takeQueue)
  taken := take
  asked := take && !moreNow(free.takeQueue)
  dut.io.take := take
  dut.io.serve.queue := free.takeQueue
  dut.io.serve.packet := firstNow(free.takeQueue)
  dut.io.emptied := !moreNow(free.takeQueue)
  dut.io.lookup.head := free.lookup
  private val askQueue = Mux(take, free.takeQueue, free.askQueue)
  private val askFrom = now(askQueue)
  private val asks = free.asks && free.askPlace +& 1.U < askFrom.length
  dut.io.askQueue.head := askQueue
  dut.io.ask.head.valid := asks
  dut.io.ask.head.bits := askFrom.packets(free.askPlace).cell
  sought := asks
  soughtFirst := free.askPlace === 0.U
  soughtQueue := askQueue
  soughtCell := dut.io.ask.head.bits
  soughtPacket := askFrom.packets(free.askPlace + 1.U)
  when(take) { known(free.takeQueue) := false.B }
  when(dut.io.appended.valid) { more(dut.io.appended.bits.queue) := true.B }
  for (told <- Seq(dut.io.becameBacklogged, dut.io.reactivated)) when(told.valid) {
    known(told.bits.queue) := true.B
    first(told.bits.queue) := told.bits.packet
    more(told.bits.queue) := false.B
  }
  // A packet that finds its queue refilled in the same clock stands behind.
  when(dut.io.reactivated.valid) {
    more(dut.io.reactivated.bits.queue) := dut.io.reactivated.bits.packet.name =/= dut.io.newestServed.head ||
      (dut.io.appended.valid && dut.io.appended.bits.queue === dut.io.reactivated.bits.queue)
  }

  // ---- cells
  held := (held & ~Mux(taken, UIntToOH(takenCell, p.cells), 0.U)) | Mux(comes, UIntToOH(free.cell, p.cells), 0.U)

  // ---- properties
  assert(dut.io.taken.valid === taken, "a packet leaves that was not taken, or does not")
  when(taken) {
    val gone = dut.io.taken.bits
    assert(!leaves.empty && leaves.packets(0).cell === takenCell, "the packet taken is not its queue's oldest")
    assert(gone.queue === takenQueue && gone.queueEntry.headCell === takenCell, "another packet leaves than was taken")
    assert(gone.queueEntry.arrival === leaves.packets(0).tag, "a packet leaves with another's queue entry")
    assert(dut.io.newestServed.head === leaves.newest.cell, "another packet counts as the newest")
    assert(follows || dut.io.reactivated.valid === !now(takenQueue).empty, "a reactivation is missing or wrong")
  }
  assert(!dut.io.reactivated.valid || (taken && asked), "a queue is reactivated that was not emptied")
  assert(!dut.io.reactivated.valid || dut.io.reactivated.bits.queue === takenQueue, "another queue is reactivated")
  assert(!follows || !now(takenQueue).empty, "a queue is thought to hold more than it does")
  assert(!sought || isRef(dut.io.successor.head, soughtPacket), "the successor is not the next packet")
  assert(!sought || dut.io.newestServed.head === plain(soughtQueue).newest.cell, "another packet counts as the newest")
  assert(
    !dut.io.reactivated.valid || isRef(dut.io.reactivated.bits.packet, now(takenQueue).packets(0)),
    "a reactivated queue shows another packet as its first"
  )
  when(e1) {
    val becomesBacklogged = dut.io.becameBacklogged.valid
    assert(becomesBacklogged =/= dut.io.appended.valid, "a packet is not told, or told twice")
    assert(becomesBacklogged === now(e1Queue).empty, "a queue is idle with packets, or becomes backlogged twice")
    assert(
      !becomesBacklogged || (dut.io.becameBacklogged.bits.queue === e1Queue && isRef(
        dut.io.becameBacklogged.bits.packet,
        e1Packet
      )),
      "another packet makes a queue backlogged"
    )
    assert(becomesBacklogged || dut.io.appended.bits.queue === e1Queue, "a packet joins another queue")
  }
  assert(e1 || !(dut.io.becameBacklogged.valid || dut.io.appended.valid), "a packet is told that never came")
  assert(!taken || !known(takenQueue), "a queue's first packet is known before its last one is gone")
  for (q <- 0 until p.queues) {
    assert(
      dut.io.reactivated.valid && takenQueue === q.U || knownNow(q) === !now(q).empty,
      "a packet is lost, or made up: the taker knows no first"
    )
    assert(!knownNow(q) || isRef(firstNow(q), now(q).packets(0)), "the taker knows another packet as first")
    assert(!knownNow(q) || moreNow(q) === (now(q).length > 1.U), "the taker counts on more packets, or on less")
  }
  for (i <- 0 until 2) {
    val looked = plain(Delay(free.lookup(i)))
    assert(looked.empty || dut.io.newest.head(i) === looked.newest.cell, "a lookup of the newest packet shows another")
    if (i == 0) {
      val before = looked.packets((looked.length - 2.U)(p.cellBits - 1, 0))
      assert(looked.empty || dut.io.newestLength.head === looked.newest.tag, "a lookup shows another length")
      assert(
        looked.length < 2.U || dut.io.newestBefore.head === before.cell,
        "a lookup shows another packet before the newest"
      )
    }
  }
  private def namesOf(q: Plain) =
    Seq.tabulate(p.cells)(i => Mux(i.U < q.length, UIntToOH(q.packets(i).cell, p.cells), 0.U))
  private val standing = now.flatMap(namesOf).reduce(_ | _)
  private val entering = Mux(e1, UIntToOH(e1Packet.cell, p.cells), 0.U)
  private val leaving = Mux(taken, UIntToOH(takenCell, p.cells), 0.U)
  assert((standing | entering | leaving) === held, "a cell belongs to no packet, or to one that has left")
  private val uses = now.map(_.length).reduce(_ +& _) +& e1 +& taken
  assert(PopCount(held) === uses, "a cell is used twice")

  // ---- what the RAMs hold, for every record. It follows from what the block told; with it the proof closes.
  private val newest = Reg(Vec(p.queues, UInt(p.cellBits.W)))
  private val backlogged = RegInit(VecInit.fill(p.queues)(false.B))
  private val next = Reg(Vec(p.cells, new Packet))
  private val tags = Reg(Vec(p.cells, UInt(TagBits.W)))
  private val heads = Reg(Vec(p.cells, UInt(p.cellBits.W)))
  private val cells = Reg(Vec(p.cells, UInt(2.W)))
  private val becameBacklogged, becameIdle = Reg(
    Vec(p.queues, Bool())
  ) // each change to backlogged and to idle toggles a bit; swept after reset
  when(!ready) {
    becameBacklogged(started(p.queueBits - 1, 0)) := false.B
    becameIdle(started(p.queueBits - 1, 0)) := false.B
  }
  when(taken && asked && !dut.io.reactivated.valid) { // it becomes idle
    backlogged(takenQueue) := false.B
    becameIdle(takenQueue) := !becameIdle(takenQueue)
  }
  when(dut.io.becameBacklogged.valid) {
    backlogged(e1Queue) := true.B
    becameBacklogged(e1Queue) := !becameBacklogged(e1Queue)
  }
  // Behind one that was taken as the last, too.
  when(e1 && becameBacklogged(e1Queue) =/= becameIdle(e1Queue)) { next(newest(e1Queue)) := e1Packet }
  when(e1) {
    newest(e1Queue) := e1Packet.cell
    tags(e1Packet.cell) := e1Packet.tag
    heads(e1Packet.cell) := e1Packet.cell
    cells(e1Packet.cell) := cellsOf(e1Packet.tag)
  }
  private val becomesIdle = taken && asked && !dut.io.reactivated.valid
  private val isIdle = becameBacklogged(e1Queue) === becameIdle(e1Queue) || (becomesIdle && takenQueue === e1Queue)
  private val link = next(soughtCell)
  assert(dut.io.newestServed.head === newest(soughtQueue), "a read of the newest packet shows an older one")
  assert(!sought || isRef(dut.io.successor.head, link), "a read of a link shows an older one")
  assert(!e1 || dut.io.becameBacklogged.valid === isIdle, "a read of a queue's bits shows older ones")
  for ((q, i) <- plain.zipWithIndex) {
    assert(backlogged(i) === !q.empty, "a queue is backlogged without a packet, or idle with one")
    assert(
      backlogged(i) === (becameBacklogged(i) =/= becameIdle(i)),
      "a queue's two bits do not say whether it is backlogged"
    )
    assert(q.empty || newest(i) === q.newest.cell, "a queue's newest packet is another")
    for (k <- 0 until p.cells) {
      assert(k.U >= q.length || tags(q.packets(k).cell) === q.packets(k).tag, "a packet has another's queue entry")
      assert(k.U >= q.length || heads(q.packets(k).cell) === q.packets(k).cell, "a queue entry has another head cell")
      assert(k.U >= q.length || cells(q.packets(k).cell) === cellsOf(q.packets(k).tag), "a packet has other cells")
      if (k + 1 < p.cells) {
        val linked = next(q.packets(k).cell).asUInt === q.packets(k + 1).asUInt
        assert((k + 1).U >= q.length || linked, "a packet is linked to another than the next")
      }
    }
  }
}
