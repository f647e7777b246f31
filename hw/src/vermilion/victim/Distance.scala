package vermilion.victim

import chisel3._
import chisel3.util._
import vermilion.control.DistanceConfig
import vermilion.fixed.Arithmetic.{saturate, wrap}
import vermilion.fixed.Delay
import vermilion.stream.Headers

object Distance {
  val Bits = 6
  val Max: Int = (1 << Bits) - 1

  /** Assumed length of a path, in hops, if its final TTL is not known. */
  val AssumedPathHops = 16

  /** Initial TTLs in common use. */
  val UsualTtls: Seq[Int] = Seq(32, 64, 128, 255)

  /** Quotient bits per cycle: `step` finds a digit from 0 to 3. */
  private val BitsPerStage = 2
  require(Bits % BitsPerStage == 0, s"Bits is $Bits; legal are multiples of the $BitsPerStage bits of a stage")

  /** Cycles from the inputs to `distance`. */
  val Latency: Int = 1 + Bits / BitsPerStage
}

/** Computes the distance of a packet, 0 to 63: the distance d of DDRED (paper P3, section IV).
  *
  * The packet with the smallest distance is the victim.
  *
  *   - Initial TTL: that of the TTL option, if `option` is on, the packet has the option, and its value is not below the packet's TTL.
  *     Otherwise, with `infer`, the least of 32, 64, 128 and 255 that is not below the packet's TTL. If neither gives one, or the packet is not IP: d = 63.
  *   - Hops: d = initial - TTL, at most 63.
  *   - With `share`, the share of the path covered in 64ths, {{{ d = floor(64 (initial - TTL) / (initial - final)) }}} at most 63. It needs an option
  *     with a final TTL that is not 0 and is below the initial one. For a packet without it the path counts as 16 hops long, so d = 4 hops.
  *
  * Rate: one packet per cycle. `distance` comes `Latency` cycles later. `config` is read in the same cycle as `headers`. The division is
  * restoring, on 8-bit numbers, two quotient bits per cycle. No stalls, no state. About 180 LUTs and 80 flip-flops.
  */
class Distance extends Module {
  import Distance._
  val io = IO(new Bundle {
    val headers = Input(new Headers)
    val config = Input(new DistanceConfig)
    val distance = Output(UInt(Bits.W))
  })
  private val h = io.headers

  // -- the initial TTL, the hops and the length of the path --
  private val isIp = h.isIp4 || h.isIp6
  private val byOption = isIp && io.config.option && h.hasTtlOption && h.initialTtl >= h.ttl
  private val known = byOption || (isIp && io.config.infer)
  private val inferred =
    UsualTtls.init.foldRight(UsualTtls.last.U(8.W))((usual, more) => Mux(h.ttl <= usual.U, usual.U, more))
  private val initial = Mux(byOption, h.initialTtl, inferred)
  private val pathKnown = byOption && h.finalTtl =/= 0.U && h.finalTtl < initial

  private val hops = Delay(initial - h.ttl)
  private val path = Delay(Mux(pathKnown, initial - h.finalTtl, AssumedPathHops.U))
  private val byShare = Delay(io.config.share)
  private val far = Delay(!known)

  // -- 64 hops / path: two bits at a time, the highest first --
  private class Division extends Bundle {
    val rest = UInt(8.W) // remainder, below `path`
    val path = UInt(8.W)
    val quotient = UInt(Bits.W)
    def step: Division = {
      val fourfold = Cat(rest, 0.U(BitsPerStage.W))
      val twice = fourfold -& Cat(path, 0.U(1.W))
      // Less 0 to 3 times the path.
      val less = Seq(fourfold, fourfold -& path, twice, wrap(twice - path, twice.getWidth))
      val fits = less.tail.map(!_.head(1)) // the difference is not below 0
      val next = Wire(new Division)
      next.path := path
      next.rest := Mux(fits(2), less(3), Mux(fits(1), less(2), Mux(fits(0), less(1), less(0))))(7, 0)
      next.quotient := Cat(quotient(Bits - 3, 0), fits(1), Mux(fits(1), fits(2), fits(0)))
      next
    }
  }
  private val start = Wire(new Division)
  start.rest := hops
  start.path := path
  start.quotient := 0.U
  private val divided = (0 until Bits / BitsPerStage).foldLeft(start) { (before, _) =>
    Delay(before.step)
  }
  private val direct = Delay(Mux(far || (byShare && hops >= path), Max.U, saturate(hops, Bits)), Latency - 1)
  private val divides = Delay(byShare && !far && hops < path, Latency - 1)
  io.distance := Mux(divides, divided.quotient, direct)
}
