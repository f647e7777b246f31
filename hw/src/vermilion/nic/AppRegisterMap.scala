// Generated from hw/regs/app.rdl by sim/vermilion/generate/registers.py. Do not edit.
package vermilion.nic

import chisel3._

/** Addresses and fields of the registers; what they mean: `docs/app-registers.md`. */
object AppRegisterMap {

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

  object Ports extends Register(0x0010, BigInt("ffffffff", 16))

  object Lanes extends Register(0x0014, BigInt("ffffffff", 16))

  object DataBits extends Register(0x0018, BigInt("ffffffff", 16))

  object Features extends Register(0x001c, BigInt("7", 16)) {
    val hostLanes = Field(0, 0)
    val timestamps = Field(1, 1)
    val ptpTime = Field(2, 2)
  }

  object ClockNum extends Register(0x0020, BigInt("ffffffff", 16))

  object ClockDenom extends Register(0x0024, BigInt("ffffffff", 16))

  object StatIds extends Register(0x0028, BigInt("ffffffff", 16))

  object Control extends Register(0x0040, BigInt("1", 16)) {
    val timeSource = Field(0, 0)
  }

  object Status extends Register(0x0044, BigInt("1", 16)) {
    val ptpLocked = Field(0, 0)
  }

  object NowLow extends Register(0x0048, BigInt("ffffffff", 16))

  object NowHigh extends Register(0x004c, BigInt("ffff", 16))

  object Statistics extends Register(0x0050, BigInt("10fff", 16)) {
    val base = Field(11, 0)
    val enable = Field(16, 16)
  }

  object PortRoute extends Register(0x0100, BigInt("301", 16), 0x80) {
    val tx = Field(0, 0)
    val rx = Field(9, 8)
  }

  object PortCompletion extends Register(0x0104, BigInt("1", 16), 0x80) {
    val atEnqueue = Field(0, 0)
  }

  object PortRouteInEffect extends Register(0x0108, BigInt("10301", 16), 0x80) {
    val tx = Field(0, 0)
    val rx = Field(9, 8)
    val waits = Field(16, 16)
  }

  object PortWays extends Register(0x010c, BigInt("ffffffff", 16), 0x80) {
    val wireLane = Field(7, 0)
    val wireEgress = Field(15, 8)
    val hostLane = Field(23, 16)
    val hostEgress = Field(31, 24)
  }

  object PortTakenLow extends Register(0x0110, BigInt("ffffffff", 16), 0x80)

  object PortTakenHigh extends Register(0x0114, BigInt("ffffffff", 16), 0x80)

  object PortForDropLow extends Register(0x0118, BigInt("ffffffff", 16), 0x80)

  object PortForDropHigh extends Register(0x011c, BigInt("ffffffff", 16), 0x80)

  object PortForEvictionLow extends Register(0x0120, BigInt("ffffffff", 16), 0x80)

  object PortForEvictionHigh extends Register(0x0124, BigInt("ffffffff", 16), 0x80)

  object PortAtEnqueueLow extends Register(0x0128, BigInt("ffffffff", 16), 0x80)

  object PortAtEnqueueHigh extends Register(0x012c, BigInt("ffffffff", 16), 0x80)

  object PortOfMacLow extends Register(0x0130, BigInt("ffffffff", 16), 0x80)

  object PortOfMacHigh extends Register(0x0134, BigInt("ffffffff", 16), 0x80)

  object PortPtpLow extends Register(0x0138, BigInt("ffffffff", 16), 0x80)

  object PortPtpHigh extends Register(0x013c, BigInt("ffffffff", 16), 0x80)

  object PortForwardedLow extends Register(0x0140, BigInt("ffffffff", 16), 0x80)

  object PortForwardedHigh extends Register(0x0144, BigInt("ffffffff", 16), 0x80)

  object PortRxLostLow extends Register(0x0148, BigInt("ffffffff", 16), 0x80)

  object PortRxLostHigh extends Register(0x014c, BigInt("ffffffff", 16), 0x80)

  object PortRxCutLow extends Register(0x0150, BigInt("ffffffff", 16), 0x80)

  object PortRxCutHigh extends Register(0x0154, BigInt("ffffffff", 16), 0x80)

  object PortRxDroppedLow extends Register(0x0158, BigInt("ffffffff", 16), 0x80)

  object PortRxDroppedHigh extends Register(0x015c, BigInt("ffffffff", 16), 0x80)
}
