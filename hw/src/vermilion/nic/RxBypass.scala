package vermilion.nic

import chisel3._
import chisel3.util._
import vermilion.stream.AxisBeat

/** From a stream that cannot be stalled to one that can: frames wait in a store, and where that is full they are lost
  * in a way that the reader can see.
  *
  * A frame whose first beat finds no place is left out whole, and counted by `lost`. One that is under way when the
  * store fills up is ended there: one beat with `last` and `bad` goes into the place that was kept for it, the rest is
  * left out, and `cut` counts it. A place is kept from a frame's first beat to its end, so a frame that has begun
  * always ends. A frame whose own last beat finds just that place is whole.
  *
  * Latency: one clock. Rate: a beat a clock. `lost` and `cut` rise in the clock of the beat that found no place.
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
