package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Merges streams into one by whole frames, round-robin among the inputs that offer a frame.
  *
  * With `inOrder`, each input has priority over those after it: input 0 can be a stream that cannot wait long, the last one a stream that may wait for ever.
  * An input keeps its grant from the cycle in which its frame is first offered to the output to the frame's last beat.
  * Frames follow each other without a gap. Within a frame the module adds no gap to those of the input.
  *
  * Latency: none. Rate: one beat per cycle.
  */
class FrameJoin(beat: => AxisBeat, inputs: Int, inOrder: Boolean = false) extends Module {
  require(inputs >= 2, s"inputs is $inputs; legal are 2 and more")
  private val bits = log2Ceil(inputs)
  val io = IO(new Bundle {
    val in = Vec(inputs, Flipped(Decoupled(beat)))
    val out = Decoupled(beat)
  })
  private val busy = RegInit(false.B)
  private val held = RegInit(0.U(bits.W)) // the input that has the grant, or had it last

  private val asks = VecInit(io.in.map(_.valid)).asUInt
  private val higher = VecInit(Seq.tabulate(inputs)(i => asks(i) && held < i.U)).asUInt
  private val next = PriorityEncoder(if (inOrder) asks else Mux(higher.orR, higher, asks))
  private val granted = Mux(busy, held, next)

  io.out.valid := Mux(busy, asks(held), asks.orR)
  io.out.bits := VecInit(io.in.map(_.bits))(granted)
  for ((in, i) <- io.in.zipWithIndex) in.ready := io.out.ready && granted === i.U && (busy || asks.orR)
  when(io.out.valid) {
    held := granted
    busy := !(io.out.ready && io.out.bits.last)
  }
}
