package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.{Arithmetic, Delay, ForwardingRam}
import vermilion.fixed.Formats._

/** Rate and burst of one shaped thing. `costMant` 0 means not shaped. */
class ShaperConfig extends Bundle {
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
  val burstNs = UInt(40.W)
}

object Shaper {

  /** Bits of the virtual clock, U48.16 ns: a wrap apart, as wide as `now`. */
  val ClockBits = TimeBits + ShaperFrac

  /** Bits of one packet's cost, U34.16 ns: 17 s. */
  val CostBits = PktLenBits + CostMantBits + ShaperFrac

  /** Most clocks between the time an entry is due and its charge, if nobody else is served in between: the scan of all entries, and a grant
    * with room to spare. A burst of at least so long costs no rate.
    */
  def latenessClocks(entries: Int): Int = entries + 64
}

/** Shapes `entries` queues, or with one entry a port, by virtual time.
  *
  * A byte costs costMant 2^-costShift ns. Something may send when now is at or behind `next`; having sent L bytes,
  * {{{
  *   next = base + cost,   base = next, but not before now - burstNs and not behind now,
  *   cost = (L costMant 2^16) >> costShift, U34.16 ns, rounded down
  * }}}
  * 64 kb/s is 125000 ns a byte, (m, s) = (125000, 0); 200 Gb/s is 0.04 ns, (167772, 22). Above 2^17 a mantissa is within 2^-18 of any
  * rate; rounding takes at most 2^-16 ns a packet. A burstNs shorter than the sender is late (`latenessClocks`) costs rate, so the
  * quantiser writes none.
  *
  * Time is compared in serial-number order, so that it may wrap. A debt, `next` ahead of now, is never longer than the cost of the packet
  * that made it; one of more bits than that cost (`debtBits`) says that the clock was set back, and counts as paid. So a clock set back,
  * however far, blocks nobody for longer than twice the cost of the packet last sent, and lets at most that packet's cost be forgotten.
  * An entry that has not been charged for more than 39 hours, half the range, starts from now and not from now - burstNs.
  *
  * `blocked` is pessimistic: it rises at once with a charge to a shaped entry and falls only when a stage has seen its debt paid.
  * So nothing is sent too early; a sender waits 5 clocks (`settling`) for the answer to its own charge. Who stays blocked is
  * looked at in turn by a scan, one entry a clock, that jumps over entries not blocked or without a packet (`interesting`). An entry is thus
  * released at most `entries` + 4 clocks late.
  *
  * `earliest` is the least next of the blocked and interesting entries, in whole ns rounded up. It is valid once a whole scan
  * has passed with nothing changed.
  *
  * RAMs: `config`, entries x 64 b, 1W (configure) 1R (charge); `due`, entries x 70 b, 1W (charge), 2R by two copies (charge, scan).
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
  private val nowClock = io.now ## 0.U(ShaperFrac.W)

  /** What a charge leaves behind. */
  private class Due extends Bundle {
    val next = UInt(ClockBits.W)
    val debtBits = UInt(log2Ceil(CostBits + 1).W) // bits of the cost that made it
  }
  private def paid(due: Due): Bool = {
    val ahead = due.next - nowClock
    ahead === 0.U || (ahead >> due.debtBits).orR
  }

  // ---- charge: s0 look up, s1 operands, s2 multiply, s3 shift, s4 add, s5 compare
  private val config = SyncReadMem(depth, new ShaperConfig)
  when(io.configure.valid) { config.write(io.configure.bits.entry, io.configure.bits.config) }
  private val due = new ForwardingRam(depth, new Due)

  private val s0Entry = io.charge.bits.entry
  private val s0Valid = io.charge.valid && shaped(s0Entry)
  private val s1Config = config.read(s0Entry, s0Valid)
  private val s1Next = due.read(s0Entry).next

  private val s0Replaced = io.configure.valid && io.configure.bits.entry === s0Entry // its record is being written
  private val s1Valid = RegNext(s0Valid && !s0Replaced, false.B)
  private val s1Entry = RegNext(s0Entry)
  private val s1Len = Delay(io.charge.bits.lenBytes)
  private val s1Stamped = RegNext(stamped(s0Entry))

  private val s2Valid = RegNext(s1Valid, false.B)
  private val s2Entry = RegNext(s1Entry)
  private val s2Len = Delay(s1Len)
  private val s2Config = RegNext(s1Config)
  private val s2Next = Delay(s1Next)
  private val s2Stamped = RegNext(s1Stamped)
  private val s2Burst = s2Config.burstNs ## 0.U(ShaperFrac.W)

  private val s3Valid = RegNext(s2Valid, false.B)
  private val s3Entry = RegNext(s2Entry)
  private val s3Product = Delay(s2Len * s2Config.costMant)
  private val s3Shift = RegNext(s2Config.costShift)
  private val s3Now = Delay(nowClock)
  private val s3Floor = Delay(nowClock - s2Burst)
  private val s3Burst = Delay(s2Burst)
  private val s3Next = Delay(s2Next)
  private val s3Stamped = RegNext(s2Stamped)
  private val s3Age = Delay(nowClock - s2Next) // its top bit says that next is ahead

  private val s4Valid = RegNext(s3Valid, false.B)
  private val s4Entry = RegNext(s3Entry)
  private val s4Cost = Delay(((s3Product << ShaperFrac) >> s3Shift).asUInt)
  require(s4Cost.getWidth == CostBits)
  private val s3Ahead = s3Age(ClockBits - 1)
  private val s4Base =
    Delay(Mux(!s3Stamped || (!s3Ahead && s3Age > s3Burst), s3Floor, Mux(s3Ahead, s3Now, s3Next)))

  private val s5Valid = RegNext(s4Valid, false.B)
  private val s5Entry = RegNext(s4Entry)
  private val s4Due = Wire(new Due)
  s4Due.next := Arithmetic.wrap(s4Base + s4Cost, ClockBits)
  s4Due.debtBits := Mux(s4Cost.orR, Log2(s4Cost) + 1.U, 0.U)
  private val s5Due = RegNext(s4Due)
  due.write(s4Valid, s4Entry, s4Due)
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
  private val p2Entry = RegNext(p1.bits)
  private val p2Valid = RegNext(p1.valid, false.B) && blocked(p2Entry) && !inFlight(p2Entry)
  private val p2Wrapped = RegNext(p1.valid && p1Wrapped, false.B)
  private val p2Due = due.read(p1.bits)
  private val p2Release = p2Valid && paid(p2Due)

  // ---- the bits; a configure wins over a charge, a charge over a release
  private val s5Release = s5Valid && paid(s5Due)
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
  private val least = RegInit(0.U.asTypeOf(Valid(UInt(ClockBits.W))))
  private val whole = RegInit(false.B) // this scan began with a wrap and nothing has changed since
  private val result = RegInit(0.U(ClockBits.W))
  private val resultValid = RegInit(false.B)
  private val disturbed =
    p2Release || s0Valid || io.settling || io.configure.valid || RegNext(io.interesting) =/= io.interesting
  when(p2Wrapped) {
    least.valid := p2Valid
    least.bits := p2Due.next
    whole := true.B
    when(whole) {
      result := least.bits
      resultValid := least.valid
    }
  }.elsewhen(p2Valid && !(least.valid && Arithmetic.reached(p2Due.next, least.bits))) {
    least.valid := true.B
    least.bits := p2Due.next
  }
  // What p0 and p1 chose before a disturbance may still come; a wrap chosen after it starts anew.
  when(disturbed || RegNext(disturbed, false.B) || RegNext(RegNext(disturbed, false.B), false.B)) {
    whole := false.B
    resultValid := false.B
  }
  io.earliest.valid := resultValid && candidates.orR && RegNext(io.interesting) === io.interesting
  io.earliest.bits := result(ClockBits - 1, ShaperFrac) + result(ShaperFrac - 1, 0).orR

  assert((s0Entry < entries.U((bits + 1).W)) || !io.charge.valid, "no such shaper entry")
}
