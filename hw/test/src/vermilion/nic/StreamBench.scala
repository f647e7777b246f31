package vermilion.nic

import chisel3._
import chisel3.simulator.PeekPokeAPI
import chisel3.util.{DecoupledIO, ReadyValidIO}
import scala.collection.mutable
import scala.util.Random
import vermilion.stream.AxisBeat

/** A beat that names itself: its frame, its place in it, and whether it is the last. */
case class NamedBeat(frame: Int, place: Int, last: Boolean, bad: Boolean = false, user: Int = 0) {
  def data: BigInt = (BigInt(frame) << 16) + place
}

object NamedBeat {

  /** A frame's beats; all carry `user`. */
  def frame(number: Int, beats: Int, user: Int = 0): Seq[NamedBeat] =
    Seq.tabulate(beats)(i => NamedBeat(number, i, i == beats - 1, user = user))
}

/** Pokes and peeks of the beats of one stream, 64 bits and 16 bits of user. */
object StreamBench extends PeekPokeAPI {
  def beat: AxisBeat = new AxisBeat(64, NicParams.TagBits)

  def reset(clock: Clock, reset: Reset): Unit = {
    reset.asInstanceOf[Bool].poke(true.B)
    clock.step(2)
    reset.asInstanceOf[Bool].poke(false.B)
  }
  def poke(port: AxisBeat, beat: NamedBeat): Unit = {
    port.data.poke(beat.data.U)
    port.keep.poke(if (beat.last) 15.U else 255.U)
    port.last.poke(beat.last.B)
    port.bad.poke(beat.bad.B)
    port.user.poke(beat.user.U)
  }
  def peek(port: AxisBeat): NamedBeat = {
    val data = port.data.peek().litValue
    NamedBeat(
      (data >> 16).toInt,
      (data & 0xffff).toInt,
      port.last.peek().litToBoolean,
      port.bad.peek().litToBoolean,
      port.user.peek().litValue.toInt
    )
  }

  /** Offers beats in order, each until it is taken. */
  class Source(port: DecoupledIO[AxisBeat], random: Random) {
    val waiting = mutable.Queue.empty[NamedBeat]
    var pace = 1.0
    var offered = false
    def drive(): Unit = {
      offered = waiting.nonEmpty && (offered || random.nextDouble() < pace)
      port.valid.poke(offered.B)
      if (offered) poke(port.bits, waiting.head)
    }

    /** The beat that is taken in this clock; to be called when all inputs are driven. */
    def taken(): Option[NamedBeat] =
      Option.when(offered && port.ready.peek().litToBoolean) {
        offered = false
        waiting.dequeue()
      }
  }

  /** Takes beats, and checks that what was offered stays so until it is taken. */
  class Sink(port: ReadyValidIO[AxisBeat], random: Random) {
    val beats = mutable.ArrayBuffer.empty[NamedBeat]
    var pace = 1.0
    private var ready = false
    private var held = Option.empty[NamedBeat]
    def drive(): Unit = {
      ready = random.nextDouble() < pace
      port.ready.poke(ready.B)
    }
    def take(): Option[NamedBeat] = {
      val now = Option.when(port.valid.peek().litToBoolean)(peek(port.bits))
      assert(held.isEmpty || now == held, s"$held was offered and not taken, now $now")
      held = if (ready) None else now
      val taken = now.filter(_ => ready)
      beats ++= taken
      taken
    }

    /** The frames that came, each without a beat of another between its own. */
    def frames: Seq[Seq[NamedBeat]] = {
      val ends = beats.indices.filter(beats(_).last)
      (-1 +: ends).zip(ends).map { case (from, to) => beats.slice(from + 1, to + 1).toSeq }
    }
  }
}
