package vermilion.flow

import chisel3._
import chisel3.util._
import vermilion.fixed.Arithmetic.{saturate, wrap}
import vermilion.fixed.Delay
import vermilion.stream.Colour

object FlowMarkerInTurn {

  /** Clocks from request to answer. */
  val Latency = 9
}

/** [[FlowMarker]] for requests at least 8 clocks apart: the same answers. A request's bits are taken in its clock; an answer stands from `valid` to
  * the next.
  *
  * The products of [[FlowLoop]] are made by multipliers, a clock each:
  * {{{
  *   is L > A_Y?   (8-n) L > floor(average / 32), or 8 L where the state is not raised
  *   loss          floor((k average + 256 n L) / 8)            k = 8-n, or 8 where the state is raised
  *   increase      floor(m average / 64) + carry               m / 64 = 1, or FlowLoop's factor x where the state is raised
  *                 floor((128 average + 2^15) / 64)            2 (A + 1)
  * }}}
  * FlowLoop floors each term of a grown average by itself and adds one: where the fractions of two terms come to one or more, the product's
  * floor has that one already.
  * {{{
  *   0 .. 8  the table looks at the ways; 2 .. 5  address the states of each, 3 .. 6  RAM's output: of the flow's own it is kept
  *   7  products, distance's sign     8  colour, all of the state but the average     9  answer; average; states written
  * }}}
  */
class FlowMarkerInTurn(queueBits: Int, flows: Int = 4096) extends FlowMarking(queueBits) {
  import FlowFormats._
  import FlowMarkerInTurn.Latency

  private val at = Seq.iterate(io.request.valid, Latency + 1)(RegNext(_, false.B))
  assert(!io.request.valid || !VecInit(at.slice(1, 8)).asUInt.orR, "a request within eight clocks of another")
  private val asked = FlowPacket(io.request.bits)
  private val packet = RegEnable(asked, io.request.valid) // stands in clocks 1 to 8
  private val config = packet.config
  private val red = config.redRules
  private val green = config.greenRules
  private val n = FlowLoop.eighths(config)

  private val table = Module(new FlowTableInTurn(queueBits, flows))
  table.io.seed := io.seed
  table.io.lookup.valid := io.request.valid && asked.uses
  table.io.lookup.bits := FlowLookup(queueBits, io.request.bits)
  io.ready := table.io.ready

  // ---- Clocks 2 to 6: the states of the ways ------------------------------------------------------------------------
  /** What of a state is written with each packet that has it. */
  private class Rest extends Bundle {
    val raised = Bool()
    val burst = UInt(BurstBits.W)
    val credits = UInt(CreditBits.W)
  }
  private val averages = SyncReadMem(flows, UInt(AverageBits.W))
  private val sequences = SyncReadMem(flows, UInt(32.W))
  private val rests = SyncReadMem(flows, UInt((new Rest).getWidth.W))
  private val highestRead = sequences.read(table.io.reading)
  private val restRead = rests.read(table.io.reading).asTypeOf(new Rest)
  private def taken[T <: Data](x: T): T = RegEnable(x, table.io.take)
  private val average = taken(averages.read(table.io.reading))
  private val highest = taken(highestRead)
  private val rest = taken(restRead)
  private val burst = taken(
    wrap(restRead.burst + (red && !restRead.burst.andR), BurstBits)
  ) // with this packet, if it counts
  private val distance = taken(packet.seq - highestRead)
  private val keep = taken(Mux(restRead.raised, 8.U(4.W), 8.U - n))
  private val compared = taken(Mux(restRead.raised, Cat(!n(3), n(2, 0)), 8.U(4.W)).asSInt) // n - 8 or -8

  // ---- Clock 7: products, of the last that was taken -------------------------------------------------------------------
  private val jump = Delay(distance(31) ^ distance(30))
  private val loss = Delay(distance(31) || !distance.orR)
  private val room = Delay(burst.zext * compared + (average >> (AverageFrac - 3)).zext) // is it below 0?
  private val kept = Delay(keep * average)
  private val factor = Delay(
    MuxCase(
      VecInit(Seq(64, 73, 84, 104, 128, 168, 256, 512, 512).map(_.U(10.W)))(n),
      Seq(!config.increaseByFactor -> 128.U, !rest.raised -> 64.U)
    )
  )
  private def fractions(high: Int, low: Int): Bool = // of average >> high and average >> low: do they come to one?
    (average(high - 1, 0) +& (average(low - 1, 0) << (high - low)))(high)
  private val whole = MuxLookup(n, false.B)(
    Seq(1.U -> fractions(6, 3), 2.U -> fractions(4, 2), 3.U -> fractions(3, 1), 5.U -> fractions(3, 1))
  )
  private val one = Delay(config.increaseByFactor && rest.raised && !whole)
  private val two = Delay(!config.increaseByFactor)

  // ---- Clock 8: the colour ------------------------------------------------------------------------------------------
  private val place = table.io.place
  private val has = place.valid && place.bits.found
  private val initial = config.initialAverage
  private val doubled = Cat(1.U(1.W), initial(AverageFrac - 1, 0), 0.U(1.W)) // where it is less than 1
  private val grown = Cat(
    initial(AverageBits - 1, AverageFrac + 2),
    Mux(config.increaseByFactor, initial(AverageFrac + 1, 0), doubled)
  )
  private val begun = FlowBegun(packet, grown)
  private val begin = place.bits.fresh || packet.syn || jump
  private val probe = red && room < 0.S
  private val credit = green && rest.credits =/= 0.U

  private val colour = WireDefault(Colour.Yellow.U(2.W))
  private val after = WireDefault(rest)
  when(begin) {
    after.raised := begun.state.raised
    after.burst := begun.state.burst
    after.credits := begun.state.credits
    when(begun.probe) { colour := Colour.Red.U }.elsewhen(begun.green) { colour := Colour.Green.U }
  }.elsewhen(loss) {
    when(green) {
      after.credits := config.recoveryCredits
      colour := Colour.Green.U
    }
    when(red) {
      after.raised := false.B
      after.burst := 0.U
    }
  }.elsewhen(probe) {
    after.raised := config.increaseByFactor
    after.burst := 0.U
    colour := Colour.Red.U
  }.otherwise {
    after.burst := burst
    when(credit) {
      after.credits := rest.credits - 1.U
      colour := Colour.Green.U
    }
  }
  private val newer = begin || !loss
  when(has && newer) { sequences.write(place.bits.index, packet.seq) }

  private val lowered = Delay(n * rest.burst + (kept >> AverageFrac))
  private val loweredLow = Delay(kept(AverageFrac - 1, 0))
  private val risen = Delay(factor * average + Cat(two, 0.U(8.W), one, 0.U(6.W)))

  // ---- Clock 9: the average, write and answer ----------------------------------------------------------------------
  private val isLoss = Delay(!begin && loss)
  private val isBegun = Delay(begin)
  private val changed = RegNext(has && (begin || (red && (loss || probe))), false.B)
  private val writes = RegNext(has, false.B)
  private val index = Delay(place.bits.index)
  private val now = Mux(
    isBegun,
    Delay(begun.state.average),
    Mux(isLoss, saturate(Cat(lowered, loweredLow) >> 3, AverageBits), saturate(risen >> 6, AverageBits))
  )
  when(changed) { averages.write(index, now) }
  private val held = Reg(new FlowAnswer)
  private val afterwards = Reg(new Rest)
  when(writes) { rests.write(index, afterwards.asUInt) }
  when(at(8)) {
    afterwards := after
    held.colour := Mux(has, colour, Mux(packet.bare, Colour.Green.U, Colour.Yellow.U))
    held.hasState := has
    held.events := FlowEvents(at(8), packet, place, jump, loss, colour)
    held.state.raised := has && after.raised
    held.state.burst := Mux(has, after.burst, 0.U)
    held.state.credits := Mux(has, after.credits, 0.U)
    held.state.highestSeq := Mux(has, Mux(newer, packet.seq, highest), 0.U)
    held.state.average := Mux(has, average, 0.U)
  }
  when(changed) { held.state.average := now }
  io.answer.valid := at(Latency)
  io.answer.bits := held
  when(changed) { io.answer.bits.state.average := now }
}
