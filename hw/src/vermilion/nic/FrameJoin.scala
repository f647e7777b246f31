package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Joins streams into one by whole frames, round robin among those that offer one.
  *
  * An input that has been chosen keeps its turn to its frame's last beat, and from the clock on in which it was first offered to the output. Frames follow
  * each other without a gap, and no gap is made within one: what a frame's own stream has is all.
  *
  * Latency: none. Rate: a beat a clock.
  */
class FrameJoin(beat: => AxisBeat, inputs: Int) extends Module {
  require(inputs >= 2, s"inputs is $inputs; legal are 2 and more")
  private val bits = log2Ceil(inputs)
  val io = IO(new Bundle {
    val in = Vec(inputs, Flipped(Decoupled(beat)))
    val out = Decoupled(beat)
  })
  private val busy = RegInit(false.B)
  private val held = RegInit(0.U(bits.W)) // whose turn it is, or was last

  private val asks = VecInit(io.in.map(_.valid)).asUInt
  private val behind = VecInit(Seq.tabulate(inputs)(i => asks(i) && held < i.U)).asUInt
  private val next = PriorityEncoder(Mux(behind.orR, behind, asks))
  private val turn = Mux(busy, held, next)

  io.out.valid := Mux(busy, asks(held), asks.orR)
  io.out.bits := VecInit(io.in.map(_.bits))(turn)
  for ((in, i) <- io.in.zipWithIndex) in.ready := io.out.ready && turn === i.U && (busy || asks.orR)
  when(io.out.valid) {
    held := turn
    busy := !(io.out.ready && io.out.bits.last)
  }
}
