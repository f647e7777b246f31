package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** Connects a stream that cannot be stalled to one that can, through a store. It reports each frame that finds no room.
  *
  * If the first beat of a frame finds no place, the module drops the whole frame and pulses `lost`. If the store becomes
  * full within a frame, the module ends the frame: it writes one beat with `last` and `bad` into a reserved place, drops
  * the rest and pulses `cut`. One place is reserved from a frame's first beat to its end, so a frame that has begun
  * always ends. If the frame's own last beat takes the reserved place, the frame is complete.
  *
  * Latency: one cycle. Rate: one beat per cycle. `lost` and `cut` are high in the cycle of the beat that finds no place.
  *
  * @param beats places of the store, 4 and more
  */
class RxBypass(beat: => AxisBeat, beats: Int) extends Module {
  require(beats >= 4, s"beats is $beats; legal are 4 and more")
  val io = IO(new Bundle {
    val in = Flipped(Valid(beat))
    val out = Decoupled(beat)
    val lost = Output(Bool())
    val cut = Output(Bool())
  })
  private val store = Module(new Queue(beat, beats, useSyncReadMem = true))
  private val count = store.io.count
  private val room = count < (beats - 1).U || (io.in.bits.last && count < beats.U)

  private val inside = RegInit(false.B) // between a frame's first and last beat
  private val leavesOut = Reg(Bool()) // the rest of the frame
  private val first = io.in.valid && !inside
  private val takes = io.in.valid && (first || !leavesOut)

  store.io.enq.valid := takes && (room || inside)
  store.io.enq.bits := io.in.bits
  when(!room) {
    store.io.enq.bits.last := true.B
    store.io.enq.bits.bad := true.B
  }
  io.lost := first && !room
  io.cut := takes && inside && !room
  when(io.in.valid) {
    inside := !io.in.bits.last
    leavesOut := !(takes && room)
  }
  io.out <> store.io.deq
  assert(!store.io.enq.valid || store.io.enq.ready, "a frame's end found no place")
}
