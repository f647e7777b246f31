package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.same
import vermilion.fixed.Delay

object FlowTableInTurn {

  /** Clocks from lookup to place. */
  val Latency = 8
}

/** [[FlowTable]] for lookups at least 8 clocks apart: the same answers, with the ways of a set looked at one a clock. One name is compared, one age;
  * nothing else is on its way, so nothing is taken in.
  *
  * RAM: one array of entries, with a set's ways side by side, and one of a bit `valid` for each way, which is all that a clear writes.
  * {{{
  *   clock 0  hash; the lookup is taken into the register in which it stands until clock 8
  *         1  the set, to a register
  *    2 .. 5  address way 0 .. 3
  *    3 .. 6  RAM's output: compare names, subtract ticks; from the flow's own entry on, nothing more is taken
  *    4 .. 7  compare the age; keep the best way as yet
  *         8  choose; place at the output, entry written
  * }}}
  * Who keeps something for each entry addresses it with `reading`, and a clock later takes it if `take`: what is taken last is that of the flow's
  * own entry, if it has one.
  */
class FlowTableInTurn(queueBits: Int, flows: Int) extends Module {
  FlowTable.requireLegal(flows)
  import FlowFormats.{AgeBits, FutureBits, TickBits}
  import FlowTable.{counted, settled, CountBits, Ways}
  import FlowTableInTurn.Latency
  private val sets = flows / Ways
  private val setBits = log2Ceil(sets)
  private val wayBits = log2Ceil(Ways)
  private val indexBits = log2Ceil(flows)

  val io = IO(new Bundle {
    val seed = Flipped(Valid(UInt(128.W)))
    val lookup = Flipped(Valid(new FlowLookup(queueBits)))
    val reading = Output(UInt(indexBits.W)) // clocks 2 to 5
    val take = Output(Bool()) // clocks 3 to 6
    val place = Valid(new FlowPlace(indexBits)) // clock 8
    val ready = Output(Bool())
  })

  private class Entry extends Bundle {
    val count = UInt(CountBits.W)
    val tick = UInt(TickBits.W)
    val key = new FlowKey(queueBits)
  }
  private val entries = SyncReadMem(flows, UInt((new Entry).getWidth.W))
  private val valids = SyncReadMem(sets, UInt(Ways.W))

  private val hash = Module(new FlowHashInTurn(queueBits, setBits))
  private val clearing = new FlowTable.Clearing(sets, hash, io.seed)
  io.ready := clearing.ready
  hash.io.flow := io.lookup.bits.key

  /** The clocks of a lookup, a bit each. */
  private val at = Seq.iterate(io.lookup.valid && clearing.ready, Latency + 1)(RegNext(_, false.B))
  private val lookup = RegEnable(io.lookup.bits, io.lookup.valid)
  private val set = RegEnable(hash.io.set, at(1))

  // ---- Clocks 2 to 5: address the ways ----------------------------------------------------------------------------
  private val way = Cat(at(4) || at(5), at(3) || at(5))
  io.reading := Cat(set, way)
  private val entry = entries.read(io.reading).asTypeOf(new Entry)
  private val valid = valids.read(set)

  // ---- Clocks 3 to 6: a way at the RAM's output; the flow's own ends it --------------------------------------------
  private class Seen extends Bundle {
    val valid = Bool()
    val way = UInt(wayBits.W)
    val count = UInt(CountBits.W)
    val age = UInt(TickBits.W)
  }
  private val own = Reg(Bool())
  private val seen = Reg(new Seen)
  private val readWay = Delay(way)
  io.take := (3 to 6).map(at(_)).reduce(_ || _) && !own
  when(io.take) {
    seen.valid := valid(readWay)
    seen.way := readWay
    seen.count := entry.count
    seen.age := lookup.tick - entry.tick
    own := valid(readWay) && same(entry.key.asUInt, lookup.key.asUInt)
  }
  when(at(2)) { own := false.B }

  // ---- Clocks 4 to 7: is it aged, is it half-open? Kept is the lowest aged way, or else the lowest half-open one --------
  private val legal = Mux(settled(seen.count), lookup.idleAge, lookup.halfOpenAge)
  private val over = (seen.age(AgeBits - 1, 0) +& ~legal)(AgeBits) || seen.age(TickBits - 1, AgeBits).orR
  private val isAged = seen.valid && over && !seen.age(TickBits - 1, FutureBits).andR // those lie ahead
  private val isHalfOpen = seen.valid && !settled(seen.count)
  private val aged = Reg(Bool())
  private val halfOpen = Reg(Bool())
  private val best = Reg(UInt(wayBits.W))
  when(!aged && (isAged || (isHalfOpen && !halfOpen))) { best := seen.way }
  aged := !at(3) && (aged || isAged)
  halfOpen := !at(3) && (halfOpen || isHalfOpen)

  // ---- Clock 8: choose and write ----------------------------------------------------------------------------------
  private val lastAged = Delay(isAged)
  private val free = !valid.andR
  private val chosen = Mux(own, seen.way, Mux(free, PriorityEncoder(~valid), best))
  private val writing = at(Latency) && io.place.bits.found
  io.place.valid := at(Latency)
  io.place.bits.found := own || free || aged || halfOpen
  io.place.bits.fresh := !own || lastAged
  io.place.bits.index := Cat(set, chosen)
  io.place.bits.collision := !own && !free
  io.place.bits.agedOut := Mux(own, lastAged, !free && aged)
  io.place.bits.displaced := !own && !free && !aged && halfOpen

  private val written = Wire(new Entry)
  written.count := Mux(own, counted(seen.count, lastAged, lookup.syn), !lookup.syn)
  written.tick := lookup.tick
  written.key := lookup.key
  when(writing) { entries.write(io.place.bits.index, written.asUInt) }
  when(clearing.on || writing) {
    valids.write(Mux(clearing.on, clearing.set, set), Mux(clearing.on, 0.U, valid | UIntToOH(chosen, Ways)))
  }
}
