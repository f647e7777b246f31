package vermilion.nic

import chisel3._
import chisel3.util._

/** Sends the counters of all egresses to the NIC's statistics stream.
  *
  * A way is an egress of a lane. The id is `base` + 16 way + counter, modulo 2^12.
  *
  * Counters of a way, by `LaneStatistics`: 0 to 7 packets by verdict, 8 evicted, 9 lost, 10 sent packets, 11 sent
  * bytes, 12 dropped bytes, 13 CE written, 14 completions of the app block, 15 PTP event frames. The arbiter serves
  * the ways round-robin. While `enable` is 0, nothing is counted, but earlier counts are still sent.
  *
  * Nothing is lost if the stream accepts a beat occasionally: totals hold up to 2^48 - 1. A stalled beat does not
  * change.
  */
class StatPort(ways: Int) extends Module {
  require(
    ways >= 1 && ways * NicParams.StatIds <= (1 << NicParams.StatIdBits),
    s"ways is $ways; legal are 1 to ${(1 << NicParams.StatIdBits) / NicParams.StatIds}"
  )
  val io = IO(new Bundle {
    val events = Input(Vec(ways, new LaneEvents))
    val enable = Input(Bool())
    val base = Input(UInt(NicParams.StatIdBits.W))
    val out = Decoupled(new StatBeat)
  })
  private val each = Seq.fill(ways)(Module(new LaneStatistics))
  private val arbiter = Module(new RRArbiter(new LaneIncrement, ways))
  for (((way, events), request) <- each.zip(io.events).zip(arbiter.io.in)) {
    way.io.events := Mux(io.enable, events, 0.U.asTypeOf(new LaneEvents))
    request <> way.io.out
  }
  private val next = Wire(Decoupled(new StatBeat))
  next.valid := arbiter.io.out.valid
  next.bits.data := arbiter.io.out.bits.data
  next.bits.id := io.base + Cat(arbiter.io.chosen, arbiter.io.out.bits.index)
  arbiter.io.out.ready := next.ready
  io.out <> Queue(next, 2)
}
