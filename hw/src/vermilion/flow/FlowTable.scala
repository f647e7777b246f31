package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.{same, wrap}
import vermilion.fixed.{Delay, Memory, MemoryKind}

object FlowTable {
  val Ways = 4

  /** Bits of the hash that are part of an entry's tag, in addition to those that select its set. */
  val SecretBits = 3

  /** Bits of an entry's count of data packets. The top bit stands for four and more: the entry is settled. */
  val CountBits = 3

  /** Cycles from lookup to `place` (`Latency`) and to `foreign` (`Compared`). */
  val Latency = 5
  val Compared = 8

  def requireLegal(flows: Int): Unit = require(
    flows >= 256 && flows <= 65536 && isPow2(flows),
    s"flows is $flows; legal are powers of two from 256 to 65536"
  )

  /** Tells whether an entry with this count is settled, that is not half-open. */
  def settled(count: UInt): Bool = count(CountBits - 1)

  /** The count of an entry with the packet's tag, after the packet. */
  def counted(count: UInt, aged: Bool, syn: Bool): UInt = {
    val kept = Mux(Mux(syn, aged || !settled(count), aged && settled(count)), 0.U, count)
    Mux(syn || settled(kept), kept, wrap(kept + 1.U, CountBits))
  }

  /** Clears the sets one by one, after a reset and after a new seed.
    *
    * It starts when lookups in progress have drained, and runs while the hash takes its key.
    */
  class Clearing(sets: Int, hash: FlowHash, seed: Valid[UInt]) {
    private val cleared = RegInit(0.U((log2Ceil(sets) + 1).W))
    val on: Bool = hash.io.drained && cleared =/= sets.U
    val set: UInt = cleared(log2Ceil(sets) - 1, 0)
    val ready: Bool = hash.io.ready && !on
    when(on) { cleared := cleared + 1.U }
    when(seed.valid) { cleared := 0.U }
    hash.io.seed := seed
  }
}

/** Finds or allocates a flow's entry in a four-way set-associative table: one lookup per cycle, any mixture of flows.
  *
  * An entry has a tag of its flow's name (addresses, ports, IP version, queue, VLAN IDs), the tick of its last packet and a count of its data packets,
  * up to four. A second RAM holds the rest of the name ([[FlowName]]). A tag is the name's fold and three bits of its hash. A lookup selects by tags. Then it
  * compares the rest, so a flow never uses another flow's state. Only packets that need state cause a lookup. The first rule that applies decides:
  *
  *   1. An entry with its tag has not aged: found, if the rest of the name is equal, too. Else `foreign`, and the packet has no state. In both cases the
  *      entry takes the packet's tick and counts a data packet. But a SYN allocates a half-open entry anew, and the count restarts.
  *   1. An entry with its tag has aged: allocated anew. The count restarts at a SYN, and at any packet if the entry was settled. Else it continues, so that
  *      a flow that is slow from the start becomes settled, too.
  *   1. A way of its set is free: allocated; the count starts.
  *   1. A way has aged out: allocated; the count starts. (Of several ways the lowest is used, as in 3 and 5.)
  *   1. A way is half-open: allocated; the count starts.
  *   1. Else the set is full: nothing is found or changed. A flow with four data packets is not evicted until its entry ages out.
  *
  * Two flows with random names share set and tag with a probability of 2^-39^ / (8 x sets). For names chosen by an attacker see `docs/flow-markers.md`.
  *
  * Half-open: fewer than four data packets. So floods of SYNs, scans and flows of up to three packets take half-open entries only from each
  * other and from flows that have just begun. Aged: older than `idle`, or than `halfOpen` if half-open. The looking packet's configuration gives both limits.
  * Ages are in ticks of 2^22 ns, modulo 2^26 of them (78 h). An age in the last 2^15 ticks (137 s) before it wraps counts as young. It is a tick in the future,
  * as after a clock is set back.
  *
  * RAM: four ways of tags, `flows` rests of names. A clear writes only the bit `valid`.
  * {{{
  *   cycle 0  hash and fold                  4  merge the write of the lookup before; select a way (the one-cycle loop)
  *         1  address the ways               5  place at the output, entry written: visible to lookups that reach cycle 1 later; address the
  *         2  RAM to its output register        rest, or write it if the entry is allocated now
  *         3  compare tags and ages;         6  rest: RAM to its output register
  *            merge the writes of lookups    7  compare the rest
  *            4, 3 and 2 before              8  `foreign` at the output
  * }}}
  * Merging needs no wide comparison in the loop and no wide forwarding. Cycle 1 compares a lookup with the four before it: same set, same tag, age. So the
  * value that the RAM returns when a write meets a read does not matter. The loop holds only a few bits of logic per way. A rest is written or read in the
  * same cycle of its lookup, so these never meet either.
  *
  * A reset or a new seed empties the table. `ready` is then low while the hash takes its key and the entries are cleared. Lookups are ignored
  * meanwhile.
  */
class FlowTable(queueBits: Int, flows: Int, ultraRam: Boolean) extends Module {
  FlowTable.requireLegal(flows)
  import FlowTable._
  require(Compared < FlowHash.DrainCycles, s"a lookup takes $Compared cycles; legal are fewer than the hash drains for")
  import FlowFormats.{AgeBits, FutureBits, TickBits}
  private val sets = flows / Ways
  private val setBits = log2Ceil(sets)
  private val tagBits = SecretBits + FlowName.FoldBits

  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val lookup = Flipped(Valid(new FlowLookup(queueBits)))
    val place = Valid(new FlowPlace(log2Ceil(flows)))
    // three cycles after `place`: the entry found there is another flow's
    val foreign = Output(Bool())
    val ready = Output(Bool())
  })

  private class Entry extends Bundle {
    val valid = Bool()
    val count = UInt(CountBits.W)
    val tick = UInt(TickBits.W)
    val tag = UInt(tagBits.W)
  }

  /** A way as one lookup sees it. A bit is 0 if its condition does not hold. `count` is valid only for a used way. */
  private class Way extends Bundle {
    val free = Bool()
    val hit = Bool() // has this flow's tag
    val aged = Bool()
    val halfOpen = Bool()
    val count = UInt(CountBits.W)
  }

  /** What a lookup knows of an earlier one. */
  private class Ahead extends Bundle {
    val sameSet = Bool()
    val sameTag = Bool()
    val idle = Bool() // its tick is older than the idle age
    val stale = Bool() // older than the half-open age
  }

  /** The result of a lookup. */
  private class Outcome extends Bundle {
    val way = UInt(Ways.W) // one bit per way: the one that it writes
    val count = UInt(CountBits.W)
    val place = new FlowPlace(log2Ceil(flows))
  }

  private val hash = Module(new FlowHash(queueBits, setBits + SecretBits))
  private val clearing = new Clearing(sets, hash, io.seed)
  io.ready := clearing.ready
  hash.io.flow := io.lookup.bits.key

  // ---- The lookup in each cycle. Registers of empty stages keep their values. ----------------------------------------
  private val valid = Seq.iterate(io.lookup.valid && io.ready, Compared)(RegNext(_, false.B))
  private def stages[T <: Data](s0: T, last: Int): Seq[T] =
    valid.take(last).scanLeft(s0)((x, v) => Delay.enabled(x, v))
  private val syn = stages(io.lookup.bits.syn, 4)
  private val tick = stages(io.lookup.bits.tick, Latency)
  private val set = stages(hash.io.hash(setBits - 1, 0), Latency)
  private val tag = stages(Cat(hash.io.hash >> setBits, FlowName.fold(io.lookup.bits.key)), Latency)
  private val rest = stages(FlowName.rest(io.lookup.bits.key), Compared - 1)

  /** The last tick that is older than a lookup's age limit: `now - age - 1`. */
  private class Edges extends Bundle {
    val idle = UInt(TickBits.W)
    val halfOpen = UInt(TickBits.W)
  }
  private val s0Edges = Wire(new Edges)
  s0Edges.idle := io.lookup.bits.tick + ~io.lookup.bits.idle.pad(TickBits)
  s0Edges.halfOpen := io.lookup.bits.tick + ~io.lookup.bits.halfOpen.pad(TickBits)
  private val edges = stages(s0Edges, 3)

  /** Tells whether a tick is older than the age limit of an edge. Ages have fewer bits than ticks, so a larger difference is older. Otherwise the sign of the
    * distance to the edge decides. Both subtractions are in parallel.
    */
  private def older(now: UInt, tick: UInt): UInt => Bool = {
    val since = now - tick
    val ahead = since(TickBits - 1, FutureBits).andR
    val far = since(TickBits - 1, AgeBits).orR
    edge => !ahead && (far || !(edge - tick)(TickBits - 1))
  }

  // ---- Cycle 1: compare with the four lookups before, address the ways ----------------------------------------------
  private val ahead = (1 to 4).map { k =>
    val a = Wire(new Ahead)
    val over = older(tick(1), tick(1 + k))
    a.sameSet := valid(1 + k) && set(1 + k) === set(1)
    a.sameTag := same(tag(1 + k), tag(1))
    a.idle := over(edges(1).idle)
    a.stale := over(edges(1).halfOpen)
    a
  }

  // ---- Cycle 3: compare the ways' output; merge the writes of the lookups 4, 3 and 2 before --------------------------
  private val entryBits = (new Entry).getWidth
  private val ways =
    Seq.fill(Ways)(new Memory(sets, UInt(entryBits.W), MemoryKind.large(sets, entryBits, ultraRam)).suggestName("ways"))
  private val outcome5 = Reg(new Outcome)
  private val outcome6 = Delay(outcome5)
  private val outcome7 = Delay(outcome6)
  private def takeIn(seen: Way, w: Int, a: Ahead, o: Outcome): Way = {
    val now = WireDefault(seen)
    when(a.sameSet && o.way(w)) {
      now.free := false.B
      now.hit := a.sameTag
      now.aged := Mux(settled(o.count), a.idle, a.stale)
      now.halfOpen := !settled(o.count)
      now.count := o.count
    }
    now
  }
  private val s3Ahead = ahead.map(Delay(_, 2))
  private val s3Ways = ways.zipWithIndex.map { case (way, w) =>
    val entry = Delay.enabled(way.read(set(1)), valid(2)).asTypeOf(new Entry)
    val seen = Wire(new Way)
    val edge = Mux(settled(entry.count), edges(3).idle, edges(3).halfOpen)
    seen.free := !entry.valid
    seen.hit := entry.valid && same(entry.tag, tag(3))
    seen.aged := entry.valid && older(tick(3), entry.tick)(edge)
    seen.halfOpen := entry.valid && !settled(entry.count)
    seen.count := entry.count
    Seq(4 -> outcome7, 3 -> outcome6, 2 -> outcome5).foldLeft(seen) { case (way, (k, outcome)) =>
      takeIn(way, w, s3Ahead(k - 1), outcome)
    }
  }

  // ---- Cycle 4: merge the write of the lookup before, and select a way -----------------------------------------------
  private val s4Ahead = Delay(s3Ahead(0))
  private val s4Ways = s3Ways.zipWithIndex.map { case (way, w) => takeIn(Delay(way), w, s4Ahead, outcome5) }
  private def which(property: Way => Bool): UInt = VecInit(s4Ways.map(property)).asUInt
  private val hits = which(_.hit) // at most one
  private val free = which(_.free)
  private val aged = which(_.aged)
  private val halfOpen = which(_.halfOpen)
  private val own = hits.orR
  private val live = (hits & ~aged & ~(halfOpen & Fill(Ways, syn(4)))).orR
  private val chosen =
    Mux(free.orR, PriorityEncoderOH(free), Mux(aged.orR, PriorityEncoderOH(aged), PriorityEncoderOH(halfOpen)))
  private val found = own || free.orR || aged.orR || halfOpen.orR
  private val s4 = Wire(new Outcome)
  s4.way := Mux(own, hits, chosen) & Fill(Ways, valid(4))
  private val counts = s4Ways.map(way => counted(way.count, way.aged, syn(4)))
  s4.count := Mux(own, Mux1H(hits, counts), !syn(4))
  s4.place.found := found
  s4.place.fresh := !live
  s4.place.index := DontCare // from `way`, one cycle later
  s4.place.collision := !own && !free.orR
  s4.place.agedOut := Mux(own, (hits & aged).orR, !free.orR && aged.orR)
  s4.place.displaced := !own && !free.orR && !aged.orR && found
  outcome5 := s4

  // ---- Cycle 5: write -------------------------------------------------------------------------------------------------
  private val entry = Wire(new Entry)
  entry.valid := !clearing.on
  entry.count := outcome5.count
  entry.tick := tick(5)
  entry.tag := tag(5)
  private val writeSet = Mux(clearing.on, clearing.set, set(5))
  for ((way, w) <- ways.zipWithIndex)
    way.write(clearing.on || outcome5.way(w), writeSet, entry.asUInt)
  private val s5Place = Wire(new FlowPlace(log2Ceil(flows)))
  s5Place := outcome5.place
  s5Place.index := Cat(set(5), OHToUInt(outcome5.way))
  io.place.valid := valid(5)
  io.place.bits := s5Place

  // ---- Cycles 5 to 7: write the rest of the name, or read and compare it -----------------------------------------------
  private val restBits = rest.head.getWidth
  private val names =
    new Memory(flows, UInt(restBits.W), MemoryKind.large(flows, restBits, ultraRam)).suggestName("names")
  names.write(valid(5) && s5Place.found && s5Place.fresh, s5Place.index, rest(5))
  private val s7Rest = Delay.enabled(names.read(s5Place.index), valid(6))
  private val s7Known = Delay(s5Place.found && !s5Place.fresh, 2)
  io.foreign := RegNext(valid(7) && s7Known && !same(s7Rest, rest(7)), false.B)
}
