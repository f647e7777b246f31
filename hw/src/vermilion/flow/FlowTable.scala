package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.wrap
import vermilion.fixed.{Delay, ForwardingRam}

object FlowTable {
  val Ways = 4

  /** Bits of an entry's count of data packets; the top one stands for four and more: settled. */
  val CountBits = 3

  /** Clocks from lookup to place. */
  val Latency = 5
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
  * RAM: four ways of entries, read latency 1, one write port each.
  * {{{
  *   clock 0  hash                          3  compare names and ages; take in what lookups 2 and 3 ahead have written
  *         1  address the RAM               4  take in what the lookup just ahead has written; choose; (the one-clock loop)
  *         2  RAM's output to registers     5  place at the output, entry written: seen by a lookup that is in clock 1
  * }}}
  * Taking in needs no wide compare in the loop: whether a lookup has the same set, the same name, and which age it sees in the
  * three ahead of it is worked out in clock 1. The loop holds logic of a few bits a way alone.
  *
  * After reset and after a new seed (which empties the table) `ready` is low while the key is drawn and the entries are cleared; lookups
  * are ignored then.
  */
class FlowTable(queueBits: Int, flows: Int) extends Module {
  require(
    flows >= 256 && flows <= 65536 && isPow2(flows),
    s"flows is $flows; legal are powers of two from 256 to 65536"
  )
  import FlowTable._
  import FlowFormats.{FutureBits, TickBits}
  private val sets = flows / Ways
  private val setBits = log2Ceil(sets)
  private val wayBits = log2Ceil(Ways)

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

  /** A way as one lookup sees it. */
  private class Way extends Bundle {
    val valid = Bool()
    val hit = Bool()
    val count = UInt(CountBits.W)
    val aged = Bool()
  }
  private def settled(count: UInt): Bool = count(CountBits - 1)

  /** What a lookup knows of one ahead of it. */
  private class Ahead extends Bundle {
    val sameSet = Bool()
    val sameFlow = Bool()
    val idle = Bool() // its tick is over the idle age
    val stale = Bool() // over the half-open age
  }

  /** How a lookup ended. */
  private class Outcome extends Bundle {
    val place = new FlowPlace(log2Ceil(flows))
    val written = Bool()
    val count = UInt(CountBits.W)
    def way: UInt = place.index(wayBits - 1, 0)
  }

  // ---- Clearing: the key is drawn (longer than the pipeline is deep), then every set is cleared -----------------
  private val hash = Module(new FlowHash(queueBits, setBits))
  private val cleared = RegInit(0.U((setBits + 1).W))
  private val clearing = hash.io.ready && cleared =/= sets.U
  when(clearing) { cleared := cleared + 1.U }
  when(io.seed.valid) { cleared := 0.U }
  io.ready := hash.io.ready && !clearing
  hash.io.seed := io.seed
  hash.io.flow := io.lookup.bits.key

  // ---- The lookup and its set as they stand in each clock -------------------------------------------------------
  private val lookup = Seq.iterate(io.lookup.bits, Latency + 1)(Delay(_))
  private val valid = Seq.iterate(io.lookup.valid && io.ready, Latency + 1)(RegNext(_, false.B))
  private val set = Seq.iterate(hash.io.set, Latency + 1)(Delay(_))
  private def older(now: FlowLookup, tick: UInt, age: UInt): Bool = {
    val since = now.tick - tick
    since > age && !since(TickBits - 1, FutureBits).andR
  }

  // ---- Clock 1: compare with the three ahead, address the RAM ---------------------------------------------------
  private val ways = Seq.fill(Ways)(new ForwardingRam(sets, new Entry))
  private val ahead = (1 to 3).map { k =>
    val a = Wire(new Ahead)
    a.sameSet := valid(1 + k) && set(1 + k) === set(1)
    a.sameFlow := lookup(1 + k).key.asUInt === lookup(1).key.asUInt
    a.idle := older(lookup(1), lookup(1 + k).tick, lookup(1).idleAge)
    a.stale := older(lookup(1), lookup(1 + k).tick, lookup(1).halfOpenAge)
    a
  }

  // ---- Clock 2: the RAM's output --------------------------------------------------------------------------------
  private val s3Entries = ways.map(way => Delay(way.read(set(1))))

  // ---- Clock 3: compare -------------------------------------------------------------------------------------------
  private val outcome5 = Reg(new Outcome)
  private val outcome6 = Delay(outcome5)
  private def takeIn(seen: Way, w: Int, a: Ahead, o: Outcome): Way = {
    val now = WireDefault(seen)
    when(a.sameSet && o.written && o.way === w.U) {
      now.valid := true.B
      now.hit := a.sameFlow
      now.count := o.count
      now.aged := Mux(settled(o.count), a.idle, a.stale)
    }
    now
  }
  private val s3Ahead2 = Delay(ahead(1), 2)
  private val s3Ahead3 = Delay(ahead(2), 2)
  private val s3Ways = s3Entries.zipWithIndex.map { case (entry, w) =>
    val seen = Wire(new Way)
    seen.valid := entry.valid
    seen.hit := entry.valid && entry.key.asUInt === lookup(3).key.asUInt
    seen.count := entry.count
    seen.aged := older(lookup(3), entry.tick, Mux(settled(entry.count), lookup(3).idleAge, lookup(3).halfOpenAge))
    takeIn(takeIn(seen, w, s3Ahead3, outcome6), w, s3Ahead2, outcome5)
  }

  // ---- Clock 4: choose --------------------------------------------------------------------------------------------
  private val s4Ahead = Delay(ahead(0), 3)
  private val s4Ways = s3Ways.zipWithIndex.map { case (way, w) => takeIn(Delay(way), w, s4Ahead, outcome5) }
  private def which(property: Way => Bool): UInt = VecInit(s4Ways.map(property)).asUInt
  private val hits = which(w => w.valid && w.hit)
  private val free = which(!_.valid)
  private val aged = which(w => w.valid && w.aged)
  private val halfOpen = which(w => w.valid && !settled(w.count))
  private val own = hits.orR
  private val live = (hits & ~aged).orR
  private val choice =
    Mux(own, hits, Mux(free.orR, free, Mux(aged.orR, aged, halfOpen))) // the lowest of these
  private val found = choice.orR
  private val s4 = Wire(new Outcome)
  s4.written := valid(4) && found
  private def counted(way: Way): UInt = {
    val kept = Mux(way.aged && (lookup(4).syn || settled(way.count)), 0.U, way.count)
    Mux(lookup(4).syn || settled(kept), kept, wrap(kept + 1.U, CountBits))
  }
  s4.count := Mux(own, Mux1H(hits, s4Ways.map(counted)), !lookup(4).syn)
  s4.place.found := found
  s4.place.fresh := !live
  s4.place.index := Cat(set(4), PriorityEncoder(choice))
  s4.place.collision := !own && !free.orR
  s4.place.agedOut := Mux(own, !live, !free.orR && aged.orR)
  s4.place.displaced := !own && !free.orR && !aged.orR && found
  outcome5 := s4

  // ---- Clock 5: write ---------------------------------------------------------------------------------------------
  private val entry = Wire(new Entry)
  entry.valid := true.B
  entry.count := outcome5.count
  entry.tick := lookup(5).tick
  entry.key := lookup(5).key
  for ((way, w) <- ways.zipWithIndex) {
    way.write(outcome5.written && outcome5.way === w.U, set(5), entry)
    way.write(clearing, cleared(setBits - 1, 0), 0.U.asTypeOf(new Entry))
  }
  io.place.valid := valid(5)
  io.place.bits := outcome5.place
}
