package vermilion.parse

import chisel3._
import chisel3.util._

/** The outer VLAN tag of a frame, type 0x8100 or 0x88a8 (IEEE 802.1Q). Frames without IP have it, too, and so has a lone 0x88a8. Without a tag all fields are 0. */
class OuterTag extends Bundle {
  val present = Bool()
  val pcp = UInt(3.W)
  val vlan = UInt(12.W) // 0 in a priority tag
}

object OuterTag {

  /** Reads it from a frame's first 16 bytes or more, byte 0 in bits 7..0. `bytes` of them belong to the frame; a tag that the frame's end cuts is none. */
  def apply(data: UInt, bytes: UInt): OuterTag = {
    def wordAt(i: Int) = Cat(data(8 * i + 7, 8 * i), data(8 * i + 15, 8 * i + 8))
    val out = Wire(new OuterTag)
    val present = (wordAt(12) === 0x8100.U || wordAt(12) === 0x88a8.U) && bytes >= 16.U
    val control = wordAt(14) & Fill(16, present)
    out.present := present
    out.pcp := control(15, 13)
    out.vlan := control(11, 0)
    out
  }
}
