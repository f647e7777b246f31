package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Formats._
import vermilion.queue.ForwardingRam

/** Rate and burst of one shaped thing. `costMant` 0 means not shaped. */
class ShaperConfig extends Bundle {
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
  val burstNs = UInt(40.W)
}

object Shaper {

  /** Bits of the virtual clock, U48.16 ns: as wide as `now`, so that a long silence cannot make an old value look like the future. */
  val ClockBits = TimeBits + ShaperFrac

  /** Bits of one packet's cost, U40.16 ns. */
  val CostBits = 40 + ShaperFrac
}

/** Shapes `entries` queues, or with one entry a port, by virtual time.
  *
  * A byte costs costMant 2^-costShift ns. Something may send when now >= next; having sent L bytes,
  * {{{
  *   next = max(next, now - burstNs) + cost,   cost = (L costMant 2^16) >> costShift, U40.16 ns, rounded down, saturating
  * }}}
  * and now - burstNs is 0 where it would be negative. 64 kb/s is 125000 ns a byte, (m, s) = (125000, 0);
  * 200 Gb/s is 0.04 ns, (167772, 22). Above 2^17 a mantissa is within 2^-18 of any rate; rounding takes at most 2^-16 ns a packet.
  *
  * `blocked` is pessimistic: it rises at once with a charge to a shaped entry and falls only when a stage has seen now >= next.
  * So nothing is sent too early; a sender waits 5 clocks (`settling`) for the answer to its own charge. Who stays blocked is
  * looked at in turn by a scan, one entry a clock, that jumps over entries not blocked or without a packet (`interesting`). An entry is thus
  * released at most `entries` + 4 clocks late, which costs no rate when burstNs is longer than that.
  *
  * `earliest` is the least next of the blocked and interesting entries, in whole ns rounded up. It is valid once a whole scan
  * has passed with nothing changed.
  *
  * RAMs: `config`, entries x 64 b, 1W (configure) 1R (charge); `clock`, entries x 64 b, 1W (charge), 2R by two copies (charge, scan).
  * No arbitration. Bits `shaped` and `stamped` (has been charged since configured) spare the RAMs their initialisation.
  * A configure starts the entry afresh with its full burst. A charge in flight at that moment may or may not survive.
  */
class Shaper(val entries: Int) extends Module {
  import Shaper._
  private val bits = log2Ceil(entries).max(1)
  private val depth = entries.max(2)

  val io = IO(new Bundle {
    val now = Input(UInt(TimeBits.W))
    val configure = Flipped(Valid(new Bundle {
      val entry = UInt(bits.W)
      val config = new ShaperConfig
    }))
    val charge = Flipped(Valid(new Bundle {
      val entry = UInt(bits.W)
      val lenBytes = UInt(PktLenBits.W)
    }))
    val interesting = Input(UInt(entries.W))
    val blocked = Output(UInt(entries.W))
    val settling = Output(Bool())
    val earliest = Valid(UInt(TimeBits.W))
  })

  private val shaped = RegInit(VecInit.fill(depth)(false.B))
  private val stamped = RegInit(VecInit.fill(depth)(false.B))
  private val blocked = RegInit(VecInit.fill(depth)(false.B))
  io.blocked := blocked.asUInt(entries - 1, 0)
  private def reached(next: UInt) = io.now >= next(ClockBits - 1, ShaperFrac) + next(ShaperFrac - 1, 0).orR

  // ---- charge: s0 look up, s1 operands, s2 multiply, s3 shift, s4 add, s5 compare
  private val config = SyncReadMem(depth, new ShaperConfig)
  when(io.configure.valid) { config.write(io.configure.bits.entry, io.configure.bits.config) }
  private val chargeClock = Module(new ForwardingRam(UInt(ClockBits.W), depth))
  private val scanClock = Module(new ForwardingRam(UInt(ClockBits.W), depth))

  private val s0Entry = io.charge.bits.entry
  private val s0Valid = io.charge.valid && shaped(s0Entry)
  private val s1Config = config.read(s0Entry, s0Valid)
  chargeClock.io.readEnable := s0Valid
  chargeClock.io.readAddress := s0Entry

  private val s0Replaced = io.configure.valid && io.configure.bits.entry === s0Entry // its record is being written
  private val s1Valid = RegNext(s0Valid && !s0Replaced, false.B)
  private val s1Entry = RegNext(s0Entry)
  private val s1Len = RegNext(io.charge.bits.lenBytes)
  private val s1Stamped = RegNext(stamped(s0Entry))

  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2Entry = RegNext(s1Entry)
  private val s2Len = RegNext(s1Len)
  private val s2Config = RegNext(s1Config)
  private val s2Clock = RegNext(Mux(s1Stamped, chargeClock.io.readData, 0.U))

  private val s3Valid = RegNext(s2Valid, false.B)
  private val s3Entry = RegNext(s2Entry)
  private val s3Product = RegNext(s2Len * s2Config.costMant)
  private val s3Shift = RegNext(s2Config.costShift)
  private val s2Late = io.now < s2Config.burstNs
  private val s3Floor = RegNext(Mux(s2Late, 0.U, io.now - s2Config.burstNs) << ShaperFrac)
  private val s3Clock = RegNext(s2Clock)

  private val s4Valid = RegNext(s3Valid, false.B)
  private val s4Entry = RegNext(s3Entry)
  private val s4Cost = RegNext(((s3Product << ShaperFrac) >> s3Shift).asUInt) // 50 bits, so U40.16 holds every cost
  require(PktLenBits + CostMantBits + ShaperFrac <= CostBits)
  private val s4Base = RegNext(Mux(s3Clock > s3Floor, s3Clock, s3Floor))

  private val s5Valid = RegNext(s4Valid, false.B)
  private val s5Entry = RegNext(s4Entry)
  private val s4Sum = s4Base +& s4Cost
  private val s4Next = Mux(s4Sum(ClockBits), Fill(ClockBits, 1.U(1.W)), s4Sum(ClockBits - 1, 0))
  private val s5Next = RegNext(s4Next)
  for (ram <- Seq(chargeClock, scanClock)) {
    ram.io.write := s4Valid
    ram.io.writeAddress := s4Entry
    ram.io.writeData := s4Next
  }
  io.settling := s1Valid || s2Valid || s3Valid || s4Valid || s5Valid
  private def inFlight(entry: UInt) = Seq(
    s0Valid -> s0Entry,
    s1Valid -> s1Entry,
    s2Valid -> s2Entry,
    s3Valid -> s3Entry,
    s4Valid -> s4Entry,
    s5Valid -> s5Entry
  ).map { case (valid, other) => valid && other === entry }.reduce(_ || _)

  // ---- scan: p0 choose, p1 read, p2 compare
  private val last = RegInit((depth - 1).U(bits.W))
  private val candidates = io.blocked & io.interesting
  private val p0 = Wire(Valid(UInt(bits.W)))
  private val (p0Index, p0Wrapped) = RoundRobinPick(candidates, last)
  p0.valid := candidates.orR
  p0.bits := p0Index
  when(p0.valid) { last := p0Index }
  private val p1 = RegNext(p0)
  private val p1Wrapped = RegNext(p0Wrapped)
  scanClock.io.readEnable := true.B
  scanClock.io.readAddress := p1.bits
  private val p2Entry = RegNext(p1.bits)
  private val p2Valid = RegNext(p1.valid, false.B) && blocked(p2Entry) && !inFlight(p2Entry)
  private val p2Wrapped = RegNext(p1.valid && p1Wrapped, false.B)
  private val p2Next = scanClock.io.readData
  private val p2Release = p2Valid && reached(p2Next)

  // ---- the bits; a configure wins over a charge, a charge over a release
  private val s5Release = s5Valid && reached(s5Next)
  when(p2Release) { blocked(p2Entry) := false.B }
  when(s5Release) { blocked(s5Entry) := false.B }
  when(s0Valid) { blocked(s0Entry) := true.B }
  when(s4Valid) { stamped(s4Entry) := true.B }
  when(io.configure.valid) {
    blocked(io.configure.bits.entry) := false.B
    stamped(io.configure.bits.entry) := false.B
    shaped(io.configure.bits.entry) := io.configure.bits.config.costMant =/= 0.U
  }

  // ---- the earliest of all that wait: least over one undisturbed scan
  private val never = Fill(ClockBits, 1.U(1.W))
  private val least = RegInit(never)
  private val whole = RegInit(false.B) // this scan began with a wrap and nothing has changed since
  private val result = RegInit(0.U(ClockBits.W))
  private val resultValid = RegInit(false.B)
  private val disturbed =
    p2Release || s0Valid || io.settling || io.configure.valid || RegNext(io.interesting) =/= io.interesting
  private val p2Least = Mux(p2Valid, p2Next, never)
  when(p2Wrapped) {
    least := p2Least
    whole := true.B
    when(whole) {
      result := least
      resultValid := true.B
    }
  }.elsewhen(p2Valid && p2Next < least) { least := p2Next }
  // What p0 and p1 chose before a disturbance may still come; a wrap chosen after it starts anew.
  when(disturbed || RegNext(disturbed, false.B) || RegNext(RegNext(disturbed, false.B), false.B)) {
    whole := false.B
    resultValid := false.B
  }
  io.earliest.valid := resultValid && candidates.orR
  private val up = result(ClockBits - 1, ShaperFrac) +& result(ShaperFrac - 1, 0).orR
  io.earliest.bits := up(TimeBits - 1, 0)

  assert((s0Entry < entries.U((bits + 1).W)) || !io.charge.valid, "no such shaper entry")
}
