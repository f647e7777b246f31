package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Leads the frames of one stream to one of several others. A frame goes where `wanted` says when its first beat is
  * offered, with all of its beats.
  *
  * A frame is not offered to an output before the output's `mayBegin`; once offered it does not turn away. `inEffect`
  * is the route of the frame under way, or that of the next one; `waits`: the route wanted is another, and the end of a
  * frame is waited for.
  *
  * Latency: none, wires only. Rate: a beat a clock. `wanted` must be less than `routes`.
  */
class FrameSwitch(beat: => AxisBeat, routes: Int) extends Module {
  require(routes >= 2, s"routes is $routes; legal are 2 and more")
  private val routeBits = log2Ceil(routes)
  val io = IO(new Bundle {
    val in = Flipped(Decoupled(beat))
    val wanted = Input(UInt(routeBits.W))
    val mayBegin = Input(Vec(routes, Bool()))
    val out = Vec(routes, Decoupled(beat))
    val first = Output(Bool()) // what is offered, or comes next, is a frame's first beat
    val begins = Output(Bool()) // it is taken
    val inEffect = Output(UInt(routeBits.W))
    val waits = Output(Bool())
  })
  private val offered = RegInit(false.B) // the frame on the input has been offered: its route stands
  private val inside = RegInit(false.B) // and its first beat has been taken
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
