package vermilion.victim

import chisel3._
import chisel3.util._
import _root_.circt.stage.ChiselStage
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random
import vermilion.Simulation
import vermilion.fixed.Delay
import vermilion.lane.LaneParams
import vermilion.queue.{QueueManager, TakenPacket}
import vermilion.schedule.{EgressPhases, Scheduler}
import vermilion.stream.{Chain, EnqueueRequest}

/** The bodies and the heads of queues in front of the scheduler, wired as EgressQueues wires them. */
class VictimEgress(p: LaneParams) extends Module {
  private val v = VictimParams.of(p)
  val io = IO(new Bundle {
    val arrival = Flipped(Valid(new ArrivalRequest(p, v)))
    val room = Input(Bool())
    val outcome = Valid(new Outcome(v))
    val settledCell = Output(UInt(p.cellBits.W))
    val freed = Valid(new Chain(p))
    val newHead = Valid(new EnqueueRequest(p))
    val taken = Valid(new TakenPacket(p))
    val busy = Output(Bool())
    val ready = Output(Bool())
  })
  private val queues = Module(new VictimQueues(p))
  private val scheduler = Module(new Scheduler(p))

  // What is asked ahead is taken from the arrival, which goes on when its time has come.
  private val packet = io.arrival.bits
  queues.io.ahead.valid := io.arrival.valid
  queues.io.ahead.bits.queue := packet.queueEntry.queue
  queues.io.ahead.bits.lenBytes := packet.queueEntry.lenBytes
  queues.io.ahead.bits.colour := packet.queueEntry.colour
  queues.io.ahead.bits.distance := packet.distance
  queues.io.ahead.bits.byColour := packet.byColour
  queues.io.ahead.bits.last := packet.last
  private val valids = Seq.iterate(io.arrival.valid, VictimQueues.Ahead + 1)(RegNext(_, false.B))
  queues.io.arrival.valid := valids.last
  queues.io.arrival.bits := Delay(packet, VictimQueues.Ahead)
  private val heads = Module(new QueueManager(p))
  heads.io.enqueue := queues.io.newHead
  heads.io.place.get := queues.io.place
  queues.io.taken.valid := heads.io.taken.valid
  queues.io.taken.bits := heads.io.taken.bits.queue
  private val phases = new EgressPhases(p, heads.io, Seq(scheduler))
  phases.shaper.io.now := 0.U
  phases.shaper.io.configure.valid := false.B
  phases.shaper.io.configure.bits := DontCare
  phases.shaper.io.flush := 0.U.asTypeOf(phases.shaper.io.flush)
  phases.port.io.now := 0.U
  phases.port.io.configure := 0.U.asTypeOf(phases.port.io.configure)
  scheduler.io.paused := false.B
  scheduler.io.flush := 0.U.asTypeOf(scheduler.io.flush)
  scheduler.io.roomToDiscard := false.B
  scheduler.io.now := 0.U
  scheduler.io.configure.valid := false.B
  scheduler.io.configure.bits := DontCare
  scheduler.io.room := io.room
  io.outcome := queues.io.outcome
  io.settledCell := queues.io.settled.headCell
  io.freed := queues.io.freed
  io.newHead := queues.io.newHead
  io.taken := heads.io.taken
  io.ready := queues.io.ready
  io.busy := queues.io.busy || scheduler.io.busy
}

/** Random packets at full pace through the real scheduler, against plain Scala queues that follow the outcomes. */
class VictimQueuesTest extends AnyFlatSpec with Simulation {
  private case class Packet(queue: Int, cell: Int, lenBytes: Int, arrival: Int)

  private def runs(p: LaneParams): Unit =
    simulate(new VictimEgress(p)) { dut =>
      val seed = 6
      info(s"seed $seed")
      val random = new Random(seed)
      val free = mutable.Queue.from(random.shuffle((0 until p.cells).toList))
      val queues = Array.fill(p.queues)(mutable.ArrayBuffer.empty[Packet])
      val under = mutable.Queue.empty[(Packet, Int)]
      val marked = mutable.Set.empty[Int]
      var evicted, marks, left, refused = 0
      val inHead = Array.fill(p.queues)(0)
      val first, alone = Array.fill(p.queues)(0) // victims that were their body's first, and its only one

      def clock(arrives: Boolean, room: Boolean, distances: Int = 16, only: Option[Int] = None): Unit = {
        if (dut.io.outcome.valid.peek().litToBoolean) {
          val (packet, action) = under.dequeue()
          val o = dut.io.outcome.bits
          dut.io.settledCell.expect(packet.cell.U)
          if (o.enqueued.peek().litToBoolean) queues(packet.queue) += packet else refused += 1
          if (o.marked.peek().litToBoolean) marked += packet.cell
          val victim = o.victim.cell.peek().litValue.toInt
          val place = queues(packet.queue).indexWhere(_.cell == victim)
          // Packets of the head are none. Queues without lists have none.
          def mayGo = action == Action.PushOut && place >= inHead(packet.queue) && packet.queue < p.victims
          if (o.evicted.peek().litToBoolean) {
            assert(mayGo)
            if (place == inHead(packet.queue)) first(packet.queue) += 1
            if (queues(packet.queue).size == inHead(packet.queue) + 2) alone(packet.queue) += 1
            dut.io.freed.valid.expect(true.B)
            dut.io.freed.bits.head.expect(victim.U)
            dut.io.freed.bits.cells.expect(((queues(packet.queue)(place).lenBytes + 63) / 64).U)
            queues(packet.queue).remove(place)
            evicted += 1
          }
          if (o.victimMarked.peek().litToBoolean) {
            assert(mayGo && marked.add(victim))
            marks += 1
          }
        }
        if (dut.io.freed.valid.peek().litToBoolean) free.prepend(dut.io.freed.bits.head.peek().litValue.toInt)
        if (dut.io.newHead.valid.peek().litToBoolean) {
          val queue = dut.io.newHead.bits.queue.peek().litValue.toInt
          dut.io.newHead.bits.queueEntry.headCell.expect(queues(queue)(inHead(queue)).cell.U)
          inHead(queue) += 1
          assert(inHead(queue) <= p.headPlaces)
        }
        if (dut.io.taken.valid.peek().litToBoolean) {
          val queue = dut.io.taken.bits.queue.peek().litValue.toInt
          val d = dut.io.taken.bits.queueEntry
          val packet = queues(queue).remove(0)
          inHead(queue) -= 1
          d.headCell.expect(packet.cell.U)
          d.lenBytes.expect(packet.lenBytes.U)
          d.arrival.expect(packet.arrival.U)
          d.setCe.expect(marked.remove(packet.cell).B)
          free.append(packet.cell)
          left += 1
        }
        val comes = arrives && free.nonEmpty
        dut.io.arrival.valid.poke(comes.B)
        if (comes) {
          val len = 1 + random.nextInt(1500)
          val packet =
            Packet(only.getOrElse(random.nextInt(3)), free.dequeue(), len, random.nextInt(1 << 30))
          val action = if (random.nextInt(5) < 3) Action.PushOut else random.nextInt(2)
          val b = dut.io.arrival.bits
          b.queueEntry.queue.poke(packet.queue.U)
          b.queueEntry.headCell.poke(packet.cell.U)
          b.queueEntry.cells.poke(((len + 63) / 64).U)
          b.queueEntry.lenBytes.poke(len.U)
          b.queueEntry.arrival.poke(packet.arrival.U)
          b.queueEntry.setCe.poke(false.B)
          b.queueEntry.colour.poke(random.nextInt(3).U)
          b.distance.poke(random.nextInt(distances).U)
          b.ect.poke(random.nextBoolean().B)
          b.action.poke(action.U)
          b.byColour.poke((packet.queue == 1).B)
          b.mayMark.poke((packet.queue == 1).B)
          b.last.poke((if (packet.queue == 2) 8 else 0).U)
          b.asLong.poke(random.nextBoolean().B)
          under.enqueue((packet, action))
        }
        dut.io.room.poke(room.B)
        dut.clock.step()
      }

      while (!dut.io.ready.peek().litToBoolean) dut.clock.step() // the sweeps
      for ((arrive, take) <- Seq((1.0, 0.1), (0.6, 0.1), (1.0, 0.25), (0.2, 0.5)); _ <- 0 until 1000)
        clock(random.nextDouble() < arrive, random.nextDouble() < take)
      // One distance and short queues: the victim is the body's first packet, or its only one.
      val forms = Seq(0, 2).filter(_ < p.victims) // lists, and the last packets
      for (queue <- forms; _ <- 0 until 4000)
        clock(
          queues.map(_.size).sum < p.headPlaces + 4 && random.nextDouble() < 0.8,
          random.nextDouble() < 0.5,
          1,
          Some(queue)
        )
      for (_ <- 0 until 8) clock(false, false)
      while (queues.exists(_.nonEmpty)) clock(false, true)
      for (_ <- 0 until 8) clock(false, true)
      dut.io.busy.expect(false.B)
      assert(free.toSet.size == p.cells && under.isEmpty && marked.isEmpty)
      assert(evicted > 200 && marks > 50 && left > 300 && refused > 500, s"$evicted $marks $left $refused")
      for (queue <- forms)
        assert(
          first(queue) > 10 && alone(queue) > 5,
          s"in queue $queue ${first(queue)} victims were their body's first, ${alone(queue)} of them its only packet"
        )
    }

  behavior of "VictimQueues"

  it should "keep the order of what stays, with the scheduler, and give every cell back" in runs(
    LaneParams(cells = 256, victims = 16)
  )

  it should "do so where only some queues have lists" in runs(LaneParams(cells = 256, queues = 3, victims = 2))

  private def refuses(sentence: String)(build: => RawModule): Unit = {
    val thrown = intercept[Exception](ChiselStage.emitCHIRRTL(build))
    val all = Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.toString).mkString(" ")
    assert(all.contains(sentence))
  }

  it should "refuse a lane without the search" in {
    refuses("victims is 0; legal with the victim search are powers of two up to 16")(
      new VictimQueues(LaneParams(cells = 256))
    )
  }

  behavior of "SharedRam"

  it should "refuse writers that it has not, and one that writes twice" in {
    class Written(writers: Int, who: Int*) extends Module {
      private val ram = new SharedRam(4, UInt(8.W), writers)
      who.foreach(ram.write(_, 0.U, false.B, 0.U))
    }
    refuses("writers is 1; legal are 2 and more")(new Written(1))
    refuses("writer is 2; legal are 0 to 1")(new Written(2, 0, 2))
    refuses("writer is 1, which writes already; each writes once")(new Written(2, 1, 1))
  }
}
