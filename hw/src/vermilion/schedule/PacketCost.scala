package vermilion.schedule

import chisel3._
import chisel3.util._
import vermilion.fixed.Delay
import vermilion.fixed.Formats._

/** A packet and a rate, as [[DueTime]] has them. */
class CostRequest extends Bundle {
  val lenBytes = UInt(PktLenBits.W)
  val costMant = UInt(CostMantBits.W)
  val costShift = UInt(ShiftBits.W)
}

/** What a packet costs, a clock behind the request; `cost` in U34.16 ns. */
class CostAnswer extends Bundle {
  val cost = UInt(DueTime.CostBits.W)
  val magnitude = new CostMagnitude
  val ofQueue = Bool() // whose answer it is
}

/** One multiplier and one shifter for the charges of the port and of the queues.
  *
  * A queue that asks goes first, the port's request of that clock has no answer. Of a charged packet the port asks in the clock behind its
  * grant, its queue, if shaped, a clock later; and for some clocks behind that grant there is no other. So charges never meet; what the port asks when it is
  * configured may meet a charge, and is asked twice.
  */
class PacketCost extends Module {
  val io = IO(new Bundle {
    val queue = Flipped(Valid(new CostRequest))
    val port = Input(new CostRequest)
    val answer = Output(new CostAnswer)
  })

  private val asked = Mux(io.queue.valid, io.queue.bits.asUInt, io.port.asUInt).asTypeOf(new CostRequest)
  private val product = Delay(asked.lenBytes * asked.costMant)
  private val shift = Delay(asked.costShift)
  io.answer.cost := ((product << ShaperFrac) >> shift).asUInt(DueTime.CostBits - 1, 0)
  io.answer.magnitude := CostMagnitude(product)
  io.answer.ofQueue := Delay(io.queue.valid)
}
