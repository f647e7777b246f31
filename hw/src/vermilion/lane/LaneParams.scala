package vermilion.lane

import chisel3.util.log2Ceil
import vermilion.fixed.MemoryKind
import vermilion.control.TokenKind

/** The build parameters of a lane. They define its area, and no register changes them.
  *
  * @param dataBits      width of every AXI-Stream, 64, 128 or 512
  * @param inputs        number of AXI-Stream inputs, at least 1
  * @param queues        number of queues of all egresses together, 2 to 1024; a queue's number is `{egress, queue}`
  * @param egresses      number of AXI-Stream outputs, 1, 2, 4 or 8; each has a scheduler and the same number of queues
  * @param cells         64-byte cells in the shared buffer, a power of two
  * @param maxFrameBytes longest frame stored; longer frames are counted and dropped completely
  * @param stallable     for each input, whether `ready` may fall. The receive side of a port cannot be stalled: its `ready` is always 1, and it has
  *                      priority over inputs that can be stalled. A frame that finds no place is left out completely and counted
  * @param flows         flows in the table of the flow markers, a power of two; 0: no flow markers, and a packet that its flow should mark is
  *                      yellow
  * @param victims       queues 0 to victims - 1 can drop the nearest packet instead of the arriving one (victim/VictimPipeline.scala), a power
  *                      of two; 0: none can, and the search is not built. The search makes a verdict 3 cycles later
  * @param codel         each packet that is chosen is judged by its queue's CoDel and ce_threshold before it is sent
  *                      (departure/DepartureVerdicts.scala). It departs 3 cycles later
  * @param pie           queues can decide by PIE on arrival (departure/PieQueues.scala)
  * @param dualpi2       pairs of queues, 2 i and 2 i + 1, can decide by DualPI2 as packets are chosen (departure/DualPi2Queues.scala); only with `codel`
  * @param reports drops and marks can be reported, each as a frame of a stream (report/ReportStream.scala). The cells of packets that are dropped on arrival
  *                return to the free list 64 cycles later
  * @param fq            groups of queues hold flows, by a hash of the packet's flow (classify/FlowGroups.scala), and new flows are served before old ones
  *                      (schedule/KeptPlaces.scala); only with `codel`
  * @param rules         rules by any header fields, in front of the classes of a packet's DSCP (classify/RuleTable.scala): 0, none, or a power of two from 16
  *                      to 256. A packet is decided 4 cycles later
  * @param heads         with the victim search, the most packets in the head of a queue. They belong to the scheduler and are never victims
  *                      (victim/VictimQueues.scala), 4, 8 or 16; None: 8 at 512 bits, else 4
  * @param protect       links, chains, queue entries and the queues' records are stored as codewords that correct one wrong bit and detect two, and
  *                      are scrubbed (protect/ScrubbedRam.scala). No latency changes, but the inputs open only when all are cleared, `cells`
  *                      cycles after a reset. Not with the victim search
  * @param userBits      bits that arrive with a frame's last beat, leave with all of its beats, and appear in `fates` (lane/FrameUsers.scala);
  *                      0: none, and their logic is not built
  * @param evictedBits   number of lowest bits of `user` that are available for an evicted frame; None: all
  * @param routeInUser   a frame's egress is in the lowest bits of its `user`, and the registers `routes` have no effect
  * @param nextBlock     the Next pointer of the lane's register block: the start of the next block in the same BAR, 0 if it is the last
  * @param tokenKinds    token bucket markers that are built; a packet that another kind should mark keeps its colour. The model has all kinds,
  *                      so the builds of the simulator have them too
  * @param ultraRam      large memories are in UltraRAM; false for devices without it: they are in block RAM
  */
case class LaneParams(
    dataBits: Int = 64,
    inputs: Int = 1,
    queues: Int = 16,
    cells: Int = 4096,
    maxFrameBytes: Int = 9728,
    stallable: Seq[Boolean] = Seq(false),
    flows: Int = 4096,
    victims: Int = 0,
    protect: Boolean = false,
    userBits: Int = 0,
    nextBlock: BigInt = 0,
    tokenKinds: Set[TokenKind] = TokenKind.all,
    egresses: Int = 1,
    ultraRam: Boolean = true,
    routeInUser: Boolean = false,
    evictedBits: Option[Int] = None,
    heads: Option[Int] = None,
    codel: Boolean = false,
    pie: Boolean = false,
    dualpi2: Boolean = false,
    reports: Boolean = false,
    fq: Boolean = false,
    rules: Int = 0
) {
  require(Seq(64, 128, 512).contains(dataBits), s"dataBits is $dataBits; legal are 64, 128 and 512")
  require(inputs >= 1 && inputs <= 16, s"inputs is $inputs; legal are 1 to 16")
  require(queues >= 2 && queues <= 1024, s"queues is $queues; legal are 2 to 1024")
  require(Seq(1, 2, 4, 8).contains(egresses), s"egresses is $egresses; legal are 1, 2, 4 and 8")
  require(
    egresses == 1 || queues >= 2 * egresses && (queues & (queues - 1)) == 0,
    s"queues is $queues with $egresses egresses; legal are powers of two, with 2 queues or more for each egress"
  )
  require(
    cells >= 256 && cells <= 1048576 && (cells & (cells - 1)) == 0,
    s"cells is $cells; legal are powers of two from 256 to 1048576"
  )
  require(
    maxFrameBytes >= 1522 && maxFrameBytes <= 16320,
    s"maxFrameBytes is $maxFrameBytes; legal are 1522 to 16320"
  )
  require(
    stallable.size == inputs,
    s"stallable has ${stallable.size} entries for $inputs inputs; legal is one entry for each input, true if it can be stalled"
  )

  require(
    flows == 0 || flows >= 256 && flows <= 65536 && (flows & (flows - 1)) == 0,
    s"flows is $flows; legal are 0 (no flow markers) and powers of two from 256 to 65536"
  )

  require(
    victims == 0 || victims >= 1 && victims <= queues && (victims & (victims - 1)) == 0,
    s"victims is $victims; legal are 0 (no victim search) and powers of two up to the $queues queues"
  )

  for (h <- heads) require(Seq(4, 8, 16).contains(h), s"heads is $h; legal are 4, 8 and 16")
  require(
    egresses == 1 || victims == 0 || victims == queues,
    s"victims is $victims with $egresses egresses; legal are 0 and $queues, all queues"
  )

  require(
    !protect || victims == 0,
    s"protect is $protect with $victims victims; the memories of the victim search are not protected, legal is victims = 0"
  )

  for ((is, name, aqm) <- Seq((codel, "codel", "CoDel"), (pie, "pie", "PIE")))
    require(
      !protect || !is,
      s"protect is $protect with $name $is; the memories of $aqm are not protected, legal is $name = false"
    )

  require(
    !dualpi2 || codel,
    s"dualpi2 is $dualpi2 with codel $codel; packets get a verdict at departure only with codel, legal is codel = true"
  )
  require(
    !dualpi2 || queues % (2 * egresses) == 0,
    s"dualpi2 is $dualpi2 with $queues queues and $egresses egresses; legal is an even number of queues for each egress"
  )

  require(
    !reports || !protect,
    s"reports is $reports with protect $protect; the memories of reports are not protected, legal is reports = false"
  )

  require(!fq || codel, s"fq is $fq with codel $codel; FQ-CoDel needs both, legal is codel = true")
  require(
    !fq || (queues & (queues - 1)) == 0,
    s"fq is $fq with $queues queues; legal is a power of two"
  )

  require(
    rules == 0 || rules >= 16 && rules <= 256 && (rules & (rules - 1)) == 0,
    s"rules is $rules; legal are 0 (no rules) and powers of two from 16 to 256"
  )
  require(
    !protect || rules == 0,
    s"protect is $protect with $rules rules; the memories of rules are not protected, legal is rules = 0"
  )

  require(userBits >= 0 && userBits <= 128, s"userBits is $userBits; legal are 0 to 128")
  require(
    evictedBits.forall(bits => bits >= 0 && bits <= userBits),
    s"evictedBits is ${evictedBits.mkString}; legal are 0 to $userBits, the bits of `user`"
  )

  require(
    nextBlock >= 0 && nextBlock < (BigInt(1) << 32) && nextBlock % 4 == 0,
    s"nextBlock is $nextBlock; legal are multiples of 4 below 2^32"
  )

  val queueBits: Int = log2Ceil(queues)
  val egressBits: Int = log2Ceil(egresses)
  require(
    !routeInUser || userBits >= egressBits,
    s"userBits is $userBits with routeInUser; legal are $egressBits and more, the bits of an egress"
  )

  /** The lane with every AQM, groups of flows and reports. */
  def withAqms: LaneParams = copy(codel = true, pie = true, dualpi2 = true, fq = true, reports = true)

  /** The lane with curves alone. */
  def withoutAqms: LaneParams = copy(codel = false, pie = false, dualpi2 = false, fq = false, reports = false)

  /** The parameters for the scheduler of one egress, with only its own queues. */
  def ofOneEgress: LaneParams = if (egresses == 1) this
  else copy(queues = queues / egresses, egresses = 1, victims = victims.min(queues / egresses))
  val cellBits: Int = log2Ceil(cells)

  /** [[heads]], if the lane has the victim search. A port of 512 bits can take a packet in every cycle; its place is filled again about 8 cycles later. */
  val headPlaces: Int = heads.getOrElse(if (dataBits == 512) 8 else 4)

  /** Bits that identify a packet within its queue: by its head cell, or by its place in the head of the queue. */
  lazy val nameBits: Int = if (victims == 0) cellBits else log2Ceil(headPlaces)

  /** The kind of a memory of this depth and width, if it may be large. */
  def largeMemory(depth: Int, width: Int): MemoryKind = MemoryKind.large(depth, width, ultraRam)
  val inputBits: Int = log2Ceil(inputs).max(1)
  val ruleBits: Int = log2Ceil(rules.max(1))

  /** Bits that count the cells of one packet. */
  val chainBits: Int = log2Ceil(16320 / 64 + 2)
}

/** Presets that are tested and supported. In the `nic` presets, input 0 is the port's receive side and input 1 the host. */
object LaneParams {
  val lab: LaneParams = LaneParams(victims = 16, rules = 64).withAqms
  val nic10g: LaneParams = LaneParams(dataBits = 64, inputs = 2, stallable = Seq(false, true))
  val nic25g: LaneParams = LaneParams(dataBits = 128, inputs = 2, stallable = Seq(false, true))
  val nic100g: LaneParams = LaneParams(dataBits = 512, inputs = 2, cells = 16384, stallable = Seq(false, true))
  val byName: Map[String, LaneParams] =
    Map("lab" -> lab, "nic10g" -> nic10g, "nic25g" -> nic25g, "nic100g" -> nic100g)

  /** Presets for benches: buffers that a few frames fill, without the victim search and with it in some queues; one frame per cycle with the search;
    * all algorithms in 16 and in 1,024 queues; no search; the lane of the experiments; and protected memories.
    */
  val forBenches: Map[String, LaneParams] = {
    val card = LaneParams(
      inputs = 4,
      egresses = 4,
      queues = 64,
      cells = 8192,
      flows = 8192,
      victims = 64,
      stallable = Seq(false, true, false, true)
    )
    val egressesFew = card.copy(queues = 16, cells = 256, flows = 4096, victims = 0)
    val (labFew, nicFew) =
      (
        lab.copy(cells = 256, victims = 0, rules = 0).withoutAqms,
        nic100g.copy(cells = 256)
      )
    byName ++ Map(
      "lab-few-cells" -> labFew,
      "nic100g-few-cells" -> nicFew,
      // The search opens 2,048 cycles after a reset, later than the rest of the lane.
      "lab-victims-few-cells" -> labFew.copy(victims = 8),
      "nic100g-victims-few-cells" -> nicFew.copy(victims = 2),
      "nic100g-victims" -> nic100g.copy(cells = 1024, victims = 4),
      "nic10g-all" -> nic10g.copy(victims = 16),
      // Runts on both inputs exceed the decision rate of a lane, so some are lost.
      "nic10g-two-ports" -> nic10g.copy(stallable = Seq(false, false)),
      "nic100g-all" -> nic100g.copy(victims = 16),
      "nic100g-aqm" -> nic100g.copy(victims = 16).withAqms,
      "nic100g-all-1024" -> nic100g.copy(queues = 1024, victims = 16),
      // The only lane of a card, for both directions: cards with two ports, one port and four ports (nic/NicParams.scala).
      "card-2x10g" -> card,
      "card-2x25g" -> card.copy(dataBits = 128),
      "card-2x10g-aqm" -> card.withAqms,
      "card-2x25g-aqm" -> card.copy(dataBits = 128).withAqms,
      "card-1x25g" -> card.copy(
        dataBits = 128,
        inputs = 2,
        egresses = 2,
        queues = 32,
        victims = 32,
        stallable = Seq(false, true)
      ),
      "card-4x10g" -> card.copy(
        inputs = 8,
        egresses = 8,
        queues = 128,
        victims = 128,
        stallable = Seq.fill(4)(Seq(false, true)).flatten
      ),
      // Several egresses; each input can be routed to any of them.
      "lab-egresses" -> egressesFew.copy(cells = 1024, queues = 32, victims = 32, rules = 64).withAqms,
      "egresses-few-cells" -> egressesFew,
      "egresses-aqm-few-cells" -> egressesFew.withAqms,
      "egresses-victims-few-cells" -> egressesFew.copy(victims = 16),
      "lab-without-victims" -> lab.copy(victims = 0, rules = 0).withoutAqms,
      // A cell in a beat: with CoDel, with PIE; and the lane of the experiments with both.
      "nic100g-codel" -> nic100g.copy(codel = true),
      "nic100g-pie" -> nic100g.copy(pie = true),
      "nic100g-rules" -> nic100g.copy(rules = 64),
      "nic100g-reports" -> nic100g.copy(codel = true, reports = true),
      "network-aqm" -> LaneParams(dataBits = 512, cells = 16384, heads = Some(4)).withAqms.copy(reports = false),
      "network-flows" -> LaneParams(dataBits = 512, cells = 16384, queues = 1024, heads = Some(4)).withAqms
        .copy(reports = false),
      // For the networks of the experiments: one input of 512 bits that cannot be stalled, as in the model's session. Its ports are slow.
      // Short heads leave more victims.
      "network" -> LaneParams(dataBits = 512, cells = 16384, heads = Some(4)),
      // The records per queue are in block RAM; in the other `lab` presets they are in LUTs.
      "lab-128-queues" -> lab.copy(queues = 128),
      "lab-protected-few-cells" -> labFew.copy(protect = true, flows = 0, tokenKinds = Set.empty),
      "nic100g-protected-few-cells" -> nicFew.copy(protect = true, flows = 0, tokenKinds = Set.empty)
    )
  }
}
