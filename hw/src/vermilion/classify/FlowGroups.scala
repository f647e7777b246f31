package vermilion.classify

import chisel3._
import chisel3.util._
import vermilion.decide.RandomSource
import vermilion.fixed.SweepInit
import vermilion.flow.{FlowHash, FlowKey}
import vermilion.lane.LaneParams
import vermilion.stream.Headers

/** A queue's group: 2^bits queues of one egress, of which the lowest number is a multiple of their count. 0: no group. */
class FlowGroup extends Bundle {
  val bits = UInt(4.W)
}

/** A write of a queue's group. */
class GroupWrite(p: LaneParams) extends Bundle {
  val queue = UInt(p.queueBits.W)
  val group = new FlowGroup
}

/** The name of a packet's flow: bits of the hash that do not select its queue. Another flow has the same name with a probability of 2^-16. */
class FlowTag extends Bundle {
  val grouped = Bool() // the packet's queue is in a group
  val hash = UInt(FlowGroups.NameBits.W)
}

/** Selects a packet's queue within the group of its class's queue, by a keyed hash of its flow (RFC 8290, section 4.1.1).
  *
  * A flow is addresses, ports, protocol and VLAN IDs. Packets without ports, which are those of other protocols and all fragments but the first, have 0 in their
  * place. Frames without IP go to the first queue of the group, as a name of zeros has the hash 0.
  *
  * The hash is [[vermilion.flow.FlowHash]], with the protocol in place of the queue. Its low bits replace those of the queue's number. Flows of different groups may so get
  * the same low bits. The seed is that of the flow table with its words rotated, and gives another key: with the same one the flows of a queue would share some bits of their
  * set in the table.
  *
  * `name` is of the same flow ([[vermilion.stats.FlowCollisions]]).
  *
  * Combinational from `headers` and `queue` to `chosen` and `name`. A reset clears the groups in one cycle per queue; until then there is none, and they must not be
  * written. `ready` is low while the hash takes its key.
  */
class FlowGroups(p: LaneParams) extends Module {
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val queue = Input(UInt(p.queueBits.W))
    val chosen = Output(UInt(p.queueBits.W))
    val name = Output(new FlowTag)
    val write = Flipped(Valid(new GroupWrite(p)))
    val seed = Flipped(Valid(UInt(128.W)))
    val ready = Output(Bool())
  })
  private val bits = p.ofOneEgress.queueBits // a group is of one egress

  private val atReset = RandomSource.rotated(RandomSource.resetState, FlowGroups.Rotation)
  private val hash = Module(new FlowHash(8, bits, atReset, FlowGroups.NameBits))
  private val key = Wire(new FlowKey(8))
  key.vlan := io.headers.vlan
  key.isIp6 := io.headers.isIp6
  key.queue := io.headers.proto
  key.dstPort := io.headers.dstPort
  key.srcPort := io.headers.srcPort
  key.dstAddr := io.headers.dstAddr
  key.srcAddr := io.headers.srcAddr
  hash.io.seed.valid := io.seed.valid
  hash.io.seed.bits := RandomSource.rotated(io.seed.bits, FlowGroups.Rotation)
  hash.io.flow := key
  io.ready := hash.io.ready

  private val masks = Mem(p.queues, UInt(bits.W))
  private val clear = new SweepInit(p.queues)
  private val written = VecInit(Seq.tabulate(bits)(i => io.write.bits.group.bits > i.U)).asUInt
  when(!clear.done || io.write.valid) {
    masks.write(Mux(clear.done, io.write.bits.queue, clear.address), Mux(clear.done, written, 0.U))
  }
  private val mask = masks.read(io.queue) & Fill(bits, clear.done)
  private val low = (io.queue(bits - 1, 0) & ~mask) | (hash.io.hash & mask)
  io.name.grouped := mask.orR
  io.name.hash := hash.io.name.get
  io.chosen := (if (p.queueBits == bits) low else io.queue(p.queueBits - 1, bits) ## low)
}

object FlowGroups {

  /** Bits of a flow's name. */
  val NameBits = 16

  /** Words by which the seed is rotated. */
  private val Rotation = 1
}
