package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.{same, wrap}
import vermilion.fixed.{Delay, Memory, MemoryKind}

object FlowTable {
  val Ways = 4

  /** Bits of an entry's count of data packets; the top one stands for four and more: settled. */
  val CountBits = 3

  /** Clocks from lookup to place. */
  val Latency = 4

  def requireLegal(flows: Int): Unit = require(
    flows >= 256 && flows <= 65536 && isPow2(flows),
    s"flows is $flows; legal are powers of two from 256 to 65536"
  )

  /** Is an entry of this count not half-open? */
  def settled(count: UInt): Bool = count(CountBits - 1)

  /** The count of a flow's own entry after its packet. */
  def counted(count: UInt, aged: Bool, syn: Bool): UInt = {
    val kept = Mux(aged && (syn || settled(count)), 0.U, count)
    Mux(syn || settled(kept), kept, wrap(kept + 1.U, CountBits))
  }

  /** Clears the sets one by one, after a reset and after a new seed: when what was on its way has drained, and beside the hash, which takes its
    * key.
    */
  class Clearing(sets: Int, hash: FlowHashing, seed: Valid[UInt]) {
    private val cleared = RegInit(0.U((log2Ceil(sets) + 1).W))
    val on: Bool = hash.io.drained && cleared =/= sets.U
    val set: UInt = cleared(log2Ceil(sets) - 1, 0)
    val ready: Bool = hash.io.ready && !on
    when(on) { cleared := cleared + 1.U }
    when(seed.valid) { cleared := 0.U }
    hash.io.seed := seed
  }
}

/** Who has which entry: a four-way set-associative table of whole flow names, one lookup a clock, any mixture of flows.
  *
  * An entry keeps the flow's name (addresses, ports, IP version, queue, VLAN IDs), the tick of its last packet and a count of its data packets, to
  * four. A lookup compares whole names, so a flow never meets another's state. Every lookup is by a packet that needs state, and ends so:
  *
  *   1. Its own entry, not aged: found. The packet's tick is kept. A data packet is counted, a SYN leaves the count.
  *   1. Its own entry, aged: given anew. A SYN begins the count anew, and so does any packet where it was full; else it goes on, so that
  *      a flow that is slow from the start is settled too.
  *   1. A way of its set is free: given; the count begins.
  *   1. A way has aged out: given; the count begins. (Of several, here as in 3 and 5, the lowest.)
  *   1. A way is half-open: given; the count begins.
  *   1. Else the set is full: nothing found, nothing changed. A flow with four data packets is not evicted while it is fresh.
  *
  * Half-open: fewer than four data packets. So floods of SYNs, scans and flows of up to three packets take half-open entries from each
  * other and from flows that have just begun, and nothing from anyone else. Aged: more than `idleAge`, or `halfOpenAge` where half-open, by the
  * looking packet's ages, in ticks of 2^22 ns, modulo 2^26 of them (78 h); but an age in the last 2^15 ticks (137 s) of that round is a
  * tick that lies ahead, as a clock set back leaves it, and is young.
  *
  * RAM: four ways of entries, read latency 1, one write port each; a clear writes the bit `valid` alone.
  * {{{
  *   clock 0  hash                          3  take in what the lookup just ahead has written; choose; (the one-clock loop)
  *         1  address the RAM               4  place at the output, entry written: seen by a lookup that comes to clock 1 behind that
  *         2  RAM's output: compare names and ages; take in what lookups 3 and 2 ahead have written
  * }}}
  * Taking in needs no wide compare in the loop and no wide forwarding: whether a lookup has the same set, the same name, and which age it
  * sees in the three ahead of it is worked out in clock 1. So the RAM's word does not matter where a write meets a read. The loop holds
  * logic of a few bits a way alone.
  *
  * After reset and after a new seed (which empties the table) `ready` is low while the hash takes its key and the entries are cleared; lookups
  * are ignored then.
  */
class FlowTable(queueBits: Int, flows: Int, ultraRam: Boolean) extends Module {
  FlowTable.requireLegal(flows)
  import FlowTable._
  import FlowFormats.{AgeBits, FutureBits, TickBits}
  private val sets = flows / Ways
  private val setBits = log2Ceil(sets)

  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val lookup = Flipped(Valid(new FlowLookup(queueBits)))
    val place = Valid(new FlowPlace(log2Ceil(flows)))
    val ready = Output(Bool())
  })

  private class Entry extends Bundle {
    val valid = Bool()
    val count = UInt(CountBits.W)
    val tick = UInt(FlowFormats.TickBits.W)
    val key = new FlowKey(queueBits)
  }

  /** A way as one lookup sees it; all but `count` are 0 where it is not so. */
  private class Way extends Bundle {
    val free = Bool()
    val hit = Bool() // this flow's
    val aged = Bool()
    val halfOpen = Bool()
    val count = UInt(CountBits.W)
  }

  /** What a lookup knows of one ahead of it. */
  private class Ahead extends Bundle {
    val sameSet = Bool()
    val sameFlow = Bool()
    val idle = Bool() // its tick is over the idle age
    val stale = Bool() // over the half-open age
  }

  /** How a lookup ended. */
  private class Outcome extends Bundle {
    val way = UInt(Ways.W) // a bit a way: the one that it writes
    val count = UInt(CountBits.W)
    val place = new FlowPlace(log2Ceil(flows))
  }

  private val hash = Module(new FlowHash(queueBits, setBits))
  private val clearing = new Clearing(sets, hash, io.seed)
  io.ready := clearing.ready
  hash.io.flow := io.lookup.bits.key

  // ---- The lookup and its set as they stand in each clock -------------------------------------------------------
  private val lookup = Seq.iterate(io.lookup.bits, Latency + 1)(Delay(_))
  private val valid = Seq.iterate(io.lookup.valid && io.ready, Latency + 1)(RegNext(_, false.B))
  private val set = Seq.iterate(hash.io.set, Latency + 1)(Delay(_))

  /** The last tick that is over a lookup's age: `now - age - 1`. */
  private class Edges extends Bundle {
    val idle = UInt(TickBits.W)
    val halfOpen = UInt(TickBits.W)
  }
  private val s0Edges = Wire(new Edges)
  s0Edges.idle := io.lookup.bits.tick + ~io.lookup.bits.idleAge.pad(TickBits)
  s0Edges.halfOpen := io.lookup.bits.tick + ~io.lookup.bits.halfOpenAge.pad(TickBits)
  private val edges = Seq.iterate(s0Edges, 3)(Delay(_))

  /** Is a tick over the age of that edge? Ages have fewer bits than ticks, so a tick of more bits is; else the distance to the edge has a sign. Both
    * subtractions stand beside each other.
    */
  private def older(now: FlowLookup, tick: UInt): UInt => Bool = {
    val since = now.tick - tick
    val ahead = since(TickBits - 1, FutureBits).andR
    val far = since(TickBits - 1, AgeBits).orR
    edge => !ahead && (far || !(edge - tick)(TickBits - 1))
  }

  // ---- Clock 1: compare with the three ahead, address the RAM ---------------------------------------------------
  private val ahead = (1 to 3).map { k =>
    val a = Wire(new Ahead)
    val over = older(lookup(1), lookup(1 + k).tick)
    a.sameSet := valid(1 + k) && set(1 + k) === set(1)
    a.sameFlow := same(lookup(1 + k).key.asUInt, lookup(1).key.asUInt)
    a.idle := over(edges(1).idle)
    a.stale := over(edges(1).halfOpen)
    a
  }

  // ---- Clock 2: the RAM's output is compared; what lookups 3 and 2 ahead have written is taken in ---------------
  private val entryBits = (new Entry).getWidth
  private val ways =
    Seq.fill(Ways)(new Memory(sets, UInt(entryBits.W), MemoryKind.large(sets, entryBits, ultraRam)).suggestName("ways"))
  private val outcome4 = Reg(new Outcome)
  private val outcome5 = Delay(outcome4)
  private def takeIn(seen: Way, w: Int, a: Ahead, o: Outcome): Way = {
    val now = WireDefault(seen)
    when(a.sameSet && o.way(w)) {
      now.free := false.B
      now.hit := a.sameFlow
      now.aged := Mux(settled(o.count), a.idle, a.stale)
      now.halfOpen := !settled(o.count)
      now.count := o.count
    }
    now
  }
  private val s2Ways = ways.zipWithIndex.map { case (way, w) =>
    val entry = way.read(set(1)).asTypeOf(new Entry)
    val seen = Wire(new Way)
    val edge = Mux(settled(entry.count), edges(2).idle, edges(2).halfOpen)
    seen.free := !entry.valid
    seen.hit := entry.valid && same(entry.key.asUInt, lookup(2).key.asUInt)
    seen.aged := entry.valid && older(lookup(2), entry.tick)(edge)
    seen.halfOpen := entry.valid && !settled(entry.count)
    seen.count := entry.count
    takeIn(takeIn(seen, w, Delay(ahead(2)), outcome5), w, Delay(ahead(1)), outcome4)
  }

  // ---- Clock 3: take in what the lookup just ahead has written, and choose --------------------------------------
  private val s3Ahead = Delay(ahead(0), 2)
  private val s3Ways = s2Ways.zipWithIndex.map { case (way, w) => takeIn(Delay(way), w, s3Ahead, outcome4) }
  private def which(property: Way => Bool): UInt = VecInit(s3Ways.map(property)).asUInt
  private val hits = which(_.hit) // one at most
  private val free = which(_.free)
  private val aged = which(_.aged)
  private val halfOpen = which(_.halfOpen)
  private val own = hits.orR
  private val live = (hits & ~aged).orR
  private val chosen =
    Mux(free.orR, PriorityEncoderOH(free), Mux(aged.orR, PriorityEncoderOH(aged), PriorityEncoderOH(halfOpen)))
  private val found = own || free.orR || aged.orR || halfOpen.orR
  private val s3 = Wire(new Outcome)
  s3.way := Mux(own, hits, chosen) & Fill(Ways, valid(3))
  private val counts = s3Ways.map(way => counted(way.count, way.aged, lookup(3).syn))
  s3.count := Mux(own, Mux1H(hits, counts), !lookup(3).syn)
  s3.place.found := found
  s3.place.fresh := !live
  s3.place.index := DontCare // from `way`, a clock later
  s3.place.collision := !own && !free.orR
  s3.place.agedOut := Mux(own, !live, !free.orR && aged.orR)
  s3.place.displaced := !own && !free.orR && !aged.orR && found
  outcome4 := s3

  // ---- Clock 4: write ---------------------------------------------------------------------------------------------
  private val entry = Wire(new Entry)
  entry.valid := !clearing.on
  entry.count := outcome4.count
  entry.tick := lookup(4).tick
  entry.key := lookup(4).key
  private val writeSet = Mux(clearing.on, clearing.set, set(4))
  for ((way, w) <- ways.zipWithIndex)
    way.write(clearing.on || outcome4.way(w), writeSet, entry.asUInt)
  io.place.valid := valid(4)
  io.place.bits := outcome4.place
  io.place.bits.index := Cat(set(4), OHToUInt(outcome4.way))
}
