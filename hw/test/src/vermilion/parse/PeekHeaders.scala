package vermilion.parse

import chisel3.simulator.PeekPokeAPI
import vermilion.stream.Headers

/** Reads a `Headers` port as the reference's case class. */
object PeekHeaders extends PeekPokeAPI {
  def apply(h: Headers): HeaderReference = HeaderReference(
    h.isIp4.peek().litToBoolean,
    h.isIp6.peek().litToBoolean,
    h.l3Offset.peek().litValue.toInt,
    h.dscp.peek().litValue.toInt,
    h.ecn.peek().litValue.toInt,
    h.ttl.peek().litValue.toInt,
    h.proto.peek().litValue.toInt,
    h.hasPorts.peek().litToBoolean,
    h.srcPort.peek().litValue.toInt,
    h.dstPort.peek().litValue.toInt,
    h.isTcp.peek().litToBoolean,
    h.tcpFlags.peek().litValue.toInt,
    h.tcpSeq.peek().litValue.toLong,
    h.tcpPayload.peek().litToBoolean,
    h.vlan.peek().litValue.toInt,
    h.ipBytes.peek().litValue.toInt,
    h.srcAddr.peek().litValue,
    h.dstAddr.peek().litValue,
    h.isPtpType.peek().litToBoolean
  )
}
