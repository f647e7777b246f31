package vermilion.control

import chisel3._
import chisel3.util._
import vermilion.control.{RegisterMap => R}
import vermilion.departure.{CodelSettings, DualPi2Settings, PieSettings, PieUnit}
import vermilion.fixed.Formats.LenBits

/** Takes the settings of the AQMs by sojourn time from the shadow record. A value of 0 that would be illegal counts as 1.
  *
  * @param shadow a register of the record; each that is asked for is stored in the build, and may be asked for once
  * @param ecn    whether ECN-capable packets are marked
  */
class ShadowAqms(shadow: R.Register => UInt, ecn: UInt) {
  private lazy val ofPair = shadow(R.ShadowDualpi2)
  private def atLeast1(x: UInt): UInt = Mux(x === 0.U, 1.U, x)

  def codel(to: CodelSettings): Unit = {
    val switches = shadow(R.ShadowCodel)
    to.on := R.ShadowCodel.on(switches)
    to.ceMask := R.ShadowCodel.ceMask(switches)
    to.ceSelector := R.ShadowCodel.ceSelector(switches)
    to.ecn := ecn
    to.target := shadow(R.ShadowCodelTarget)
    to.interval := shadow(R.ShadowCodelInterval)
    to.ceThreshold := shadow(R.ShadowCeThreshold)
    to.mtu := shadow(R.ShadowCodelMtu)(LenBits - 1, 0)
  }

  def pie(to: PieSettings): Unit = {
    val switches = shadow(R.ShadowPie)
    def gain(low: R.Register, high: R.Register): UInt = {
      val lowWord = shadow(low)
      Cat(shadow(high)(PieUnit.GainBits - 33, 0), lowWord)
    }
    to.interval := atLeast1(R.ShadowPie.interval(switches))
    to.pie.on := R.ShadowPie.on(switches)
    to.pie.byteMode := R.ShadowPie.byteMode(switches)
    to.pie.ecn := ecn
    to.pie.target := shadow(R.ShadowPieTarget)(PieUnit.DelayBits - 1, 0)
    to.pie.burst := shadow(R.ShadowPieBurst)(PieUnit.DelayBits - 1, 0)
    to.pie.alpha := gain(R.ShadowPieAlphaLow, R.ShadowPieAlphaHigh)
    to.pie.beta := gain(R.ShadowPieBetaLow, R.ShadowPieBetaHigh)
    to.pie.mtu := atLeast1(shadow(R.ShadowPieMtu)(PieUnit.MtuBits - 1, 0))
  }

  def dualPi2(to: DualPi2Settings): Unit = {
    val switches = ofPair
    to.interval := atLeast1(R.ShadowDualpi2.interval(switches))
    to.dualPi2.on := R.ShadowDualpi2.on(switches)
    to.dualPi2.dropOverload := R.ShadowDualpi2.dropOverload(switches)
    to.dualPi2.coupling := atLeast1(R.ShadowDualpi2.coupling(switches))
    to.dualPi2.target := shadow(R.ShadowDualpi2Target)(PieUnit.DelayBits - 1, 0)
    to.dualPi2.step := shadow(R.ShadowDualpi2Step)(PieUnit.DelayBits - 1, 0)
    to.dualPi2.alpha := shadow(R.ShadowDualpi2Alpha)
    to.dualPi2.beta := shadow(R.ShadowDualpi2Beta)
    to.dualPi2.most := shadow(R.ShadowDualpi2Most)
    to.dualPi2.mtu := atLeast1(shadow(R.ShadowDualpi2Mtu)(PieUnit.MtuBits - 1, 0))
  }

  /** The bits of the number of queues in the queue's group; 0: it has none. */
  def groupBits: UInt = shadow(R.ShadowFq)(3, 0)

  /** The ECN fields whose packets go to L: none if the queue is not under DualPI2. */
  def l4sMask: UInt = Mux(R.ShadowDualpi2.on(ofPair).asBool, R.ShadowDualpi2.l4sMask(ofPair), 0.U)
}
