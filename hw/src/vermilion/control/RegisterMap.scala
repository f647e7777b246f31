// Generated from hw/regs/vermilion.rdl by sim/vermilion/generate/registers.py. Do not edit.
package vermilion.control

import chisel3._

/** Addresses and fields of the registers; what they mean: `docs/registers.md`. */
object RegisterMap {

  /** Bits `high` to `low` of a register. */
  final case class Field(high: Int, low: Int) {
    def apply(word: UInt): UInt = word(high, low)
  }

  /** A register, or an array of them: `X()` or `X(i, j)` is the address, `mask` has a 1 for every bit in use. */
  sealed class Register(base: Int, val mask: BigInt, strides: Int*) {
    def apply(index: Int*): Int = {
      require(index.size == strides.size, s"${index.size} indices given, ${strides.size} needed")
      base + index.zip(strides).map { case (i, stride) => i * stride }.sum
    }
  }

  object BlockType extends Register(0x0000, BigInt("ffffffff", 16)) {
    val block = Field(15, 0)
    val vendor = Field(31, 16)
  }

  object Version extends Register(0x0004, BigInt("ffffffff", 16)) {
    val minor = Field(15, 0)
    val major = Field(31, 16)
  }

  object NextBlock extends Register(0x0008, BigInt("ffffffff", 16)) {
    val offset = Field(31, 0)
  }

  object Dualpi2 extends Register(0x000c, BigInt("ffffffff", 16))

  object Queues extends Register(0x0010, BigInt("ffffffff", 16))

  object Cells extends Register(0x0014, BigInt("ffffffff", 16))

  object DataBits extends Register(0x0018, BigInt("ffffffff", 16))

  object Inputs extends Register(0x001c, BigInt("ffffffff", 16))

  object EwmaStages extends Register(0x0020, BigInt("ffffffff", 16))

  object MaxFrameBytes extends Register(0x0024, BigInt("ffffffff", 16))

  object Flows extends Register(0x0028, BigInt("ffffffff", 16))

  object Victims extends Register(0x002c, BigInt("ffffffff", 16))

  object Protect extends Register(0x0030, BigInt("ffffffff", 16))

  object Egresses extends Register(0x0034, BigInt("ffffffff", 16))

  object Codel extends Register(0x0038, BigInt("ffffffff", 16))

  object Pie extends Register(0x003c, BigInt("ffffffff", 16))

  object Control extends Register(0x0040, BigInt("3", 16)) {
    val departureUpdates = Field(0, 0)
    val clearStatistics = Field(1, 1)
  }

  object Status extends Register(0x0044, BigInt("71f", 16)) {
    val busy = Field(0, 0)
    val commitPending = Field(1, 1)
    val snapshotPending = Field(2, 2)
    val clearPending = Field(3, 3)
    val rulesPending = Field(4, 4)
    val badQueue = Field(8, 8)
    val memoryFailed = Field(9, 9)
    val badRule = Field(10, 10)
  }

  object RefreshesSkipped extends Register(0x0048, BigInt("ffffffff", 16)) {
    val count = Field(31, 0)
  }

  object TtlOption extends Register(0x004c, BigInt("ffff", 16)) {
    val ip4 = Field(7, 0)
    val ip6 = Field(15, 8)
  }

  object Seed extends Register(0x0050, BigInt("ffffffff", 16), 0x4)

  object PortCost extends Register(0x0060, BigInt("3f03ffff", 16)) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object PortBurstLow extends Register(0x0064, BigInt("ffffffff", 16))

  object PortBurstHigh extends Register(0x0068, BigInt("ff", 16))

  object PortEgress extends Register(0x006c, BigInt("7", 16))

  object ClassAddress extends Register(0x0070, BigInt("7f", 16)) {
    val address = Field(6, 0)
  }

  object ClassEntry extends Register(0x0074, BigInt("30fff", 16)) {
    val queue = Field(11, 0)
    val colour = Field(17, 16)
  }

  object Pause extends Register(0x0078, BigInt("ff", 16))

  object Flush extends Register(0x007c, BigInt("8fff00ff", 16)) {
    val egresses = Field(7, 0)
    val queue = Field(27, 16)
    val queueOn = Field(31, 31)
  }

  object QueueSelect extends Register(0x0080, BigInt("fff", 16)) {
    val queue = Field(11, 0)
  }

  object Commit extends Register(0x0084, BigInt("1", 16)) {
    val go = Field(0, 0)
  }

  object Snapshot extends Register(0x0088, BigInt("1", 16)) {
    val go = Field(0, 0)
  }

  object MarkSeed extends Register(0x0090, BigInt("ffffffff", 16), 0x4)

  object FlowSeed extends Register(0x00a0, BigInt("ffffffff", 16), 0x4)

  object FlowEvents extends Register(0x00c0, BigInt("ffffffff", 16), 0x4) {
    val count = Field(31, 0)
  }

  object Upsets extends Register(0x00e0, BigInt("ffffffff", 16), 0x4) {
    val count = Field(31, 0)
  }

  object Routes extends Register(0x00f0, BigInt("ffffffff", 16), 0x4)

  object ShadowFlags extends Register(0x0100, BigInt("777ffff", 16)) {
    val unit = Field(0, 0)
    val update = Field(1, 1)
    val ecn = Field(2, 2)
    val sizeWeight = Field(3, 3)
    val spacing = Field(5, 4)
    val strict = Field(6, 6)
    val markLate = Field(7, 7)
    val priority = Field(11, 8)
    val alpha = Field(15, 12)
    val maskGreen = Field(18, 16)
    val maskYellow = Field(22, 20)
    val maskRed = Field(26, 24)
  }

  object ShadowLimit extends Register(0x0104, BigInt("7ffffff", 16))

  object ShadowLimitPackets extends Register(0x0108, BigInt("7ffffff", 16))

  object ShadowLambda extends Register(0x010c, BigInt("3f00ffff", 16)) {
    val mant = Field(15, 0)
    val shift = Field(29, 24)
  }

  object ShadowInvMeanLen extends Register(0x0110, BigInt("3f00ffff", 16)) {
    val mant = Field(15, 0)
    val shift = Field(29, 24)
  }

  object ShadowWeight extends Register(0x0114, BigInt("1f0001ff", 16), 0x4) {
    val mant = Field(8, 0)
    val shift = Field(28, 24)
  }

  object ShadowQuantum extends Register(0x012c, BigInt("3ffff", 16))

  object ShadowCost extends Register(0x0130, BigInt("3f03ffff", 16)) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowBurstLow extends Register(0x0134, BigInt("ffffffff", 16))

  object ShadowBurstHigh extends Register(0x0138, BigInt("ff", 16))

  object ShadowDistance extends Register(0x013c, BigInt("1f030107", 16)) {
    val option = Field(0, 0)
    val infer = Field(1, 1)
    val share = Field(2, 2)
    val ttlOption = Field(8, 8)
    val victim = Field(16, 16)
    val victimByColour = Field(17, 17)
    val victimWindow = Field(28, 24)
  }

  object ShadowMarkerFlags extends Register(0x0140, BigInt("ffff7337", 16)) {
    val kind = Field(2, 0)
    val colourAware = Field(4, 4)
    val length = Field(5, 5)
    val out = Field(9, 8)
    val drop = Field(14, 12)
    val packet = Field(31, 16)
  }

  object ShadowMarkerCost extends Register(0x0144, BigInt("3f03ffff", 16), 0x4) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowMarkerBurstLow extends Register(0x014c, BigInt("ffffffff", 16), 0x8)

  object ShadowMarkerBurstHigh extends Register(0x0150, BigInt("fff", 16), 0x8)

  object ShadowMarkerLowThresholdLow extends Register(0x015c, BigInt("ffffffff", 16))

  object ShadowMarkerLowThresholdHigh extends Register(0x0160, BigInt("fff", 16))

  object ShadowMarkerHighThresholdLow extends Register(0x0164, BigInt("ffffffff", 16))

  object ShadowMarkerHighThresholdHigh extends Register(0x0168, BigInt("fff", 16))

  object ShadowMarkerDemote extends Register(0x016c, BigInt("3f03ffff", 16)) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowMarkerPromote extends Register(0x0170, BigInt("3f03ffff", 16)) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowMarkerPDrop extends Register(0x0174, BigInt("1ffff", 16))

  object ShadowMarkerMeterLow extends Register(0x0178, BigInt("ffffffff", 16))

  object ShadowMarkerMeterHigh extends Register(0x017c, BigInt("fff", 16))

  object ShadowMarkerRemark extends Register(0x0180, BigInt("13f", 16), 0x4) {
    val dscp = Field(5, 0)
    val on = Field(8, 8)
  }

  object ShadowMarkerFlow extends Register(0x018c, BigInt("ffffff", 16)) {
    val kind = Field(1, 0)
    val increase = Field(2, 2)
    val ack = Field(3, 3)
    val alpha = Field(7, 4)
    val ns = Field(15, 8)
    val na = Field(23, 16)
  }

  object ShadowMarkerFlowA0 extends Register(0x0190, BigInt("ffffff", 16))

  object ShadowMarkerFlowAges extends Register(0x0194, BigInt("ffffffff", 16)) {
    val idle = Field(15, 0)
    val halfOpen = Field(31, 16)
  }

  object ShadowIdleStepLow extends Register(0x0198, BigInt("ffffffff", 16))

  object ShadowIdleStepHigh extends Register(0x019c, BigInt("ffff", 16))

  object ShadowCodel extends Register(0x01a0, BigInt("ffff01", 16)) {
    val on = Field(0, 0)
    val ceMask = Field(15, 8)
    val ceSelector = Field(23, 16)
  }

  object ShadowCodelTarget extends Register(0x01a4, BigInt("ffffffff", 16))

  object ShadowCodelInterval extends Register(0x01a8, BigInt("ffffffff", 16))

  object ShadowCeThreshold extends Register(0x01ac, BigInt("ffffffff", 16))

  object ShadowCodelMtu extends Register(0x01b0, BigInt("7ffffff", 16))

  object ShadowFq extends Register(0x01bc, BigInt("f", 16))

  object ShadowPie extends Register(0x01c0, BigInt("3fff0003", 16)) {
    val on = Field(0, 0)
    val byteMode = Field(1, 1)
    val interval = Field(29, 16)
  }

  object ShadowPieTarget extends Register(0x01c4, BigInt("3ffffff", 16))

  object ShadowPieBurst extends Register(0x01c8, BigInt("3ffffff", 16))

  object ShadowPieAlphaLow extends Register(0x01cc, BigInt("ffffffff", 16))

  object ShadowPieAlphaHigh extends Register(0x01d0, BigInt("3", 16))

  object ShadowPieBetaLow extends Register(0x01d4, BigInt("ffffffff", 16))

  object ShadowPieBetaHigh extends Register(0x01d8, BigInt("3", 16))

  object ShadowPieMtu extends Register(0x01dc, BigInt("3ffff", 16))

  object ShadowDualpi2 extends Register(0x01e0, BigInt("3fffff0f", 16)) {
    val on = Field(0, 0)
    val dropOverload = Field(1, 1)
    val l4sMask = Field(3, 2)
    val coupling = Field(15, 8)
    val interval = Field(29, 16)
  }

  object ShadowDualpi2Target extends Register(0x01e4, BigInt("3ffffff", 16))

  object ShadowDualpi2Step extends Register(0x01e8, BigInt("3ffffff", 16))

  object ShadowDualpi2Alpha extends Register(0x01ec, BigInt("ffffffff", 16))

  object ShadowDualpi2Beta extends Register(0x01f0, BigInt("ffffffff", 16))

  object ShadowDualpi2Most extends Register(0x01f4, BigInt("ffffffff", 16))

  object ShadowDualpi2Mtu extends Register(0x01f8, BigInt("3ffff", 16))

  object ShadowColourCurveFlags extends Register(0x0200, BigInt("701", 16), 0x100, 0x40) {
    val on = Field(0, 0)
    val slope1One = Field(8, 8)
    val base2One = Field(9, 9)
    val slope2One = Field(10, 10)
  }

  object ShadowColourCurveMin extends Register(0x0204, BigInt("7ffffff", 16), 0x100, 0x40)

  object ShadowColourCurveMax extends Register(0x0208, BigInt("7ffffff", 16), 0x100, 0x40)

  object ShadowColourCurveEnd extends Register(0x020c, BigInt("7ffffff", 16), 0x100, 0x40)

  object ShadowColourCurveInv1 extends Register(0x0210, BigInt("3f03ffff", 16), 0x100, 0x40) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowColourCurveSlope1 extends Register(0x0214, BigInt("ffffffff", 16), 0x100, 0x40)

  object ShadowColourCurveInv2 extends Register(0x0218, BigInt("3f03ffff", 16), 0x100, 0x40) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowColourCurveBase2 extends Register(0x021c, BigInt("ffffffff", 16), 0x100, 0x40)

  object ShadowColourCurveSlope2 extends Register(0x0220, BigInt("ffffffff", 16), 0x100, 0x40)

  object ShadowColourCurveSquare2 extends Register(0x0224, BigInt("3f03ffff", 16), 0x100, 0x40) {
    val mant = Field(17, 0)
    val shift = Field(29, 24)
  }

  object ShadowColourEcnOwn extends Register(0x0280, BigInt("1", 16), 0x100) {
    val own = Field(0, 0)
  }

  object PoolSize extends Register(0x0500, BigInt("1fffff", 16))

  object PoolReserve extends Register(0x0520, BigInt("1fffff", 16), 0x4)

  object PoolCap extends Register(0x0540, BigInt("1fffff", 16), 0x4)

  object PoolUsed extends Register(0x0560, BigInt("ffffffff", 16), 0x4)

  object PoolMost extends Register(0x0580, BigInt("ffffffff", 16), 0x4)

  object PoolUsedTotal extends Register(0x05a0, BigInt("ffffffff", 16))

  object PoolMostTotal extends Register(0x05a4, BigInt("ffffffff", 16))

  object Reports extends Register(0x0600, BigInt("ffffffff", 16))

  object ReportEvery extends Register(0x0604, BigInt("ffff", 16))

  object ReportInterval extends Register(0x0608, BigInt("ffffffff", 16))

  object ReportBurst extends Register(0x060c, BigInt("ffffffff", 16))

  object ReportEthernet extends Register(0x0610, BigInt("ffffffff", 16), 0x4)

  object ReportEvents extends Register(0x0620, BigInt("ffffffff", 16), 0x4) {
    val count = Field(31, 0)
  }

  object ReportSelect extends Register(0x0630, BigInt("fffffff", 16)) {
    val reasons = Field(15, 0)
    val queue = Field(27, 16)
  }

  object Fq extends Register(0x0700, BigInt("ffffffff", 16))

  object Rules extends Register(0x0704, BigInt("ffffffff", 16))

  object FlowCollisionsLow extends Register(0x0710, BigInt("ffffffff", 16))

  object FlowCollisionsHigh extends Register(0x0714, BigInt("ffffffff", 16))

  object RuleSelect extends Register(0x0718, BigInt("fff", 16)) {
    val rule = Field(11, 0)
  }

  object RuleCommit extends Register(0x071c, BigInt("1", 16)) {
    val go = Field(0, 0)
  }

  object RuleCountsPacketsLow extends Register(0x0720, BigInt("ffffffff", 16))

  object RuleCountsPacketsHigh extends Register(0x0724, BigInt("ffffffff", 16))

  object RuleCountsBytesLow extends Register(0x0728, BigInt("ffffffff", 16))

  object RuleCountsBytesHigh extends Register(0x072c, BigInt("ffffffff", 16))

  object PortRange extends Register(0x0740, BigInt("ffffffff", 16), 0x4) {
    val low = Field(15, 0)
    val high = Field(31, 16)
  }

  object RuleValue extends Register(0x0780, BigInt("ffffffff", 16), 0x4)

  object RuleAction extends Register(0x07ac, BigInt("8f3f3fff", 16)) {
    val queue = Field(11, 0)
    val colour = Field(13, 12)
    val dscp = Field(21, 16)
    val setsQueue = Field(24, 24)
    val setsColour = Field(25, 25)
    val setsDscp = Field(26, 26)
    val drop = Field(27, 27)
    val on = Field(31, 31)
  }

  object RuleMask extends Register(0x07c0, BigInt("ffffffff", 16), 0x4)

  object RuleMarker extends Register(0x07ec, BigInt("80000fff", 16)) {
    val queue = Field(11, 0)
    val setsMarker = Field(31, 31)
  }

  object LostFramesLow extends Register(0x0800, BigInt("ffffffff", 16), 0x10)

  object LostFramesHigh extends Register(0x0804, BigInt("ffffffff", 16), 0x10)

  object LostBytesLow extends Register(0x0808, BigInt("ffffffff", 16), 0x10)

  object LostBytesHigh extends Register(0x080c, BigInt("ffffffff", 16), 0x10)

  object WindowColourArrivedPacketsLow extends Register(0x1000, BigInt("ffffffff", 16), 0x100)

  object WindowColourArrivedPacketsHigh extends Register(0x1004, BigInt("ffffffff", 16), 0x100)

  object WindowColourArrivedBytesLow extends Register(0x1008, BigInt("ffffffff", 16), 0x100)

  object WindowColourArrivedBytesHigh extends Register(0x100c, BigInt("ffffffff", 16), 0x100)

  object WindowColourEnqueuedPacketsLow extends Register(0x1010, BigInt("ffffffff", 16), 0x100)

  object WindowColourEnqueuedPacketsHigh extends Register(0x1014, BigInt("ffffffff", 16), 0x100)

  object WindowColourEnqueuedBytesLow extends Register(0x1018, BigInt("ffffffff", 16), 0x100)

  object WindowColourEnqueuedBytesHigh extends Register(0x101c, BigInt("ffffffff", 16), 0x100)

  object WindowColourEarlyPacketsLow extends Register(0x1020, BigInt("ffffffff", 16), 0x100)

  object WindowColourEarlyPacketsHigh extends Register(0x1024, BigInt("ffffffff", 16), 0x100)

  object WindowColourEarlyBytesLow extends Register(0x1028, BigInt("ffffffff", 16), 0x100)

  object WindowColourEarlyBytesHigh extends Register(0x102c, BigInt("ffffffff", 16), 0x100)

  object WindowColourForcedPacketsLow extends Register(0x1030, BigInt("ffffffff", 16), 0x100)

  object WindowColourForcedPacketsHigh extends Register(0x1034, BigInt("ffffffff", 16), 0x100)

  object WindowColourForcedBytesLow extends Register(0x1038, BigInt("ffffffff", 16), 0x100)

  object WindowColourForcedBytesHigh extends Register(0x103c, BigInt("ffffffff", 16), 0x100)

  object WindowColourTailPacketsLow extends Register(0x1040, BigInt("ffffffff", 16), 0x100)

  object WindowColourTailPacketsHigh extends Register(0x1044, BigInt("ffffffff", 16), 0x100)

  object WindowColourTailBytesLow extends Register(0x1048, BigInt("ffffffff", 16), 0x100)

  object WindowColourTailBytesHigh extends Register(0x104c, BigInt("ffffffff", 16), 0x100)

  object WindowColourNobufPacketsLow extends Register(0x1050, BigInt("ffffffff", 16), 0x100)

  object WindowColourNobufPacketsHigh extends Register(0x1054, BigInt("ffffffff", 16), 0x100)

  object WindowColourNobufBytesLow extends Register(0x1058, BigInt("ffffffff", 16), 0x100)

  object WindowColourNobufBytesHigh extends Register(0x105c, BigInt("ffffffff", 16), 0x100)

  object WindowColourBadPacketsLow extends Register(0x1060, BigInt("ffffffff", 16), 0x100)

  object WindowColourBadPacketsHigh extends Register(0x1064, BigInt("ffffffff", 16), 0x100)

  object WindowColourBadBytesLow extends Register(0x1068, BigInt("ffffffff", 16), 0x100)

  object WindowColourBadBytesHigh extends Register(0x106c, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeChosenPacketsLow extends Register(0x1070, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeChosenPacketsHigh extends Register(0x1074, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeChosenBytesLow extends Register(0x1078, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeChosenBytesHigh extends Register(0x107c, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeWrittenPacketsLow extends Register(0x1080, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeWrittenPacketsHigh extends Register(0x1084, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeWrittenBytesLow extends Register(0x1088, BigInt("ffffffff", 16), 0x100)

  object WindowColourCeWrittenBytesHigh extends Register(0x108c, BigInt("ffffffff", 16), 0x100)

  object WindowColourSentPacketsLow extends Register(0x1090, BigInt("ffffffff", 16), 0x100)

  object WindowColourSentPacketsHigh extends Register(0x1094, BigInt("ffffffff", 16), 0x100)

  object WindowColourSentBytesLow extends Register(0x1098, BigInt("ffffffff", 16), 0x100)

  object WindowColourSentBytesHigh extends Register(0x109c, BigInt("ffffffff", 16), 0x100)

  object WindowColourPolicedPacketsLow extends Register(0x10a0, BigInt("ffffffff", 16), 0x100)

  object WindowColourPolicedPacketsHigh extends Register(0x10a4, BigInt("ffffffff", 16), 0x100)

  object WindowColourPolicedBytesLow extends Register(0x10a8, BigInt("ffffffff", 16), 0x100)

  object WindowColourPolicedBytesHigh extends Register(0x10ac, BigInt("ffffffff", 16), 0x100)

  object WindowColourEvictedPacketsLow extends Register(0x10b0, BigInt("ffffffff", 16), 0x100)

  object WindowColourEvictedPacketsHigh extends Register(0x10b4, BigInt("ffffffff", 16), 0x100)

  object WindowColourEvictedBytesLow extends Register(0x10b8, BigInt("ffffffff", 16), 0x100)

  object WindowColourEvictedBytesHigh extends Register(0x10bc, BigInt("ffffffff", 16), 0x100)

  object WindowColourFlushedPacketsLow extends Register(0x10c0, BigInt("ffffffff", 16), 0x100)

  object WindowColourFlushedPacketsHigh extends Register(0x10c4, BigInt("ffffffff", 16), 0x100)

  object WindowColourFlushedBytesLow extends Register(0x10c8, BigInt("ffffffff", 16), 0x100)

  object WindowColourFlushedBytesHigh extends Register(0x10cc, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureDroppedPacketsLow extends Register(0x10d0, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureDroppedPacketsHigh extends Register(0x10d4, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureDroppedBytesLow extends Register(0x10d8, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureDroppedBytesHigh extends Register(0x10dc, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureMarkedPacketsLow extends Register(0x10e0, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureMarkedPacketsHigh extends Register(0x10e4, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureMarkedBytesLow extends Register(0x10e8, BigInt("ffffffff", 16), 0x100)

  object WindowColourDepartureMarkedBytesHigh extends Register(0x10ec, BigInt("ffffffff", 16), 0x100)

  object WindowLatencyLow extends Register(0x1400, BigInt("ffffffff", 16), 0x8)

  object WindowLatencyHigh extends Register(0x1404, BigInt("ffffffff", 16), 0x8)

  object WindowBacklogBytes extends Register(0x1500, BigInt("ffffffff", 16))

  object WindowBacklogPackets extends Register(0x1504, BigInt("ffffffff", 16))

  object WindowMaxBytes extends Register(0x1508, BigInt("ffffffff", 16))

  object WindowMaxPackets extends Register(0x150c, BigInt("ffffffff", 16))

  object WindowAverageLow extends Register(0x1510, BigInt("ffffffff", 16), 0x8)

  object WindowAverageHigh extends Register(0x1514, BigInt("ffffffff", 16), 0x8)

  object WindowTimeLow extends Register(0x1528, BigInt("ffffffff", 16))

  object WindowTimeHigh extends Register(0x152c, BigInt("ffffffff", 16))

  object WindowQueue extends Register(0x1530, BigInt("ffffffff", 16))

  object WindowMarkedLow extends Register(0x1540, BigInt("ffffffff", 16), 0x8)

  object WindowMarkedHigh extends Register(0x1544, BigInt("ffffffff", 16), 0x8)

  object WindowPushOutsLow extends Register(0x15a0, BigInt("ffffffff", 16))

  object WindowPushOutsHigh extends Register(0x15a4, BigInt("ffffffff", 16))

  object WindowStaleLow extends Register(0x15a8, BigInt("ffffffff", 16))

  object WindowStaleHigh extends Register(0x15ac, BigInt("ffffffff", 16))

  object WindowLostDistanceLow extends Register(0x1600, BigInt("ffffffff", 16), 0x8)

  object WindowLostDistanceHigh extends Register(0x1604, BigInt("ffffffff", 16), 0x8)

  object WindowVictimDistanceLow extends Register(0x1800, BigInt("ffffffff", 16), 0x8)

  object WindowVictimDistanceHigh extends Register(0x1804, BigInt("ffffffff", 16), 0x8)
}
