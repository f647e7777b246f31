package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Routes the frames of one stream to one of several outputs.
  *
  * All beats of a frame go to the output that `wanted` selects when its first beat is offered.
  * A frame is not offered to an output before the output's `mayBegin`. Once offered, it keeps its route. `inEffect` is
  * the route of the frame in progress, or of the next frame. `waits` is high while `wanted` selects another route and
  * the switch waits for the end of a frame.
  *
  * Latency: none, wires only. Rate: one beat per cycle. `wanted` must be less than `routes`.
  */
class FrameSwitch(beat: => AxisBeat, routes: Int) extends Module {
  require(routes >= 2, s"routes is $routes; legal are 2 and more")
  private val routeBits = log2Ceil(routes)
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(beat))
    val wanted = Input(UInt(routeBits.W))
    val mayBegin = Input(Vec(routes, Bool()))
    val out = Vec(routes, Decoupled(beat))
    val first = Output(Bool()) // the beat offered, or the next one, is a frame's first
    val begins = Output(Bool()) // a frame's first beat is accepted
    val inEffect = Output(UInt(routeBits.W))
    val waits = Output(Bool())
  })
  private val offered = RegInit(false.B) // the frame at the input has been offered: its route is fixed
  private val inside = RegInit(false.B) // and its first beat has been accepted
  private val held = Reg(UInt(routeBits.W))
  private val route = Mux(offered, held, io.wanted)
  private val open = offered || io.mayBegin(route)

  for ((out, i) <- io.out.zipWithIndex) {
    out.valid := io.in.valid && open && route === i.U
    out.bits := io.in.bits
  }
  io.in.ready := open && VecInit(io.out.map(_.ready))(route)
  when(io.in.valid && open) { held := route }
  when(io.in.fire) { inside := !io.in.bits.last }
  when(io.in.valid && open) { offered := !(io.in.fire && io.in.bits.last) }
  io.first := !inside
  io.begins := io.in.fire && !inside
  io.inEffect := route
  io.waits := offered && held =/= io.wanted
}
