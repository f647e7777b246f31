package vermilion.parse

/** What the parser must say, as plain code over bytes; written from the RFCs, not from the RTL. */
case class HeaderReference(
    isIp4: Boolean = false,
    isIp6: Boolean = false,
    l3Offset: Int = 14,
    dscp: Int = 0,
    ecn: Int = 0,
    ttl: Int = 0,
    proto: Int = 0,
    hasPorts: Boolean = false,
    srcPort: Int = 0,
    dstPort: Int = 0,
    isTcp: Boolean = false,
    tcpFlags: Int = 0,
    tcpSeq: Long = 0,
    tcpPayload: Boolean = false,
    vlan: Int = 0,
    ipBytes: Int = 0,
    srcAddr: BigInt = 0,
    dstAddr: BigInt = 0,
    isPtpType: Boolean = false
)

object HeaderReference {
  def parse(frame: Array[Int]): HeaderReference = {
    val limit = frame.length.min(128)
    def u8(i: Int): Int = if (i < limit) frame(i) else -1
    def u16(i: Int): Int = if (i + 1 < limit) frame(i) * 256 + frame(i + 1) else -1

    val typeAt = u16(12) match {
      case 0x88a8 if u16(16) == 0x8100 => 20
      case 0x8100                      => if (u16(16) == 0x8100) 20 else 16
      case _                           => 12
    }
    val ip = typeAt + 2
    def vlan: Int = typeAt match {
      case 20 => u16(14) % 4096 * 4096 + u16(18) % 4096
      case 16 => u16(14) % 4096
      case _  => 0
    }

    def number(at: Int, count: Int): BigInt = (at until at + count).foldLeft(BigInt(0))((n, i) => n * 256 + u8(i))

    /** Where the IP packet ends, by its own word and, where the frame is shorter than 128 bytes, by the frame. */
    def packetEnd: Int = {
      val claimed = if (u16(typeAt) == 0x0800) ip + u16(ip + 2) else ip + 40 + u16(ip + 4)
      if (frame.length < 128) claimed.min(frame.length) else claimed
    }

    def transport(base: HeaderReference, at: Int, proto: Int, later: Boolean): HeaderReference = {
      val named = base.copy(proto = proto)
      if (later || (proto != 6 && proto != 17) || at + 4 > limit) named
      else {
        val ported = named.copy(hasPorts = true, srcPort = u16(at), dstPort = u16(at + 2))
        if (proto != 6 || at + 14 > limit) ported
        else
          ported.copy(
            isTcp = true,
            tcpFlags = u8(at + 13),
            tcpSeq = u16(at + 4).toLong * 65536 + u16(at + 6),
            tcpPayload = u8(at + 12) / 16 >= 5 && packetEnd > at + u8(at + 12) / 16 * 4
          )
      }
    }

    def walk(base: HeaderReference, at: Int, number: Int, left: Int): HeaderReference = {
      val size = number match {
        case 0 | 43 | 60 => (u8(at + 1) + 1) * 8
        case 44          => 8
        case 51          => if (u8(at + 1) % 2 == 0) (u8(at + 1) + 2) * 4 else 0 // RFC 4302: multiples of 8 bytes
        case _           => 0
      }
      if (size == 0 || left == 0 || at + 8 > limit || at + size > limit) transport(base, at, number, later = false)
      else if (number == 44 && (u16(at + 2) >> 3) != 0) transport(base, at + 8, u8(at), later = true)
      else walk(base, at + size, u8(at), left - 1)
    }

    if (
      u16(typeAt) == 0x0800 && ip + 20 <= limit && u8(ip) / 16 == 4 && u8(ip) % 16 >= 5 && ip + u8(ip) % 16 * 4 <= limit
    )
      transport(
        HeaderReference(isIp4 = true, l3Offset = ip, dscp = u8(ip + 1) / 4, ecn = u8(ip + 1) % 4, ttl = u8(ip + 8))
          .copy(vlan = vlan, ipBytes = u16(ip + 2))
          .copy(srcAddr = number(ip + 12, 4), dstAddr = number(ip + 16, 4)),
        ip + u8(ip) % 16 * 4,
        u8(ip + 9),
        later = u16(ip + 6) % 8192 != 0
      )
    else if (u16(typeAt) == 0x86dd && ip + 40 <= limit && u8(ip) / 16 == 6) {
      val traffic = u16(ip) / 16 % 256
      val base = HeaderReference(isIp6 = true, l3Offset = ip, dscp = traffic / 4, ecn = traffic % 4, ttl = u8(ip + 7))
        .copy(vlan = vlan, ipBytes = if (u16(ip + 4) == 0) 0 else (u16(ip + 4) + 40).min(65535))
        .copy(srcAddr = number(ip + 8, 16), dstAddr = number(ip + 24, 16))
      walk(base, ip + 40, u8(ip + 6), 4)
    } else HeaderReference(isPtpType = u16(typeAt) == 0x88f7)
  }
}
