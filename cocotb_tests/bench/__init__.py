"""What the cocotb benches share: building a block, random configurations, driving a Chisel bundle by name."""
