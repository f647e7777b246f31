package vermilion.nic

import chisel3.util.log2Ceil
import vermilion.lane.LaneParams
import vermilion.control.TokenKind

/** A way through a lane: to the wire of a port, or to its host. */
case class Way(port: Int, toHost: Boolean)

/** The source of frames: a port's MAC, which cannot be stalled, or its host. */
case class FrameSource(port: Int, fromHost: Boolean)

/** The parameters of a lane in a NIC's app block.
  *
  * A frame's `user` in the lane is, from its lowest bit on:
  * {{{
  *   place    only in lanes with several egresses. At the ingress it is the frame's egress, after the verdict the frame's input
  *   payload  a tag or a timestamp
  * }}}
  *
  * @param lane   the parameters as given; those of `built` are completed
  * @param inputs in the order of the lane's inputs
  * @param ways   in the order of the lane's egresses
  * @param number in the list of lanes
  * @param count  of all lanes
  */
case class NicLaneParams(
    lane: LaneParams,
    inputs: Seq[FrameSource],
    ways: Seq[Way],
    timestampBits: Int,
    number: Int,
    count: Int
) {
  private val ofTag = if (inputs.exists(_.fromHost)) NicParams.TagBits else 0
  val payloadBits: Int = ofTag.max(if (ways.exists(_.toHost)) timestampBits else 0)
  val placeBits: Int = if (ways.size == 1) 0 else lane.egressBits.max(lane.inputBits)
  val built: LaneParams = lane.copy(
    userBits = placeBits + payloadBits,
    evictedBits = Some(if (ofTag == 0) 0 else placeBits + ofTag), // an evicted frame of a host is completed by its tag
    routeInUser = ways.size > 1,
    nextBlock = if (number + 1 < count) NicParams.laneBase(number + 1) else 0
  )
}

/** The build parameters of a NIC's app block. They define its structure and area, and no register changes them.
  *
  * @param ports      Ethernet ports, 1 to 8; with `shared` 1, 2 or 4
  * @param wire       each port's wire lane: input 0 takes frames forwarded from a port and cannot be stalled; input 1
  *                   takes the host's frames and can be stalled
  * @param host       each port's host lane, with one input that cannot be stalled; None: not built, and RX frames cannot
  *                   take that way
  * @param shared     one lane for all ports and both directions, instead of `wire` and `host`: its inputs are the MAC and the host of port 0, those of
  *                   port 1 and so on; its egresses are the wire and the host of port 0, those of port 1 and so on
  * @param timestamps RX frames carry the 96 bits of a PTP timestamp
  * @param ptpTime    the lanes can use the time of the NIC's PTP clock
  * @param clockNum   period of the clock in ns, numerator, 1 to 65535
  * @param clockDenom the same, denominator, 1 to 65535
  * @param bypassBeats beats that each port's RX bypass holds, a power of two from 4 to 4096. It fills while the host stalls
  *                    or accepts a frame of the host lane. While the longest frame of the lane leaves, 8/10 of its beats
  *                    arrive
  */
case class NicParams(
    ports: Int = 2,
    wire: LaneParams = LaneParams.nic10g,
    host: Option[LaneParams] = None,
    timestamps: Boolean = true,
    ptpTime: Boolean = true,
    clockNum: Int = 4,
    clockDenom: Int = 1,
    bypassBeats: Int = 64,
    shared: Option[LaneParams] = None
) {
  require(ports >= 1 && ports <= 8, s"ports is $ports; legal are 1 to 8")
  require(
    wire.stallable == Seq(false, true),
    s"wire.stallable is ${wire.stallable.mkString(", ")}; legal is false, true: forwarded frames cannot wait"
  )
  private def requireOneWay(name: String, lane: LaneParams): Unit = {
    require(lane.egresses == 1, s"$name.egresses is ${lane.egresses}; legal is 1, one way: several are for shared")
    require(!lane.routeInUser, s"$name.routeInUser is true; legal is false, the block sets it")
  }
  requireOneWay("wire", wire)
  host.foreach(requireOneWay("host", _))
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
  for (s <- shared) {
    require(Seq(1, 2, 4).contains(ports), s"ports is $ports with shared; legal are 1, 2 and 4")
    require(
      s.egresses == 2 * ports && s.stallable == Seq.fill(ports)(Seq(false, true)).flatten,
      s"shared has ${s.egresses} egresses and stallable ${s.stallable.mkString(", ")}; legal with $ports ports are ${2 * ports} egresses, and " +
        "false, true for each port: frames of a MAC cannot wait, those of a host can"
    )
    require(!s.routeInUser, "shared.routeInUser is true; legal is false, the block sets it")
    require(
      wire == LaneParams.nic10g,
      "wire is given beside shared; legal is to leave it out: the shared lane has the ways to the wires"
    )
    require(host.isEmpty, "host is given beside shared; legal is None: the shared lane has the ways to the hosts")
    require(s.userBits == 0, s"shared.userBits is ${s.userBits}; legal is 0, the block sets it")
    require(s.nextBlock == 0, s"shared.nextBlock is ${s.nextBlock}; legal is 0, the block sets it")
  }
  require(clockNum >= 1 && clockNum <= 65535, s"clockNum is $clockNum; legal are 1 to 65535")
  require(clockDenom >= 1 && clockDenom <= 65535, s"clockDenom is $clockDenom; legal are 1 to 65535")
  require(
    bypassBeats >= 4 && bypassBeats <= 4096 && (bypassBeats & (bypassBeats - 1)) == 0,
    s"bypassBeats is $bypassBeats; legal are powers of two from 4 to 4096"
  )

  val dataBits: Int = shared.getOrElse(wire).dataBits
  val timestampBits: Int = if (timestamps) NicParams.TimestampBits else 0

  /** True if ports have a way to the host through a lane. */
  val hasHost: Boolean = shared.isDefined || host.isDefined

  /** The port to which a port's RX frames are forwarded: the other port of its pair, or itself if there is none. */
  def peer(port: Int): Int = if ((port ^ 1) < ports) port ^ 1 else port

  /** All ways, in the order of their statistics: wire 0, host 0, wire 1, host 1, ... */
  val ways: Seq[Way] =
    (0 until ports).flatMap(port => Way(port, toHost = false) +: Option.when(hasHost)(Way(port, toHost = true)).toSeq)

  /** The lanes as they are built, in the order of their register blocks: the shared one, or one for each way. */
  val lanes: Seq[NicLaneParams] = {
    val each: Seq[(LaneParams, Seq[FrameSource], Seq[Way])] = shared match {
      case Some(lane) =>
        val inputs = (0 until ports).flatMap(port => Seq(false, true).map(FrameSource(port, _)))
        Seq((lane, inputs, ways))
      case None =>
        ways.map { way =>
          if (way.toHost) (host.get, Seq(FrameSource(way.port, fromHost = false)), Seq(way))
          else
            (wire, Seq(FrameSource(peer(way.port), fromHost = false), FrameSource(way.port, fromHost = true)), Seq(way))
        }
    }
    each.zipWithIndex.map { case ((lane, inputs, ways), i) =>
      NicLaneParams(lane, inputs, ways, timestampBits, i, each.size)
    }
  }

  /** The lane that serves a way, and the way's egress there; None if the way is not built. */
  def placeOf(way: Way): Option[(Int, Int)] =
    lanes.zipWithIndex.collectFirst { case (lane, i) if lane.ways.contains(way) => (i, lane.ways.indexOf(way)) }
}

object NicParams {

  /** Bits of a TX frame's tag. The highest bit is 1 if the host waits for the frame's completion. */
  val TagBits = 16
  val TimestampBits = 96

  /** Statistics: bits of an id and of an increment; number of ids per way. */
  val StatIdBits = 12
  val StatIncBits = 24
  val StatIds = 16

  /** Bits of a byte address in the BAR, and of one within a block of registers: 64 KiB. */
  val AddressBits = 24
  val BlockBits = 16

  /** Byte address of a lane's registers. The app block's own registers come before all lanes. */
  def laneBase(lane: Int): Int = (lane + 1) << BlockBits

  /** A card with one lane for all ways. */
  private def card(ports: Int, shared: LaneParams) =
    NicParams(ports, shared = Some(shared), bypassBeats = bypassOf(shared))
  private def hostOf(wire: LaneParams) = wire.copy(inputs = 1, stallable = Seq(false))

  /** Size of the RX bypass: the beats that arrive while the longest frame of the host lane leaves, and a few more. */
  private def bypassOf(lane: LaneParams): Int = 1 << log2Ceil(lane.maxFrameBytes * 8 / lane.dataBits * 8 / 10 + 8)
  private def app(ports: Int, wire: LaneParams) =
    NicParams(ports, wire, Some(hostOf(wire)), bypassBeats = bypassOf(wire))
  private def lean(wire: LaneParams) = wire.copy(cells = 2048, flows = 0)
  private def wires(ports: Int, wire: LaneParams) = NicParams(ports, wire, bypassBeats = bypassOf(wire))
  private def few(wire: LaneParams) = wire.copy(cells = 512, flows = 0, tokenKinds = Set.empty[TokenKind])

  /** Presets that are supported, by ports and their rate.
    *
    *   - `card-...`: one lane for all ways. Cards with 100G ports or four 25G ports need more than one decision per cycle. They have one lane for
    *     each port, on its way to the wire. Both forms have the victim search in all queues. Those with `aqm` have CoDel, PIE, DualPI2, FQ-CoDel
    *     and reports as well
    *   - `app...`: one lane for each way. Names with `wire` or `lean` have no lanes to the host. Lanes of `lean` builds leave room for the rest of the
    *     NIC on a smaller device: no flow markers, half the buffer
    */
  val byName: Map[String, NicParams] = Map(
    "app10g-1" -> app(1, LaneParams.nic10g),
    "app10g-2" -> app(2, LaneParams.nic10g),
    "app10g-2-wire" -> NicParams(2, LaneParams.nic10g),
    "app10g-2-lean" -> NicParams(2, lean(LaneParams.nic10g)),
    "app25g-2" -> app(2, LaneParams.nic25g),
    "app25g-2-lean" -> NicParams(2, lean(LaneParams.nic25g)),
    "app100g-1" -> app(1, LaneParams.nic100g),
    "card-1x25g" -> card(1, LaneParams.forBenches("card-1x25g")),
    "card-2x10g" -> card(2, LaneParams.forBenches("card-2x10g")),
    "card-2x25g" -> card(2, LaneParams.forBenches("card-2x25g")),
    "card-2x10g-aqm" -> card(2, LaneParams.forBenches("card-2x10g-aqm")),
    "card-2x25g-aqm" -> card(2, LaneParams.forBenches("card-2x25g-aqm")),
    "card-4x10g" -> card(4, LaneParams.forBenches("card-4x10g")),
    "card-4x25g" -> wires(4, LaneParams.nic25g.copy(victims = 16)),
    "card-1x100g" -> wires(1, LaneParams.forBenches("nic100g-all")),
    "card-1x100g-aqm" -> wires(1, LaneParams.forBenches("nic100g-aqm")),
    "card-2x100g" -> wires(2, LaneParams.forBenches("nic100g-all")),
    "card-4x100g" -> wires(4, LaneParams.forBenches("nic100g-all"))
  )

  /** Suffixes of a preset's name: RX frames carry no timestamps; after that, the block's clock has 300 MHz. */
  val withoutTimestamps = "-nots"
  val at300MHz = "-300mhz"

  /** A supported preset or one for benches, by its name with suffixes. */
  def named(name: String): Option[NicParams] = {
    val untimed = name.stripSuffix(at300MHz)
    val base = untimed.stripSuffix(withoutTimestamps)
    forBenches.get(base).map { p =>
      val clocked = if (untimed == name) p else p.copy(clockNum = 10, clockDenom = 3)
      if (base == untimed) clocked else clocked.copy(timestamps = false)
    }
  }

  /** Presets for benches: buffers that a few frames fill, without markers; the same with the victim search; no
    * timestamps; more ports.
    */
  val forBenches: Map[String, NicParams] = byName ++ Map(
    "app10g-1-bare" -> app(1, few(LaneParams.nic10g)).copy(timestamps = false, ptpTime = false),
    "app10g-1-few" -> app(1, few(LaneParams.nic10g)),
    "app10g-2-few" -> app(2, few(LaneParams.nic10g)),
    "app10g-2-evict" -> NicParams(2, few(LaneParams.nic10g).copy(victims = 2)),
    "card-2x10g-few" -> card(
      2,
      few(LaneParams.forBenches("egresses-victims-few-cells")).withAqms.copy(cells = 1024)
    ),
    "app10g-3-few" -> NicParams(3, few(LaneParams.nic10g)),
    "app25g-2-few" -> app(2, few(LaneParams.nic25g)),
    "app100g-1-few" -> app(1, few(LaneParams.nic100g).copy(cells = 1024)),
    "card-1x100g-few" -> wires(1, few(LaneParams.forBenches("nic100g-all")).copy(cells = 1024))
  )
}
