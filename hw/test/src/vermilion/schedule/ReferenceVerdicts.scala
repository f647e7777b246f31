package vermilion.schedule

import scala.collection.mutable
import vermilion.lane.LaneParams

/** CoDel of a queue. Times are in ticks of 1,024 ns. */
case class Codel(
    target: Long = 5,
    interval: Long = 100,
    ceThreshold: Long = Int.MaxValue,
    mtu: Int = 1514,
    ecn: Boolean = false
)

/** A queue's CoDel, in the arithmetic of Linux, without the wraps that the bench does not reach.
  *
  * It is one step per packet: `wasDropped` says that Linux would be in its loop over the packets of one call.
  */
class ReferenceCodel(var s: Codel) {
  private var (dropping, entered, wasDropped) = (false, false, false)
  private var firstAbove: Option[Long] = None
  private var count, lastCount, y, step, dropNext = 0L
  var changes = 0

  private def newton(): Unit = y = ((3L << 32) - count * (((y << 16) * BigInt(y << 16)) >> 32).toLong >> 2) * y >> 31

  /** Whether another drop is due if the next packet is as old. */
  def isDueAgain(now: Long): Boolean = dropping && wasDropped && now >= dropNext + step

  private def controls(now: Long): Unit = {
    step = s.interval * y >> 16
    dropNext += step
    changes += 1
    require(now >= 0)
  }

  /** (dropped, marked). */
  def decide(now: Long, sojourn: Long, backlog: Long, ect: Boolean, settled: Boolean): (Boolean, Boolean) = {
    val marks = s.ecn && ect
    val may = if (sojourn < s.target || backlog <= s.mtu) { firstAbove = None; false }
    else if (firstAbove.isEmpty) { firstAbove = Some(now + s.interval); false }
    else now > firstAbove.get
    val hits =
      if (entered) { entered = false; false }
      else if (!dropping && may && settled) {
        val delta = count - lastCount
        if (delta > 1 && now - dropNext < 16 * s.interval) { count = delta; newton() }
        else { count = 1; y = 65535 }
        lastCount = count
        dropNext = now
        controls(now)
        dropping = true
        entered = !marks
        true
      } else if (dropping && !may) { dropping = false; wasDropped = false; false }
      else if (dropping && settled) {
        if (wasDropped) dropNext += step
        wasDropped = false
        if (now >= dropNext) {
          count += 1
          newton()
          controls(now)
          if (!marks) { dropNext -= step; wasDropped = true }
          true
        } else false
      } else false
    (hits && !marks, if (hits) marks else ect && sojourn > s.ceThreshold)
  }
}

/** Checks the verdict on each packet that leaves: it knows when packets came and were taken, and what was queued behind them. */
class ReferenceVerdicts(p: LaneParams) {
  private val Latency = 3 // cycles from the look at a packet to its verdict
  private val Settles = 14
  private case class Waiting(lenBytes: Int, dsField: Int, came: Long)
  private val codel = Array.fill[Option[ReferenceCodel]](p.queues)(None)
  private val changed = Array.fill(p.queues)(-1000L)
  private val queued = Array.fill(p.queues)(mutable.Queue.empty[Waiting])
  private val arrivals =
    mutable.Queue.empty[(Long, Int, Int)] // clock, queue and bytes of what does not count yet
  private val bytes = Array.fill(p.queues)(0L)
  private val times = mutable.Queue.empty[(Long, Long)]
  private val holds = Array.fill(p.egresses)(-1000L) // the last verdict after which an egress waits
  // The clock since which queues and ports have a rate.
  private val slowQueues = Array.fill(p.queues)(Option.empty[Long])
  private val slowPorts = Array.fill(p.egresses)(Option.empty[Long])
  private val several =
    Array.fill(p.egresses)(-1000L) // the last clock in which more than one of its queues held packets
  val met = mutable.Map.empty[String, Int].withDefaultValue(0)

  private case class Configured(clock: Long, queue: Int, to: Option[Codel])
  private val pending = mutable.Queue.empty[Configured]

  /** Packets that are looked at in a later clock than this get the settings. */
  def configure(queue: Int, to: Option[Codel], hasRate: Boolean, clock: Long): Unit = {
    pending.enqueue(Configured(clock, queue, to))
    slowQueues(queue) = Option.when(hasRate)(slowQueues(queue).getOrElse(clock))
  }

  def configurePort(egress: Int, hasRate: Boolean, clock: Long): Unit =
    slowPorts(egress) = Option.when(hasRate)(slowPorts(egress).getOrElse(clock))

  /** Time is about to jump in a clock. */
  def jumps(clock: Long): Unit = {
    jumped += 1
    assert(changed.forall(clock - _ >= Settles), "time jumps while a queue is not settled")
  }
  var jumped = 0

  def comes(queue: Int, lenBytes: Int, dsField: Int, now: Long, clock: Long): Unit = {
    queued(queue).enqueue(Waiting(lenBytes, dsField, now))
    arrivals.enqueue((clock, queue, lenBytes))
  }

  /** The packet at a place of its queue is evicted. */
  def evicted(queue: Int, place: Int, clock: Long): Unit = {
    val packet = queued(queue).remove(place)
    arrivals.enqueue((clock, queue, -packet.lenBytes))
  }

  /** The time in a clock. */
  def at(clock: Long, now: Long): Unit = {
    times.enqueue(clock -> now)
    while (times.head._1 < clock - Latency) times.dequeue()
    for ((queues, egress) <- queued.grouped(p.queues / p.egresses).zipWithIndex)
      if (queues.count(_.nonEmpty) > 1) several(egress) = clock
  }

  private def settle(looked: Long): Unit =
    for (Configured(_, queue, to) <- pending.dequeueWhile(_.clock < looked)) {
      codel(queue) = to.map(s => codel(queue).getOrElse(new ReferenceCodel(s))) // one that stays on keeps its state
      for ((codel, s) <- codel(queue).zip(to)) codel.s = s
    }

  /** A queue or port had a rate for as long as a hold lasts. */
  private def isSlow(since: Option[Long], clock: Long) = since.exists(clock - _ > 2 * Settles)

  def check(packet: Left): Unit = {
    val (looked, now) = times.head
    require(looked == packet.clock - Latency)
    settle(looked)
    while (arrivals.headOption.exists(_._1 < looked)) {
      val (_, queue, lenBytes) = arrivals.dequeue()
      bytes(queue) += lenBytes
    }
    val queue = packet.queue
    val own = queued(queue).dequeue()
    bytes(queue) -= own.lenBytes
    val egress = queue / (p.queues / p.egresses)
    val since = packet.clock - holds(egress)
    val isAlone = packet.clock - several(egress) > Settles
    if (isSlow(slowPorts(egress), packet.clock) || (isSlow(slowQueues(queue), packet.clock) && isAlone))
      assert(
        since < 4 || since >= Settles || packet.flushed,
        s"an egress sends $since cycles after a drop that another may follow"
      )
    val verdict = codel(queue).map { codel =>
      val (before, settled) = (codel.changes, looked - changed(queue) >= Settles)
      val sojourn = (now >> 10) - (own.came >> 10)
      val ect = (own.dsField & 3) != 0
      val found = codel.decide(now >> 10, sojourn, if (packet.flushed) 0 else bytes(queue), ect, settled)
      if (codel.changes != before) changed(queue) = looked
      if (found._1) met(if (before == 0) "first drop" else "later drop") += 1
      if (found._2) met("mark") += 1
      if (!settled) met("not settled") += 1
      if (found._1 && codel.isDueAgain(now >> 10)) {
        holds(egress) = packet.clock
        met("due again") += 1
      }
      found
    }
    val (drops, marks) = verdict.filter(_ => !packet.flushed).getOrElse((false, false))
    assert(packet.dropped == drops && packet.marked == marks, s"$packet: dropped should be $drops, marked $marks")
  }
}
