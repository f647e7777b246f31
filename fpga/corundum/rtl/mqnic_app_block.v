// The application block of a Corundum NIC with Vermilion in it: the parameters and ports that Corundum's core gives its
// block (named in ../app_interface.csv), round `vermilion_app`, which is generated and has fixed widths.
//
// Packed vectors have port 0 (or interface 0) in their low bits. tuser of TX is {tag[15:0], bad}, of RX
// {timestamp[95:0], bad}, or bad alone without PTP timestamps. `vermilion_app_params.vh` is generated beside
// `vermilion_app` and says what that was built for; `vermilion_app_check` holds the NIC's parameters against it.
//
//   host control (BAR 2)   to the block, as many address bits as it decodes: above them the same registers come again
//   sync stage             through the block
//   statistics             from the block
//   direct, interface      passed on as they are, and JTAG
//   NIC control, DMA, DDR, HBM, GPIO   not used

`resetall
`default_nettype none
`include "vermilion_app_params.vh"
// verilator lint_off UNUSEDPARAM
// verilator lint_off UNUSEDSIGNAL

module mqnic_app_block #(
    // Structure
    parameter IF_COUNT = 1, PORTS_PER_IF = 1, SCHED_PER_IF = PORTS_PER_IF, PORT_COUNT = IF_COUNT*PORTS_PER_IF,
    // Clocks and PTP
    parameter CLK_PERIOD_NS_NUM = 4, CLK_PERIOD_NS_DENOM = 1, PTP_CLK_PERIOD_NS_NUM = 4, PTP_CLK_PERIOD_NS_DENOM = 1,
    parameter PTP_TS_WIDTH = 96, PTP_PORT_CDC_PIPELINE = 0, PTP_PEROUT_ENABLE = 0, PTP_PEROUT_COUNT = 1,
    // Ports of the NIC
    parameter PTP_TS_ENABLE = 1, TX_TAG_WIDTH = 16, MAX_TX_SIZE = 9214, MAX_RX_SIZE = 9214,
    // Memories
    parameter DDR_CH = 1, DDR_ENABLE = 0, DDR_GROUP_SIZE = 1,
    parameter AXI_DDR_DATA_WIDTH = 256, AXI_DDR_ADDR_WIDTH = 32, AXI_DDR_STRB_WIDTH = (AXI_DDR_DATA_WIDTH/8),
    parameter AXI_DDR_ID_WIDTH = 8, AXI_DDR_AWUSER_ENABLE = 0, AXI_DDR_AWUSER_WIDTH = 1, AXI_DDR_WUSER_ENABLE = 0,
    parameter AXI_DDR_WUSER_WIDTH = 1, AXI_DDR_BUSER_ENABLE = 0, AXI_DDR_BUSER_WIDTH = 1, AXI_DDR_ARUSER_ENABLE = 0,
    parameter AXI_DDR_ARUSER_WIDTH = 1, AXI_DDR_RUSER_ENABLE = 0, AXI_DDR_RUSER_WIDTH = 1, AXI_DDR_MAX_BURST_LEN = 256,
    parameter AXI_DDR_NARROW_BURST = 0, AXI_DDR_FIXED_BURST = 0, AXI_DDR_WRAP_BURST = 0,
    parameter HBM_CH = 1, HBM_ENABLE = 0, HBM_GROUP_SIZE = 1,
    parameter AXI_HBM_DATA_WIDTH = 256, AXI_HBM_ADDR_WIDTH = 32, AXI_HBM_STRB_WIDTH = (AXI_HBM_DATA_WIDTH/8),
    parameter AXI_HBM_ID_WIDTH = 8, AXI_HBM_AWUSER_ENABLE = 0, AXI_HBM_AWUSER_WIDTH = 1, AXI_HBM_WUSER_ENABLE = 0,
    parameter AXI_HBM_WUSER_WIDTH = 1, AXI_HBM_BUSER_ENABLE = 0, AXI_HBM_BUSER_WIDTH = 1, AXI_HBM_ARUSER_ENABLE = 0,
    parameter AXI_HBM_ARUSER_WIDTH = 1, AXI_HBM_RUSER_ENABLE = 0, AXI_HBM_RUSER_WIDTH = 1, AXI_HBM_MAX_BURST_LEN = 256,
    parameter AXI_HBM_NARROW_BURST = 0, AXI_HBM_FIXED_BURST = 0, AXI_HBM_WRAP_BURST = 0,
    // What of the block is in use
    parameter APP_ID = 32'h12340001, APP_CTRL_ENABLE = 1, APP_DMA_ENABLE = 1, APP_AXIS_DIRECT_ENABLE = 1,
    parameter APP_AXIS_SYNC_ENABLE = 1, APP_AXIS_IF_ENABLE = 1, APP_STAT_ENABLE = 1,
    parameter APP_GPIO_IN_WIDTH = 32, APP_GPIO_OUT_WIDTH = 32,
    // DMA
    parameter DMA_ADDR_WIDTH = 64, DMA_IMM_ENABLE = 0, DMA_IMM_WIDTH = 32, DMA_LEN_WIDTH = 16, DMA_TAG_WIDTH = 16,
    parameter RAM_SEL_WIDTH = 4, RAM_ADDR_WIDTH = 16, RAM_SEG_COUNT = 2, RAM_SEG_DATA_WIDTH = 256*2/RAM_SEG_COUNT,
    parameter RAM_SEG_BE_WIDTH = RAM_SEG_DATA_WIDTH/8,
    parameter RAM_SEG_ADDR_WIDTH = RAM_ADDR_WIDTH-$clog2(RAM_SEG_COUNT*RAM_SEG_BE_WIDTH), RAM_PIPELINE = 2,
    // Control
    parameter AXIL_APP_CTRL_DATA_WIDTH = 32, AXIL_APP_CTRL_ADDR_WIDTH = 16,
    parameter AXIL_APP_CTRL_STRB_WIDTH = (AXIL_APP_CTRL_DATA_WIDTH/8),
    parameter AXIL_CTRL_DATA_WIDTH = 32, AXIL_CTRL_ADDR_WIDTH = 16, AXIL_CTRL_STRB_WIDTH = (AXIL_CTRL_DATA_WIDTH/8),
    // Streams of the direct, sync and interface stages
    parameter AXIS_DATA_WIDTH = 512, AXIS_KEEP_WIDTH = AXIS_DATA_WIDTH/8, AXIS_TX_USER_WIDTH = TX_TAG_WIDTH + 1,
    parameter AXIS_RX_USER_WIDTH = (PTP_TS_ENABLE ? PTP_TS_WIDTH : 0) + 1, AXIS_RX_USE_READY = 0,
    parameter AXIS_SYNC_DATA_WIDTH = AXIS_DATA_WIDTH, AXIS_SYNC_KEEP_WIDTH = AXIS_SYNC_DATA_WIDTH/8,
    parameter AXIS_SYNC_TX_USER_WIDTH = AXIS_TX_USER_WIDTH, AXIS_SYNC_RX_USER_WIDTH = AXIS_RX_USER_WIDTH,
    parameter AXIS_IF_DATA_WIDTH = AXIS_SYNC_DATA_WIDTH*2**$clog2(PORTS_PER_IF),
    parameter AXIS_IF_KEEP_WIDTH = AXIS_IF_DATA_WIDTH/8, AXIS_IF_TX_ID_WIDTH = 12,
    parameter AXIS_IF_RX_ID_WIDTH = PORTS_PER_IF > 1 ? $clog2(PORTS_PER_IF) : 1,
    parameter AXIS_IF_TX_DEST_WIDTH = $clog2(PORTS_PER_IF)+4, AXIS_IF_RX_DEST_WIDTH = 8,
    parameter AXIS_IF_TX_USER_WIDTH = AXIS_SYNC_TX_USER_WIDTH, AXIS_IF_RX_USER_WIDTH = AXIS_SYNC_RX_USER_WIDTH,
    // Statistics
    parameter STAT_ENABLE = 1, STAT_INC_WIDTH = 24, STAT_ID_WIDTH = 12
) (
    input  wire clk, rst,
    // Control from the host (BAR 2)
    input  wire [AXIL_APP_CTRL_ADDR_WIDTH-1:0] s_axil_app_ctrl_awaddr, s_axil_app_ctrl_araddr,
    input  wire [2:0] s_axil_app_ctrl_awprot, s_axil_app_ctrl_arprot,
    input  wire s_axil_app_ctrl_awvalid, s_axil_app_ctrl_wvalid, s_axil_app_ctrl_bready, s_axil_app_ctrl_arvalid,
        s_axil_app_ctrl_rready,
    output wire s_axil_app_ctrl_awready, s_axil_app_ctrl_wready, s_axil_app_ctrl_bvalid, s_axil_app_ctrl_arready,
        s_axil_app_ctrl_rvalid,
    input  wire [AXIL_APP_CTRL_DATA_WIDTH-1:0] s_axil_app_ctrl_wdata,
    input  wire [AXIL_APP_CTRL_STRB_WIDTH-1:0] s_axil_app_ctrl_wstrb,
    output wire [1:0] s_axil_app_ctrl_bresp, s_axil_app_ctrl_rresp,
    output wire [AXIL_APP_CTRL_DATA_WIDTH-1:0] s_axil_app_ctrl_rdata,
    // Not used: control of the NIC, DMA and its RAM
    output wire [AXIL_CTRL_ADDR_WIDTH-1:0] m_axil_ctrl_awaddr, m_axil_ctrl_araddr,
    output wire [2:0] m_axil_ctrl_awprot, m_axil_ctrl_arprot,
    output wire m_axil_ctrl_awvalid, m_axil_ctrl_wvalid, m_axil_ctrl_bready, m_axil_ctrl_arvalid, m_axil_ctrl_rready,
    input  wire m_axil_ctrl_awready, m_axil_ctrl_wready, m_axil_ctrl_bvalid, m_axil_ctrl_arready, m_axil_ctrl_rvalid,
    output wire [AXIL_CTRL_DATA_WIDTH-1:0] m_axil_ctrl_wdata,
    output wire [AXIL_CTRL_STRB_WIDTH-1:0] m_axil_ctrl_wstrb,
    input  wire [1:0] m_axil_ctrl_bresp, m_axil_ctrl_rresp,
    input  wire [AXIL_CTRL_DATA_WIDTH-1:0] m_axil_ctrl_rdata,
    output wire [DMA_ADDR_WIDTH-1:0] m_axis_ctrl_dma_read_desc_dma_addr, m_axis_ctrl_dma_write_desc_dma_addr,
    output wire [RAM_SEL_WIDTH-1:0] m_axis_ctrl_dma_read_desc_ram_sel, m_axis_ctrl_dma_write_desc_ram_sel,
    output wire [RAM_ADDR_WIDTH-1:0] m_axis_ctrl_dma_read_desc_ram_addr, m_axis_ctrl_dma_write_desc_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0] m_axis_ctrl_dma_read_desc_len, m_axis_ctrl_dma_write_desc_len,
    output wire [DMA_TAG_WIDTH-1:0] m_axis_ctrl_dma_read_desc_tag, m_axis_ctrl_dma_write_desc_tag,
    output wire m_axis_ctrl_dma_read_desc_valid, m_axis_ctrl_dma_write_desc_imm_en, m_axis_ctrl_dma_write_desc_valid,
    input  wire m_axis_ctrl_dma_read_desc_ready, m_axis_ctrl_dma_write_desc_ready,
    output wire [DMA_IMM_WIDTH-1:0] m_axis_ctrl_dma_write_desc_imm,
    input  wire [DMA_TAG_WIDTH-1:0] s_axis_ctrl_dma_read_desc_status_tag, s_axis_ctrl_dma_write_desc_status_tag,
    input  wire [3:0] s_axis_ctrl_dma_read_desc_status_error, s_axis_ctrl_dma_write_desc_status_error,
    input  wire s_axis_ctrl_dma_read_desc_status_valid, s_axis_ctrl_dma_write_desc_status_valid,
    output wire [DMA_ADDR_WIDTH-1:0] m_axis_data_dma_read_desc_dma_addr, m_axis_data_dma_write_desc_dma_addr,
    output wire [RAM_SEL_WIDTH-1:0] m_axis_data_dma_read_desc_ram_sel, m_axis_data_dma_write_desc_ram_sel,
    output wire [RAM_ADDR_WIDTH-1:0] m_axis_data_dma_read_desc_ram_addr, m_axis_data_dma_write_desc_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0] m_axis_data_dma_read_desc_len, m_axis_data_dma_write_desc_len,
    output wire [DMA_TAG_WIDTH-1:0] m_axis_data_dma_read_desc_tag, m_axis_data_dma_write_desc_tag,
    output wire m_axis_data_dma_read_desc_valid, m_axis_data_dma_write_desc_imm_en, m_axis_data_dma_write_desc_valid,
    input  wire m_axis_data_dma_read_desc_ready, m_axis_data_dma_write_desc_ready,
    output wire [DMA_IMM_WIDTH-1:0] m_axis_data_dma_write_desc_imm,
    input  wire [DMA_TAG_WIDTH-1:0] s_axis_data_dma_read_desc_status_tag, s_axis_data_dma_write_desc_status_tag,
    input  wire [3:0] s_axis_data_dma_read_desc_status_error, s_axis_data_dma_write_desc_status_error,
    input  wire s_axis_data_dma_read_desc_status_valid, s_axis_data_dma_write_desc_status_valid,
    input  wire [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] ctrl_dma_ram_wr_cmd_sel, ctrl_dma_ram_rd_cmd_sel,
    input  wire [RAM_SEG_COUNT*RAM_SEG_BE_WIDTH-1:0] ctrl_dma_ram_wr_cmd_be,
    input  wire [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] ctrl_dma_ram_wr_cmd_addr, ctrl_dma_ram_rd_cmd_addr,
    input  wire [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] ctrl_dma_ram_wr_cmd_data,
    input  wire [RAM_SEG_COUNT-1:0] ctrl_dma_ram_wr_cmd_valid, ctrl_dma_ram_rd_cmd_valid, ctrl_dma_ram_rd_resp_ready,
    output wire [RAM_SEG_COUNT-1:0] ctrl_dma_ram_wr_cmd_ready, ctrl_dma_ram_wr_done, ctrl_dma_ram_rd_cmd_ready,
        ctrl_dma_ram_rd_resp_valid,
    output wire [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] ctrl_dma_ram_rd_resp_data,
    input  wire [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] data_dma_ram_wr_cmd_sel, data_dma_ram_rd_cmd_sel,
    input  wire [RAM_SEG_COUNT*RAM_SEG_BE_WIDTH-1:0] data_dma_ram_wr_cmd_be,
    input  wire [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] data_dma_ram_wr_cmd_addr, data_dma_ram_rd_cmd_addr,
    input  wire [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] data_dma_ram_wr_cmd_data,
    input  wire [RAM_SEG_COUNT-1:0] data_dma_ram_wr_cmd_valid, data_dma_ram_rd_cmd_valid, data_dma_ram_rd_resp_ready,
    output wire [RAM_SEG_COUNT-1:0] data_dma_ram_wr_cmd_ready, data_dma_ram_wr_done, data_dma_ram_rd_cmd_ready,
        data_dma_ram_rd_resp_valid,
    output wire [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] data_dma_ram_rd_resp_data,
    // PTP: the relative time alone is used
    input  wire ptp_clk, ptp_rst, ptp_sample_clk, ptp_td_sd, ptp_pps, ptp_pps_str, ptp_sync_locked,
        ptp_sync_ts_rel_step, ptp_sync_ts_tod_step, ptp_sync_pps, ptp_sync_pps_str,
    input  wire [PTP_TS_WIDTH-1:0] ptp_sync_ts_rel, ptp_sync_ts_tod,
    input  wire [PTP_PEROUT_COUNT-1:0] ptp_perout_locked, ptp_perout_error, ptp_perout_pulse,
    // Direct stage, in the clocks of the MACs: passed on
    input  wire [PORT_COUNT-1:0] direct_tx_clk, direct_tx_rst, direct_rx_clk, direct_rx_rst,
    input  wire [PORT_COUNT*AXIS_DATA_WIDTH-1:0] s_axis_direct_tx_tdata,
    input  wire [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] s_axis_direct_tx_tkeep,
    input  wire [PORT_COUNT-1:0] s_axis_direct_tx_tvalid, s_axis_direct_tx_tlast, s_axis_direct_tx_cpl_valid,
        m_axis_direct_tx_tready, m_axis_direct_tx_cpl_ready,
    output wire [PORT_COUNT-1:0] s_axis_direct_tx_tready, s_axis_direct_tx_cpl_ready, m_axis_direct_tx_tvalid,
        m_axis_direct_tx_tlast, m_axis_direct_tx_cpl_valid,
    input  wire [PORT_COUNT*AXIS_TX_USER_WIDTH-1:0] s_axis_direct_tx_tuser,
    input  wire [PORT_COUNT*PTP_TS_WIDTH-1:0] s_axis_direct_tx_cpl_ts,
    input  wire [PORT_COUNT*TX_TAG_WIDTH-1:0] s_axis_direct_tx_cpl_tag,
    output wire [PORT_COUNT*AXIS_DATA_WIDTH-1:0] m_axis_direct_tx_tdata,
    output wire [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] m_axis_direct_tx_tkeep,
    output wire [PORT_COUNT*AXIS_TX_USER_WIDTH-1:0] m_axis_direct_tx_tuser,
    output wire [PORT_COUNT*PTP_TS_WIDTH-1:0] m_axis_direct_tx_cpl_ts,
    output wire [PORT_COUNT*TX_TAG_WIDTH-1:0] m_axis_direct_tx_cpl_tag,
    input  wire [PORT_COUNT*AXIS_DATA_WIDTH-1:0] s_axis_direct_rx_tdata,
    input  wire [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] s_axis_direct_rx_tkeep,
    input  wire [PORT_COUNT-1:0] s_axis_direct_rx_tvalid, s_axis_direct_rx_tlast, m_axis_direct_rx_tready,
    output wire [PORT_COUNT-1:0] s_axis_direct_rx_tready, m_axis_direct_rx_tvalid, m_axis_direct_rx_tlast,
    input  wire [PORT_COUNT*AXIS_RX_USER_WIDTH-1:0] s_axis_direct_rx_tuser,
    output wire [PORT_COUNT*AXIS_DATA_WIDTH-1:0] m_axis_direct_rx_tdata,
    output wire [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] m_axis_direct_rx_tkeep,
    output wire [PORT_COUNT*AXIS_RX_USER_WIDTH-1:0] m_axis_direct_rx_tuser,
    // Sync stage, in clk, a stream a port: through the block
    input  wire [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] s_axis_sync_tx_tdata,
    input  wire [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] s_axis_sync_tx_tkeep,
    input  wire [PORT_COUNT-1:0] s_axis_sync_tx_tvalid, s_axis_sync_tx_tlast, s_axis_sync_tx_cpl_valid,
        m_axis_sync_tx_tready, m_axis_sync_tx_cpl_ready,
    output wire [PORT_COUNT-1:0] s_axis_sync_tx_tready, s_axis_sync_tx_cpl_ready, m_axis_sync_tx_tvalid,
        m_axis_sync_tx_tlast, m_axis_sync_tx_cpl_valid,
    input  wire [PORT_COUNT*AXIS_SYNC_TX_USER_WIDTH-1:0] s_axis_sync_tx_tuser,
    input  wire [PORT_COUNT*PTP_TS_WIDTH-1:0] s_axis_sync_tx_cpl_ts,
    input  wire [PORT_COUNT*TX_TAG_WIDTH-1:0] s_axis_sync_tx_cpl_tag,
    output wire [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] m_axis_sync_tx_tdata,
    output wire [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] m_axis_sync_tx_tkeep,
    output wire [PORT_COUNT*AXIS_SYNC_TX_USER_WIDTH-1:0] m_axis_sync_tx_tuser,
    output wire [PORT_COUNT*PTP_TS_WIDTH-1:0] m_axis_sync_tx_cpl_ts,
    output wire [PORT_COUNT*TX_TAG_WIDTH-1:0] m_axis_sync_tx_cpl_tag,
    input  wire [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] s_axis_sync_rx_tdata,
    input  wire [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] s_axis_sync_rx_tkeep,
    input  wire [PORT_COUNT-1:0] s_axis_sync_rx_tvalid, s_axis_sync_rx_tlast, m_axis_sync_rx_tready,
    output wire [PORT_COUNT-1:0] s_axis_sync_rx_tready, m_axis_sync_rx_tvalid, m_axis_sync_rx_tlast,
    input  wire [PORT_COUNT*AXIS_SYNC_RX_USER_WIDTH-1:0] s_axis_sync_rx_tuser,
    output wire [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] m_axis_sync_rx_tdata,
    output wire [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] m_axis_sync_rx_tkeep,
    output wire [PORT_COUNT*AXIS_SYNC_RX_USER_WIDTH-1:0] m_axis_sync_rx_tuser,
    // Interface stage: passed on
    input  wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] s_axis_if_tx_tdata,
    input  wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] s_axis_if_tx_tkeep,
    input  wire [IF_COUNT-1:0] s_axis_if_tx_tvalid, s_axis_if_tx_tlast, s_axis_if_tx_cpl_valid, m_axis_if_tx_tready,
        m_axis_if_tx_cpl_ready,
    output wire [IF_COUNT-1:0] s_axis_if_tx_tready, s_axis_if_tx_cpl_ready, m_axis_if_tx_tvalid, m_axis_if_tx_tlast,
        m_axis_if_tx_cpl_valid,
    input  wire [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0] s_axis_if_tx_tid,
    input  wire [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] s_axis_if_tx_tdest,
    input  wire [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] s_axis_if_tx_tuser,
    input  wire [IF_COUNT*PTP_TS_WIDTH-1:0] s_axis_if_tx_cpl_ts,
    input  wire [IF_COUNT*TX_TAG_WIDTH-1:0] s_axis_if_tx_cpl_tag,
    output wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] m_axis_if_tx_tdata,
    output wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] m_axis_if_tx_tkeep,
    output wire [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0] m_axis_if_tx_tid,
    output wire [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] m_axis_if_tx_tdest,
    output wire [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] m_axis_if_tx_tuser,
    output wire [IF_COUNT*PTP_TS_WIDTH-1:0] m_axis_if_tx_cpl_ts,
    output wire [IF_COUNT*TX_TAG_WIDTH-1:0] m_axis_if_tx_cpl_tag,
    input  wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] s_axis_if_rx_tdata,
    input  wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] s_axis_if_rx_tkeep,
    input  wire [IF_COUNT-1:0] s_axis_if_rx_tvalid, s_axis_if_rx_tlast, m_axis_if_rx_tready,
    output wire [IF_COUNT-1:0] s_axis_if_rx_tready, m_axis_if_rx_tvalid, m_axis_if_rx_tlast,
    input  wire [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0] s_axis_if_rx_tid,
    input  wire [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] s_axis_if_rx_tdest,
    input  wire [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] s_axis_if_rx_tuser,
    output wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] m_axis_if_rx_tdata,
    output wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] m_axis_if_rx_tkeep,
    output wire [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0] m_axis_if_rx_tid,
    output wire [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] m_axis_if_rx_tdest,
    output wire [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] m_axis_if_rx_tuser,
    // Not used: memories
    input  wire [DDR_CH-1:0] ddr_clk, ddr_rst, ddr_status,
    output wire [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_awid, m_axi_ddr_arid,
    output wire [DDR_CH*AXI_DDR_ADDR_WIDTH-1:0] m_axi_ddr_awaddr, m_axi_ddr_araddr,
    output wire [DDR_CH*8-1:0] m_axi_ddr_awlen, m_axi_ddr_arlen,
    output wire [DDR_CH*3-1:0] m_axi_ddr_awsize, m_axi_ddr_awprot, m_axi_ddr_arsize, m_axi_ddr_arprot,
    output wire [DDR_CH*2-1:0] m_axi_ddr_awburst, m_axi_ddr_arburst,
    output wire [DDR_CH-1:0] m_axi_ddr_awlock, m_axi_ddr_awvalid, m_axi_ddr_wlast, m_axi_ddr_wvalid, m_axi_ddr_bready,
        m_axi_ddr_arlock, m_axi_ddr_arvalid, m_axi_ddr_rready,
    output wire [DDR_CH*4-1:0] m_axi_ddr_awcache, m_axi_ddr_awqos, m_axi_ddr_arcache, m_axi_ddr_arqos,
    output wire [DDR_CH*AXI_DDR_AWUSER_WIDTH-1:0] m_axi_ddr_awuser,
    input  wire [DDR_CH-1:0] m_axi_ddr_awready, m_axi_ddr_wready, m_axi_ddr_bvalid, m_axi_ddr_arready, m_axi_ddr_rlast,
        m_axi_ddr_rvalid,
    output wire [DDR_CH*AXI_DDR_DATA_WIDTH-1:0] m_axi_ddr_wdata,
    output wire [DDR_CH*AXI_DDR_STRB_WIDTH-1:0] m_axi_ddr_wstrb,
    output wire [DDR_CH*AXI_DDR_WUSER_WIDTH-1:0] m_axi_ddr_wuser,
    input  wire [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_bid, m_axi_ddr_rid,
    input  wire [DDR_CH*2-1:0] m_axi_ddr_bresp, m_axi_ddr_rresp,
    input  wire [DDR_CH*AXI_DDR_BUSER_WIDTH-1:0] m_axi_ddr_buser,
    output wire [DDR_CH*AXI_DDR_ARUSER_WIDTH-1:0] m_axi_ddr_aruser,
    input  wire [DDR_CH*AXI_DDR_DATA_WIDTH-1:0] m_axi_ddr_rdata,
    input  wire [DDR_CH*AXI_DDR_RUSER_WIDTH-1:0] m_axi_ddr_ruser,
    input  wire [HBM_CH-1:0] hbm_clk, hbm_rst, hbm_status,
    output wire [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_awid, m_axi_hbm_arid,
    output wire [HBM_CH*AXI_HBM_ADDR_WIDTH-1:0] m_axi_hbm_awaddr, m_axi_hbm_araddr,
    output wire [HBM_CH*8-1:0] m_axi_hbm_awlen, m_axi_hbm_arlen,
    output wire [HBM_CH*3-1:0] m_axi_hbm_awsize, m_axi_hbm_awprot, m_axi_hbm_arsize, m_axi_hbm_arprot,
    output wire [HBM_CH*2-1:0] m_axi_hbm_awburst, m_axi_hbm_arburst,
    output wire [HBM_CH-1:0] m_axi_hbm_awlock, m_axi_hbm_awvalid, m_axi_hbm_wlast, m_axi_hbm_wvalid, m_axi_hbm_bready,
        m_axi_hbm_arlock, m_axi_hbm_arvalid, m_axi_hbm_rready,
    output wire [HBM_CH*4-1:0] m_axi_hbm_awcache, m_axi_hbm_awqos, m_axi_hbm_arcache, m_axi_hbm_arqos,
    output wire [HBM_CH*AXI_HBM_AWUSER_WIDTH-1:0] m_axi_hbm_awuser,
    input  wire [HBM_CH-1:0] m_axi_hbm_awready, m_axi_hbm_wready, m_axi_hbm_bvalid, m_axi_hbm_arready, m_axi_hbm_rlast,
        m_axi_hbm_rvalid,
    output wire [HBM_CH*AXI_HBM_DATA_WIDTH-1:0] m_axi_hbm_wdata,
    output wire [HBM_CH*AXI_HBM_STRB_WIDTH-1:0] m_axi_hbm_wstrb,
    output wire [HBM_CH*AXI_HBM_WUSER_WIDTH-1:0] m_axi_hbm_wuser,
    input  wire [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_bid, m_axi_hbm_rid,
    input  wire [HBM_CH*2-1:0] m_axi_hbm_bresp, m_axi_hbm_rresp,
    input  wire [HBM_CH*AXI_HBM_BUSER_WIDTH-1:0] m_axi_hbm_buser,
    output wire [HBM_CH*AXI_HBM_ARUSER_WIDTH-1:0] m_axi_hbm_aruser,
    input  wire [HBM_CH*AXI_HBM_DATA_WIDTH-1:0] m_axi_hbm_rdata,
    input  wire [HBM_CH*AXI_HBM_RUSER_WIDTH-1:0] m_axi_hbm_ruser,
    // Statistics
    output wire [STAT_INC_WIDTH-1:0] m_axis_stat_tdata,
    output wire [STAT_ID_WIDTH-1:0] m_axis_stat_tid,
    output wire m_axis_stat_tvalid,
    input  wire m_axis_stat_tready,
    // Pins
    input  wire [APP_GPIO_IN_WIDTH-1:0] gpio_in,
    output wire [APP_GPIO_OUT_WIDTH-1:0] gpio_out,
    input  wire jtag_tdi, jtag_tms, jtag_tck,
    output wire jtag_tdo
);

    vermilion_app_check #(
        .APP_ID(APP_ID), .APP_CTRL_ENABLE(APP_CTRL_ENABLE), .APP_AXIS_SYNC_ENABLE(APP_AXIS_SYNC_ENABLE),
        .APP_STAT_ENABLE(APP_STAT_ENABLE), .PORTS_PER_IF(PORTS_PER_IF), .PORT_COUNT(PORT_COUNT),
        .CLK_PERIOD_NS_NUM(CLK_PERIOD_NS_NUM), .CLK_PERIOD_NS_DENOM(CLK_PERIOD_NS_DENOM),
        .PTP_TS_ENABLE(PTP_TS_ENABLE), .PTP_TS_WIDTH(PTP_TS_WIDTH), .TX_TAG_WIDTH(TX_TAG_WIDTH),
        .AXIL_APP_CTRL_DATA_WIDTH(AXIL_APP_CTRL_DATA_WIDTH), .AXIL_APP_CTRL_ADDR_WIDTH(AXIL_APP_CTRL_ADDR_WIDTH),
        .AXIS_SYNC_DATA_WIDTH(AXIS_SYNC_DATA_WIDTH), .AXIS_SYNC_KEEP_WIDTH(AXIS_SYNC_KEEP_WIDTH),
        .AXIS_SYNC_TX_USER_WIDTH(AXIS_SYNC_TX_USER_WIDTH), .AXIS_SYNC_RX_USER_WIDTH(AXIS_SYNC_RX_USER_WIDTH),
        .STAT_INC_WIDTH(STAT_INC_WIDTH), .STAT_ID_WIDTH(STAT_ID_WIDTH)
    ) check ();

    // Wider than any address, so that the check, not this, meets one that is too narrow.
    wire [AXIL_APP_CTRL_ADDR_WIDTH+`VERMILION_APP_ADDR_BITS-1:0] awaddr, araddr;
    assign awaddr = {{`VERMILION_APP_ADDR_BITS{1'b0}}, s_axil_app_ctrl_awaddr};
    assign araddr = {{`VERMILION_APP_ADDR_BITS{1'b0}}, s_axil_app_ctrl_araddr};

    // Relative PTP time has 64 bits (48 of nanoseconds, 16 of fractions), in a port that is wider.
    vermilion_app app (
        .clk(clk), .rst(rst),
        .s_axil_app_ctrl_awaddr(awaddr[`VERMILION_APP_ADDR_BITS-1:0]),
        .s_axil_app_ctrl_awvalid(s_axil_app_ctrl_awvalid), .s_axil_app_ctrl_awready(s_axil_app_ctrl_awready),
        .s_axil_app_ctrl_wdata(s_axil_app_ctrl_wdata), .s_axil_app_ctrl_wstrb(s_axil_app_ctrl_wstrb),
        .s_axil_app_ctrl_wvalid(s_axil_app_ctrl_wvalid), .s_axil_app_ctrl_wready(s_axil_app_ctrl_wready),
        .s_axil_app_ctrl_bresp(s_axil_app_ctrl_bresp),
        .s_axil_app_ctrl_bvalid(s_axil_app_ctrl_bvalid), .s_axil_app_ctrl_bready(s_axil_app_ctrl_bready),
        .s_axil_app_ctrl_araddr(araddr[`VERMILION_APP_ADDR_BITS-1:0]),
        .s_axil_app_ctrl_arvalid(s_axil_app_ctrl_arvalid), .s_axil_app_ctrl_arready(s_axil_app_ctrl_arready),
        .s_axil_app_ctrl_rdata(s_axil_app_ctrl_rdata), .s_axil_app_ctrl_rresp(s_axil_app_ctrl_rresp),
        .s_axil_app_ctrl_rvalid(s_axil_app_ctrl_rvalid), .s_axil_app_ctrl_rready(s_axil_app_ctrl_rready),
        .ptp_sync_ts_rel(ptp_sync_ts_rel[63:0]), .ptp_sync_locked(ptp_sync_locked),
        .s_axis_sync_tx_tdata(s_axis_sync_tx_tdata), .s_axis_sync_tx_tkeep(s_axis_sync_tx_tkeep),
        .s_axis_sync_tx_tvalid(s_axis_sync_tx_tvalid), .s_axis_sync_tx_tready(s_axis_sync_tx_tready),
        .s_axis_sync_tx_tlast(s_axis_sync_tx_tlast), .s_axis_sync_tx_tuser(s_axis_sync_tx_tuser),
        .m_axis_sync_tx_tdata(m_axis_sync_tx_tdata), .m_axis_sync_tx_tkeep(m_axis_sync_tx_tkeep),
        .m_axis_sync_tx_tvalid(m_axis_sync_tx_tvalid), .m_axis_sync_tx_tready(m_axis_sync_tx_tready),
        .m_axis_sync_tx_tlast(m_axis_sync_tx_tlast), .m_axis_sync_tx_tuser(m_axis_sync_tx_tuser),
        .s_axis_sync_tx_cpl_ts(s_axis_sync_tx_cpl_ts), .s_axis_sync_tx_cpl_tag(s_axis_sync_tx_cpl_tag),
        .s_axis_sync_tx_cpl_valid(s_axis_sync_tx_cpl_valid), .s_axis_sync_tx_cpl_ready(s_axis_sync_tx_cpl_ready),
        .m_axis_sync_tx_cpl_ts(m_axis_sync_tx_cpl_ts), .m_axis_sync_tx_cpl_tag(m_axis_sync_tx_cpl_tag),
        .m_axis_sync_tx_cpl_valid(m_axis_sync_tx_cpl_valid), .m_axis_sync_tx_cpl_ready(m_axis_sync_tx_cpl_ready),
        .s_axis_sync_rx_tdata(s_axis_sync_rx_tdata), .s_axis_sync_rx_tkeep(s_axis_sync_rx_tkeep),
        .s_axis_sync_rx_tvalid(s_axis_sync_rx_tvalid), .s_axis_sync_rx_tready(s_axis_sync_rx_tready),
        .s_axis_sync_rx_tlast(s_axis_sync_rx_tlast), .s_axis_sync_rx_tuser(s_axis_sync_rx_tuser),
        .m_axis_sync_rx_tdata(m_axis_sync_rx_tdata), .m_axis_sync_rx_tkeep(m_axis_sync_rx_tkeep),
        .m_axis_sync_rx_tvalid(m_axis_sync_rx_tvalid), .m_axis_sync_rx_tready(m_axis_sync_rx_tready),
        .m_axis_sync_rx_tlast(m_axis_sync_rx_tlast), .m_axis_sync_rx_tuser(m_axis_sync_rx_tuser),
        .m_axis_stat_tdata(m_axis_stat_tdata), .m_axis_stat_tid(m_axis_stat_tid),
        .m_axis_stat_tvalid(m_axis_stat_tvalid), .m_axis_stat_tready(m_axis_stat_tready)
    );

    // Direct and interface stages, JTAG: passed on.
    assign {m_axis_direct_tx_tdata, m_axis_direct_tx_tkeep, m_axis_direct_tx_tvalid, m_axis_direct_tx_tlast,
        m_axis_direct_tx_tuser, m_axis_direct_tx_cpl_ts, m_axis_direct_tx_cpl_tag, m_axis_direct_tx_cpl_valid} =
        {s_axis_direct_tx_tdata, s_axis_direct_tx_tkeep, s_axis_direct_tx_tvalid, s_axis_direct_tx_tlast,
        s_axis_direct_tx_tuser, s_axis_direct_tx_cpl_ts, s_axis_direct_tx_cpl_tag, s_axis_direct_tx_cpl_valid};
    assign {s_axis_direct_tx_tready, s_axis_direct_tx_cpl_ready} =
        {m_axis_direct_tx_tready, m_axis_direct_tx_cpl_ready};
    assign {m_axis_direct_rx_tdata, m_axis_direct_rx_tkeep, m_axis_direct_rx_tvalid, m_axis_direct_rx_tlast,
        m_axis_direct_rx_tuser} =
        {s_axis_direct_rx_tdata, s_axis_direct_rx_tkeep, s_axis_direct_rx_tvalid, s_axis_direct_rx_tlast,
        s_axis_direct_rx_tuser};
    assign s_axis_direct_rx_tready = m_axis_direct_rx_tready;
    assign {m_axis_if_tx_tdata, m_axis_if_tx_tkeep, m_axis_if_tx_tvalid, m_axis_if_tx_tlast, m_axis_if_tx_tid,
        m_axis_if_tx_tdest, m_axis_if_tx_tuser, m_axis_if_tx_cpl_ts, m_axis_if_tx_cpl_tag, m_axis_if_tx_cpl_valid} =
        {s_axis_if_tx_tdata, s_axis_if_tx_tkeep, s_axis_if_tx_tvalid, s_axis_if_tx_tlast, s_axis_if_tx_tid,
        s_axis_if_tx_tdest, s_axis_if_tx_tuser, s_axis_if_tx_cpl_ts, s_axis_if_tx_cpl_tag, s_axis_if_tx_cpl_valid};
    assign {s_axis_if_tx_tready, s_axis_if_tx_cpl_ready} = {m_axis_if_tx_tready, m_axis_if_tx_cpl_ready};
    assign {m_axis_if_rx_tdata, m_axis_if_rx_tkeep, m_axis_if_rx_tvalid, m_axis_if_rx_tlast, m_axis_if_rx_tid,
        m_axis_if_rx_tdest, m_axis_if_rx_tuser} =
        {s_axis_if_rx_tdata, s_axis_if_rx_tkeep, s_axis_if_rx_tvalid, s_axis_if_rx_tlast, s_axis_if_rx_tid,
        s_axis_if_rx_tdest, s_axis_if_rx_tuser};
    assign s_axis_if_rx_tready = m_axis_if_rx_tready;
    assign jtag_tdo = jtag_tdi;

    // Not used: no request, no answer. Answers to what was never asked for are taken.
    assign {m_axil_ctrl_awaddr, m_axil_ctrl_awprot, m_axil_ctrl_awvalid, m_axil_ctrl_wdata, m_axil_ctrl_wstrb,
        m_axil_ctrl_wvalid, m_axil_ctrl_araddr, m_axil_ctrl_arprot, m_axil_ctrl_arvalid} = 0;
    assign {m_axis_ctrl_dma_read_desc_dma_addr, m_axis_ctrl_dma_read_desc_ram_sel, m_axis_ctrl_dma_read_desc_ram_addr,
        m_axis_ctrl_dma_read_desc_len, m_axis_ctrl_dma_read_desc_tag, m_axis_ctrl_dma_read_desc_valid,
        m_axis_ctrl_dma_write_desc_dma_addr, m_axis_ctrl_dma_write_desc_ram_sel, m_axis_ctrl_dma_write_desc_ram_addr,
        m_axis_ctrl_dma_write_desc_imm, m_axis_ctrl_dma_write_desc_imm_en, m_axis_ctrl_dma_write_desc_len,
        m_axis_ctrl_dma_write_desc_tag, m_axis_ctrl_dma_write_desc_valid, m_axis_data_dma_read_desc_dma_addr,
        m_axis_data_dma_read_desc_ram_sel, m_axis_data_dma_read_desc_ram_addr, m_axis_data_dma_read_desc_len,
        m_axis_data_dma_read_desc_tag, m_axis_data_dma_read_desc_valid, m_axis_data_dma_write_desc_dma_addr,
        m_axis_data_dma_write_desc_ram_sel, m_axis_data_dma_write_desc_ram_addr, m_axis_data_dma_write_desc_imm,
        m_axis_data_dma_write_desc_imm_en, m_axis_data_dma_write_desc_len, m_axis_data_dma_write_desc_tag,
        m_axis_data_dma_write_desc_valid} = 0;
    assign {ctrl_dma_ram_wr_cmd_ready, ctrl_dma_ram_wr_done, ctrl_dma_ram_rd_cmd_ready, ctrl_dma_ram_rd_resp_data,
        ctrl_dma_ram_rd_resp_valid, data_dma_ram_wr_cmd_ready, data_dma_ram_wr_done, data_dma_ram_rd_cmd_ready,
        data_dma_ram_rd_resp_data, data_dma_ram_rd_resp_valid} = 0;
    assign {m_axi_ddr_awid, m_axi_ddr_awaddr, m_axi_ddr_awlen, m_axi_ddr_awsize, m_axi_ddr_awburst, m_axi_ddr_awlock,
        m_axi_ddr_awcache, m_axi_ddr_awprot, m_axi_ddr_awqos, m_axi_ddr_awuser, m_axi_ddr_awvalid, m_axi_ddr_wdata,
        m_axi_ddr_wstrb, m_axi_ddr_wlast, m_axi_ddr_wuser, m_axi_ddr_wvalid, m_axi_ddr_arid, m_axi_ddr_araddr,
        m_axi_ddr_arlen, m_axi_ddr_arsize, m_axi_ddr_arburst, m_axi_ddr_arlock, m_axi_ddr_arcache, m_axi_ddr_arprot,
        m_axi_ddr_arqos, m_axi_ddr_aruser, m_axi_ddr_arvalid} = 0;
    assign {m_axi_hbm_awid, m_axi_hbm_awaddr, m_axi_hbm_awlen, m_axi_hbm_awsize, m_axi_hbm_awburst, m_axi_hbm_awlock,
        m_axi_hbm_awcache, m_axi_hbm_awprot, m_axi_hbm_awqos, m_axi_hbm_awuser, m_axi_hbm_awvalid, m_axi_hbm_wdata,
        m_axi_hbm_wstrb, m_axi_hbm_wlast, m_axi_hbm_wuser, m_axi_hbm_wvalid, m_axi_hbm_arid, m_axi_hbm_araddr,
        m_axi_hbm_arlen, m_axi_hbm_arsize, m_axi_hbm_arburst, m_axi_hbm_arlock, m_axi_hbm_arcache, m_axi_hbm_arprot,
        m_axi_hbm_arqos, m_axi_hbm_aruser, m_axi_hbm_arvalid} = 0;
    assign {m_axil_ctrl_bready, m_axil_ctrl_rready, m_axi_ddr_bready, m_axi_ddr_rready, m_axi_hbm_bready,
        m_axi_hbm_rready} = {(2 + 2*DDR_CH + 2*HBM_CH){1'b1}};
    assign gpio_out = 0;
endmodule

`resetall
