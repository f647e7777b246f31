package vermilion.victim

import chisel3._
import chisel3.util._
import _root_.circt.stage.ChiselStage
import vermilion.fixed.Delay

/** What a bounded proof checks of VictimPipeline, on a small build: `EmitProof DIRECTORY` writes it as FIRRTL.
  *
  * Any packets come at any time, any queue that may be served is served at any time; the taker knows what the scheduler knows.
  * Beside the block stand plain queues, arrays of packets in order, which follow what it says. It holds that
  *  - who leaves is its queue's oldest, the successor is the next, and a queue has a first packet whenever it holds one: order, nothing lost;
  *  - a victim stands in its queue and is not first; each contest costs exactly one packet, and nobody pays twice;
  *  - a cell comes back once, when its packet has gone; at rest the cells held are those of the queued packets;
  *  - where nothing else has gone on since s0, the victim is the one that looking at all packets finds: the lists and bitmaps agree with the queue.
  */
class VictimProof(v: VictimParams) extends Module {
  val io = IO(new Bundle {
    val arrival = Flipped(Valid(new Arrival(v)))
    val take = Flipped(Valid(UInt(v.queueBits.W)))
    val byColour = Input(Bool())
  })
  private val Outcomes = 6

  private class Packet extends Bundle {
    val cell = UInt(v.cellBits.W)
    val rank = new Rank(v)
    val marked = Bool()
    val ect = Bool()
  }
  private class Plain extends Bundle {
    val packets = Vec(v.cells, new Packet)
    val length = UInt((v.cellBits + 1).W)
    def empty: Bool = length === 0.U
  }

  private val dut = Module(new VictimPipeline(v))
  private val settled = RegInit(0.U(2.W))
  when(!settled.andR) { settled := settled + 1.U }

  // ---- what may come
  private val held = RegInit(0.U(v.cells.W))
  private val a = io.arrival.bits
  assume(io.byColour === Delay(io.byColour) || settled === 0.U)
  assume(!io.arrival.valid || settled.andR)
  assume(!io.arrival.valid || (a.action <= Action.Contest.U && a.colour < 3.U && a.queue < v.queues.U))
  assume(!io.arrival.valid || (a.cells === 1.U && a.lenBytes === 64.U && a.byColour === io.byColour))
  assume(!io.arrival.valid || !held(a.cell))
  dut.io.arrival := io.arrival
  dut.io.look := VecInit(0.U, 0.U)

  // ---- plain queues
  private val plain = RegInit(VecInit(Seq.fill(v.queues)(0.U.asTypeOf(new Plain))))
  private val outcome = dut.io.outcome
  private val settledArrival = Delay(a, Outcomes)
  private val o = outcome.bits
  private val queue = settledArrival.queue
  private val before = plain(queue)
  private val isVictim = VecInit(before.packets.zipWithIndex.map { case (packet, i) =>
    i.U < before.length && packet.cell === o.victim.cell
  })
  private val place = PriorityEncoder(isVictim)
  private val victim = before.packets(place)
  private val paysThere = outcome.valid && (o.evicted || o.victimMarked)
  private val contest = settledArrival.action === Action.Contest.U

  private val afterOutcome = WireDefault(plain)
  private val fresh = Wire(new Packet)
  fresh.cell := settledArrival.cell
  fresh.rank := settledArrival.rank
  fresh.marked := o.marked
  fresh.ect := settledArrival.ect
  private val appended = Wire(new Plain)
  appended := before
  when(o.enqueued) {
    appended.packets(before.length(v.cellBits - 1, 0)) := fresh
    appended.length := before.length + 1.U
  }
  private def without(from: Plain, place: UInt): Plain = {
    val rest = Wire(new Plain)
    for (i <- 0 until v.cells) rest.packets(i) := (if (i == v.cells - 1) from.packets(i)
                                                   else Mux(i.U >= place, from.packets(i + 1).asUInt, from.packets(i).asUInt).asTypeOf(new Packet))
    rest.length := from.length - 1.U
    rest
  }
  when(outcome.valid) {
    afterOutcome(queue) := appended
    when(o.evicted) { afterOutcome(queue) := without(appended, place) }
    when(o.victimMarked) { afterOutcome(queue).packets(place).marked := true.B }
  }

  // ---- the taker
  private val first = Reg(Vec(v.queues, UInt(v.cellBits.W)))
  private val known, more = RegInit(VecInit.fill(v.queues)(false.B))
  private val taken = RegNext(io.take.valid, false.B)
  private val takenQueue = Delay(io.take.bits)
  private val takenCell = Delay(dut.io.serveCell)
  private val now = WireDefault(afterOutcome)
  when(taken) { now(takenQueue) := without(afterOutcome(takenQueue), 0.U) }
  plain := now
  private val follows = taken && !now(takenQueue).empty
  private val firstNow = WireDefault(first)
  private val knownNow = WireDefault(known)
  private val moreNow = WireDefault(more)
  when(follows) {
    firstNow(takenQueue) := dut.io.successor.cell
    knownNow(takenQueue) := true.B
    moreNow(takenQueue) := dut.io.successor.cell =/= dut.io.newestServed
  }
  first := firstNow
  known := knownNow
  more := moreNow
  assume(!io.take.valid || (io.take.bits < v.queues.U && knownNow(io.take.bits)))
  dut.io.take := io.take.valid
  dut.io.serveQueue := io.take.bits
  dut.io.serveCell := firstNow(io.take.bits)
  dut.io.emptied := !moreNow(io.take.bits)
  when(io.take.valid) { known(io.take.bits) := false.B }
  private val entering = Delay(a, Outcomes - 1)
  when(dut.io.enqueued) {
    when(dut.io.awake) {
      first(entering.queue) := entering.cell
      known(entering.queue) := true.B
    }
    more(entering.queue) := !dut.io.awake
  }

  // ---- order
  when(taken) {
    assert(!afterOutcome(takenQueue).empty && afterOutcome(takenQueue).packets(0).cell === takenCell, "order")
    assert(dut.io.takenMarked === afterOutcome(takenQueue).packets(0).marked, "mark")
    assert(dut.io.refilled === (follows && Delay(dut.io.emptied)), "refilled")
  }
  when(follows) { assert(dut.io.successor.cell === now(takenQueue).packets(0).cell, "successor") }
  when(dut.io.enqueued) { assert(dut.io.awake === now(entering.queue).empty, "awake") }

  // ---- who pays
  private val arrived = Seq.iterate(io.arrival.valid, 11)(RegNext(_, false.B))
  private val tookAgo = Seq.iterate(io.take.valid, 8)(RegNext(_, false.B))
  assert(outcome.valid === arrived(Outcomes), "latency")
  when(outcome.valid) {
    val costs = o.evicted +& o.victimMarked +& (contest && o.marked) +& (contest && !o.enqueued)
    assert(costs === contest.asUInt, "exactly one pays")
    assert(contest || o.enqueued === (settledArrival.action === Action.Admit.U), "admitted or refused")
  }
  when(paysThere) {
    assert(isVictim.asUInt.orR && place =/= 0.U, "the victim stands in its queue and is not first")
    assert(!victim.marked && victim.rank.distance === o.victim.distance, "the victim is who it says")
    assert(victim.rank.distance <= settledArrival.distance, "the victim is not further")
    assert(o.victimMarked === (victim.ect && settledArrival.mayMark), "marked or evicted")
  }
  private val alone = !arrived.slice(7, 11).reduce(_ || _) && !tookAgo.slice(2, 8).reduce(_ || _)
  private val candidates = before.packets.zipWithIndex.map { case (packet, i) =>
    val may = i.U =/= 0.U && i.U < before.length && !packet.marked && settledArrival.mayLose(packet.rank.slot) &&
      queue < v.indexed.U
    (may, packet.rank.asUInt, i.U(v.cellBits.W))
  }
  private val best = candidates.reduce { (one, other) =>
    val otherWins = other._1 && (!one._1 || other._2 < one._2)
    (one._1 || other._1, Mux(otherWins, other._2, one._2), Mux(otherWins, other._3, one._3))
  }
  private val bestPays = best._1 && (best._2 >> 2) <= settledArrival.distance
  when(outcome.valid && contest && alone) {
    assert(paysThere === bestPays, "alone, somebody pays who must")
    assert(!bestPays || place === best._3, "alone, the smallest distance and the oldest pays")
  }

  // ---- cells
  private val back = Mux(dut.io.freed.valid, UIntToOH(dut.io.freed.bits.cell, v.cells), 0.U) |
    Mux(taken, UIntToOH(takenCell, v.cells), 0.U)
  held := (held & ~back) | Mux(io.arrival.valid, UIntToOH(a.cell, v.cells), 0.U)
  assert((back & ~held) === 0.U, "a cell comes back that was not held")
  assert(!(dut.io.freed.valid && taken && dut.io.freed.bits.cell === takenCell), "a cell comes back twice")
  private val standing = VecInit(now.map { q =>
    VecInit(q.packets.zipWithIndex.map { case (packet, i) => Mux(i.U < q.length, UIntToOH(packet.cell, v.cells), 0.U) })
      .reduce(_ | _)
  }).reduce(_ | _)
  assert((back & standing) === 0.U, "a cell comes back while its packet is queued")
  private val rest = !arrived.slice(1, 7).reduce(_ || _) && !taken
  assert(!rest || held === standing, "at rest a cell is lost")
}

object EmitProof extends App {
  // Open Yosys knows no messages of assertions.
  private val firrtl = ChiselStage.emitCHIRRTL(new VictimProof(VictimParams(queues = 2, cells = args(1).toInt, indexed = 2, distanceBits = 2)))
  java.nio.file.Files.writeString(java.nio.file.Paths.get(args(0)), firrtl)
}
