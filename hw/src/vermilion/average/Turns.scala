package vermilion.average

import chisel3._
import chisel3.util.{Cat, Mux1H, RegEnable}

/** The clocks of a request that comes at times: a pulse goes down a chain, and is where the request is. */
class Turns(start: Bool, last: Int) {
  private val pulses = Seq.iterate(start, last + 1)(RegNext(_, false.B))

  /** Is this clock `clock` of a request? */
  def apply(clock: Int): Bool = pulses(clock)

  /** Is it one of these? */
  def within(first: Int, last: Int): Bool = (first to last).map(pulses(_)).reduce(_ || _)

  /** `x` as it was in that clock of the newest request, from the clock behind it on. */
  def held[T <: Data](clock: Int, x: T): T = RegEnable(x, pulses(clock))

  /** The first in clock `first`, the second in the next, and so on; means nothing in other clocks. */
  def each[T <: Data](first: Int, of: Seq[T]): T = Mux1H(of.zipWithIndex.map { case (x, i) => pulses(first + i) -> x })

  /** Which of them it is, from 0, in two bits. */
  def index(first: Int): UInt = Cat(pulses(first + 2), pulses(first + 1))
}
