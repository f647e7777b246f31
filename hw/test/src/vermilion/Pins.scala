package vermilion

import chisel3._
import chisel3.simulator.PeekPokeAPI._
import scala.collection.mutable

/** Drives input ports of a simulation, and sends it only what differs from what the port holds: a message to the simulation takes longer than
  * its clock. For ports that nobody else pokes.
  */
class Pins {
  private val held = mutable.HashMap.empty[Data, BigInt]

  def set(pin: UInt, value: BigInt): Unit =
    if (!held.get(pin).contains(value)) {
      pin.poke(value.U(pin.getWidth.W))
      held(pin) = value
    }

  def set(pin: Bool, value: Boolean): Unit =
    if (!held.get(pin).contains(BigInt(if (value) 1 else 0))) {
      pin.poke(value.B)
      held(pin) = if (value) 1 else 0
    }
}
