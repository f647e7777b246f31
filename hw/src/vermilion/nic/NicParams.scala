package vermilion.nic

import chisel3.util.log2Ceil
import vermilion.lane.LaneParams
import vermilion.mark.TokenKind

/** What decides the shape and area of a NIC's app block. Nothing here can be changed by a register.
  *
  * @param ports      Ethernet ports, 1 to 8
  * @param wire       each port's wire lane: input 0 takes frames forwarded from a port and cannot be stalled, input 1
  *                   the host's and can
  * @param host       each port's lane towards the host, one input that cannot be stalled; None: not built, RX cannot go
  *                   that way
  * @param timestamps RX frames carry the 96 bits of a PTP timestamp
  * @param ptpTime    the lanes' time can be that of the NIC's PTP clock
  * @param clockNum   period of the clock in ns, numerator, 1 to 65535
  * @param clockDenom the same, denominator, 1 to 65535
  * @param bypassBeats beats that each port's RX bypass holds while the host stalls or takes a frame of the host lane, a
  *                    power of two from 4 to 4096. While the longest frame of the lane goes out, 8/10 of its beats come
  *                    in
  */
case class NicParams(
    ports: Int = 2,
    wire: LaneParams = LaneParams.nic10g,
    host: Option[LaneParams] = None,
    timestamps: Boolean = true,
    ptpTime: Boolean = true,
    clockNum: Int = 4,
    clockDenom: Int = 1,
    bypassBeats: Int = 64
) {
  require(ports >= 1 && ports <= 8, s"ports is $ports; legal are 1 to 8")
  require(
    wire.stallable == Seq(false, true),
    s"wire.stallable is ${wire.stallable.mkString(", ")}; legal is false, true: forwarded frames cannot wait"
  )
  require(wire.userBits == 0, s"wire.userBits is ${wire.userBits}; legal is 0, the block sets it")
  require(wire.nextBlock == 0, s"wire.nextBlock is ${wire.nextBlock}; legal is 0, the block sets it")
  for (h <- host) {
    require(
      h.stallable == Seq(false),
      s"host.stallable is ${h.stallable.mkString(", ")}; legal is false: the receive side cannot wait"
    )
    require(h.dataBits == wire.dataBits, s"host.dataBits is ${h.dataBits}; legal is ${wire.dataBits}, that of wire")
    require(h.userBits == 0, s"host.userBits is ${h.userBits}; legal is 0, the block sets it")
    require(h.nextBlock == 0, s"host.nextBlock is ${h.nextBlock}; legal is 0, the block sets it")
  }
  require(clockNum >= 1 && clockNum <= 65535, s"clockNum is $clockNum; legal are 1 to 65535")
  require(clockDenom >= 1 && clockDenom <= 65535, s"clockDenom is $clockDenom; legal are 1 to 65535")
  require(
    bypassBeats >= 4 && bypassBeats <= 4096 && (bypassBeats & (bypassBeats - 1)) == 0,
    s"bypassBeats is $bypassBeats; legal are powers of two from 4 to 4096"
  )

  val dataBits: Int = wire.dataBits
  val timestampBits: Int = if (timestamps) NicParams.TimestampBits else 0
  val lanesPerPort: Int = if (host.isDefined) 2 else 1
  val lanes: Int = ports * lanesPerPort

  /** Where frames forwarded from a port's RX go: to the port beside it, or back, where there is none. */
  def peer(port: Int): Int = if ((port ^ 1) < ports) port ^ 1 else port

  /** Number of a port's wire lane, and of its host lane: wire 0, host 0, wire 1, host 1, ... */
  def wireLane(port: Int): Int = port * lanesPerPort
  def hostLane(port: Int): Int = port * lanesPerPort + 1

  private def chained(lane: LaneParams, number: Int, userBits: Int): LaneParams =
    lane.copy(
      userBits = userBits,
      nextBlock = if (number + 1 < lanes) NicParams.laneBase(number + 1) else 0
    )

  /** The lanes as they are built: with what a frame carries, and with their place in the list of register blocks. */
  def wireOf(port: Int): LaneParams = chained(wire, wireLane(port), NicParams.TagBits)
  def hostOf(port: Int): Option[LaneParams] = host.map(chained(_, hostLane(port), timestampBits))
}

object NicParams {

  /** Bits of a TX frame's tag; the highest says that the host waits for the frame's completion. */
  val TagBits = 16
  val TimestampBits = 96

  /** Statistics: bits of an id and of an increment; ids a lane. */
  val StatIdBits = 12
  val StatIncBits = 24
  val StatIds = 16

  /** Bits of a byte address in the BAR, and of one within a block of registers: 64 KiB. */
  val AddressBits = 24
  val BlockBits = 16

  /** Byte address of a lane's registers; the app's own come before them all. */
  def laneBase(lane: Int): Int = (lane + 1) << BlockBits

  private def hostOf(wire: LaneParams) = wire.copy(inputs = 1, stallable = Seq(false))

  /** The RX bypass holds what comes in while the longest frame of the host lane goes out, and a little more. */
  private def app(ports: Int, wire: LaneParams) = {
    val coming = wire.maxFrameBytes * 8 / wire.dataBits * 8 / 10
    NicParams(ports, wire, Some(hostOf(wire)), bypassBeats = 1 << log2Ceil(coming + 8))
  }
  private def lean(wire: LaneParams) = wire.copy(cells = 2048, flows = 0)
  private def few(wire: LaneParams) = wire.copy(cells = 512, flows = 0, tokenKinds = Set.empty[TokenKind])

  /** Builds that are supported: ports, with their rate, and host lanes unless the name says `wire` or `lean`. Lanes of
    * the latter leave a smaller device room for the rest of the NIC: no flow markers, half the buffer.
    */
  val byName: Map[String, NicParams] = Map(
    "app10g-1" -> app(1, LaneParams.nic10g),
    "app10g-2" -> app(2, LaneParams.nic10g),
    "app10g-2-wire" -> NicParams(2, LaneParams.nic10g),
    "app10g-2-lean" -> NicParams(2, lean(LaneParams.nic10g)),
    "app25g-2" -> app(2, LaneParams.nic25g),
    "app25g-2-lean" -> NicParams(2, lean(LaneParams.nic25g)),
    "app100g-1" -> app(1, LaneParams.nic100g)
  )

  /** For benches: buffers that a few frames fill, without markers; the same that can evict queued packets; no
    * timestamps; more ports.
    */
  val forBenches: Map[String, NicParams] = byName ++ Map(
    "app10g-1-nots" -> app(1, few(LaneParams.nic10g)).copy(timestamps = false, ptpTime = false),
    "app10g-1-few" -> app(1, few(LaneParams.nic10g)),
    "app10g-2-few" -> app(2, few(LaneParams.nic10g)),
    "app10g-2-evict" -> NicParams(2, few(LaneParams.nic10g).copy(victims = 2)),
    "app10g-3-few" -> NicParams(3, few(LaneParams.nic10g)),
    "app25g-2-few" -> app(2, few(LaneParams.nic25g)),
    "app100g-1-few" -> app(1, few(LaneParams.nic100g).copy(cells = 1024))
  )
}
