package vermilion.stats

import chisel3._
import chisel3.util.Cat
import vermilion.stream.{Colour, Departure, Verdict}
import vermilion.victim.Distance

/** Defines what a snapshot writes into the window: a list of steps, one per count, from which [[WindowWriter]] makes a table.
  *
  * A step reads one 64-bit counter of a source. It adds the counter to an accumulator or restarts the accumulator with it. It shows the counter,
  * the accumulator or nothing. So counters that are sums of others need no RAM:
  * {{{
  *   arrived    every verdict          enqueued   not marked + marked          ceChosen   marked + queued packets marked
  *   sent       not marked at departure + marked there
  * }}}
  * Groups of steps start with their first slot, aligned to powers of two. Step and slot then have bits in common, which makes the table small.
  */
object WindowProgram {

  /** The source of a counter. `Nothing` is 0. */
  object Source extends Enumeration {
    val Nothing, Gauges, Outcomes, Marked, CeWritten, Departures, Latency, Victims, Distances, PushOuts = Value
  }
  import Source._

  /** @param to    first of the window's two words, if the step shows a value
    * @param adds  adds to the accumulator, which otherwise restarts with the counter
    * @param total shows the accumulator, including this counter
    */
  final case class Step(
      source: Source.Value,
      slot: Int = 0,
      field: Int = 0,
      to: Option[Int] = None,
      adds: Boolean = false,
      total: Boolean = false
  )

  /** Bins of the latency histogram: bin k is 2^k to 2^(k+1)-1 ns. */
  val Bins = 32

  /** Slots of `Outcomes`, `Departures` and `Victims`. */
  def outcome(colour: Int, verdict: Int): Int = 8 * colour + verdict
  def departure(fate: Int, colour: Int): Int = 4 * fate + colour
  def victim(isEvicted: Boolean, colour: Int): Int = (if (isEvicted) 4 else 0) + colour

  /** Fates of a packet that departs. Builds without `codel` have the first two. */
  object Fate {
    val Sent = 0
    val Flushed = 1
    val Dropped = 2
    val Marked = 3 // marked CE at departure, and sent

    /** The fate of a packet that departs, as a number of 1 bit, in builds with `codel` of 2. */
    def apply(departed: Departure): UInt = departed.dropped.zip(departed.marked) match {
      case None                    => departed.flushed
      case Some((dropped, marked)) => Cat(dropped || marked, departed.flushed || marked)
    }
  }

  private val Shown = Map( // the verdicts that have their own counter, and its place
    Verdict.Early -> 2,
    Verdict.Forced -> 3,
    Verdict.Tail -> 4,
    Verdict.NoBuffer -> 5,
    Verdict.Bad -> 6,
    Verdict.Policed -> 10
  )
  private val Colours = 0 until Colour.Count
  private val Fields = 0 until 2 // packets, bytes
  private def word(colour: Int, field: Int, place: Int) = Some(64 * colour + 4 * place + 2 * field)
  private val LatencyWord = 256
  private val GaugeWord = 320
  private val Gauges64 = 7 // pairs of words
  private val MarkedWord = 336
  private val PushOutsWord = 360
  private val LostWord = 384
  private val VictimsWord = 512

  private def decisions(colour: Int, field: Int, searched: Boolean): Seq[Step] = {
    def of(verdict: Int) = Step(Outcomes, outcome(colour, verdict), field)
    val marked = of(Verdict.Mark)
    val ceChosen = word(colour, field, 7)
    (if (searched)
       Seq(
         Step(Victims, victim(isEvicted = false, colour), field),
         marked.copy(to = ceChosen, adds = true, total = true),
         marked
       )
     else Seq(marked.copy(to = ceChosen))) ++
      Seq(of(Verdict.Enqueue).copy(to = word(colour, field, 1), adds = true, total = true)) ++
      Shown.toSeq.sorted.map { case (verdict, place) =>
        of(verdict).copy(to = word(colour, field, place), adds = true)
      } :+
      Step(Nothing, to = word(colour, field, 0), adds = true, total = true)
  }
  private def eachColour(source: Source.Value, place: Int, slot: Int => Int, fields: Seq[Int] = Fields): Seq[Step] =
    for (f <- fields; c <- Colours) yield Step(source, slot(c), f, word(c, f, place))
  private def gone(fate: Int, place: Int, field: Int) = eachColour(Departures, place, departure(fate, _), Seq(field))
  private def flushed(field: Int) = gone(Fate.Flushed, 12, field)
  private def sent: Seq[Step] = Fields.flatMap(gone(Fate.Sent, 9, _))
  private def judged: Seq[Step] = for (f <- Fields; c <- Colours; step <- ofJudged(c, f)) yield step
  private def ofJudged(colour: Int, field: Int): Seq[Step] = {
    def of(fate: Int) = Step(Departures, departure(fate, colour), field)
    Seq(
      of(Fate.Dropped).copy(to = word(colour, field, 13)),
      of(Fate.Marked).copy(to = word(colour, field, 14)),
      of(Fate.Sent).copy(to = word(colour, field, 9), adds = true, total = true)
    )
  }

  private def row(source: Source.Value, slots: Int, first: Int, field: Int = 0): Seq[Step] =
    Seq.tabulate(slots)(i => Step(source, i, field, Some(first + 2 * i)))

  /** All steps. Steps without effect fill the end of each group. */
  def apply(searched: Boolean, judges: Boolean): Seq[Step] = {
    val groups = Seq(
      (for (f <- Fields; c <- Colours) yield decisions(c, f, searched)).flatten ++ row(Gauges, Gauges64, GaugeWord),
      row(Latency, Bins, LatencyWord),
      row(Marked, 12, MarkedWord) ++ flushed(0),
      eachColour(CeWritten, 8, identity) ++ (if (judges) Nil else sent) ++ flushed(1)
    ) ++ (if (judges) Seq(judged) else Nil) ++ (if (!searched) Nil
                                                else
                                                  Seq(
                                                    row(Distances, 1 << Distance.Bits, LostWord),
                                                    row(Distances, 1 << Distance.Bits, VictimsWord, field = 1),
                                                    eachColour(Victims, 11, victim(isEvicted = true, _)) ++
                                                      Fields.map(f => Step(PushOuts, 0, f, Some(PushOutsWord + 2 * f)))
                                                  ))
    def size(group: Seq[Step]) = Iterator.iterate(1)(2 * _).find(_ >= group.size).get
    groups.sortBy(-size(_)).flatMap(group => group.padTo(size(group), Step(Nothing)))
  }
}
