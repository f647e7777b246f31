// Holds what a NIC gives its application block against what `vermilion_app` was built for, at elaboration: a sentence
// for each parameter that does not fit, with its value and what is legal. No logic.

`resetall
`default_nettype none
`include "vermilion_app_params.vh"
`ifdef __ICARUS__  // up to its version 11 it has $fatal in procedures only: the sentence comes at time 0
`define REFUSE initial
`else
`define REFUSE
`endif

module vermilion_app_check #(
    parameter APP_ID = 0, APP_CTRL_ENABLE = 0, APP_AXIS_SYNC_ENABLE = 0, APP_STAT_ENABLE = 0,
    parameter PORTS_PER_IF = 0, PORT_COUNT = 0, CLK_PERIOD_NS_NUM = 0, CLK_PERIOD_NS_DENOM = 0,
    parameter PTP_TS_ENABLE = 0, PTP_TS_WIDTH = 0, TX_TAG_WIDTH = 0,
    parameter AXIL_APP_CTRL_DATA_WIDTH = 0, AXIL_APP_CTRL_ADDR_WIDTH = 0,
    parameter AXIS_SYNC_DATA_WIDTH = 0, AXIS_SYNC_KEEP_WIDTH = 0,
    parameter AXIS_SYNC_TX_USER_WIDTH = 0, AXIS_SYNC_RX_USER_WIDTH = 0,
    parameter STAT_INC_WIDTH = 0, STAT_ID_WIDTH = 0
) ();
    localparam KEEP = `VERMILION_APP_DATA_BITS / 8;
    localparam TX_USER = `VERMILION_APP_TAG_BITS + 1;
    localparam RX_USER = `VERMILION_APP_TS_BITS + 1;

    if (APP_ID != `VERMILION_APP_ID) begin : gen_id
        `REFUSE $fatal(1, "APP_ID is 32'h%h; legal is 32'h%h, by which drivers know Vermilion",
            APP_ID, `VERMILION_APP_ID);
    end
    if (APP_CTRL_ENABLE == 0) begin : gen_ctrl
        `REFUSE $fatal(1, "APP_CTRL_ENABLE is 0; legal is 1, without it the host cannot reach the block's registers");
    end
    if (APP_AXIS_SYNC_ENABLE == 0) begin : gen_sync
        `REFUSE $fatal(1, "APP_AXIS_SYNC_ENABLE is 0; legal is 1, the block stands in the sync stage");
    end
    if (APP_STAT_ENABLE == 0) begin : gen_stat
        `REFUSE $fatal(1, "APP_STAT_ENABLE or STAT_ENABLE is 0; legal is 1, or the NIC counts nothing of the block");
    end
    if (PORTS_PER_IF != 1) begin : gen_ports_per_if
        `REFUSE $fatal(1, "PORTS_PER_IF is %0d; legal is 1, a port an interface", PORTS_PER_IF);
    end
    if (PORT_COUNT != `VERMILION_APP_PORTS) begin : gen_ports
        `REFUSE $fatal(1, "PORT_COUNT is %0d; legal is %0d, as vermilion_app was built",
            PORT_COUNT, `VERMILION_APP_PORTS);
    end
    if (CLK_PERIOD_NS_NUM * `VERMILION_APP_CLK_DENOM != CLK_PERIOD_NS_DENOM * `VERMILION_APP_CLK_NUM) begin : gen_clock
        `REFUSE $fatal(1, "CLK_PERIOD_NS_NUM/_DENOM is %0d/%0d ns; legal is %0d/%0d, as vermilion_app was built",
            CLK_PERIOD_NS_NUM, CLK_PERIOD_NS_DENOM, `VERMILION_APP_CLK_NUM, `VERMILION_APP_CLK_DENOM);
    end
    if ((PTP_TS_ENABLE != 0) != (`VERMILION_APP_TS_BITS != 0)) begin : gen_ptp
        `REFUSE $fatal(1, "PTP_TS_ENABLE is %0d; legal is %0d, as vermilion_app was built", PTP_TS_ENABLE,
            (`VERMILION_APP_TS_BITS != 0) ? 1 : 0);
    end
    if (PTP_TS_WIDTH != 96) begin : gen_ts
        `REFUSE $fatal(1, "PTP_TS_WIDTH is %0d; legal is 96", PTP_TS_WIDTH);
    end
    if (TX_TAG_WIDTH != `VERMILION_APP_TAG_BITS) begin : gen_tag
        `REFUSE $fatal(1, "TX_TAG_WIDTH is %0d; legal is %0d", TX_TAG_WIDTH, `VERMILION_APP_TAG_BITS);
    end
    if (AXIL_APP_CTRL_DATA_WIDTH != 32) begin : gen_axil_data
        `REFUSE $fatal(1, "AXIL_APP_CTRL_DATA_WIDTH is %0d; legal is 32", AXIL_APP_CTRL_DATA_WIDTH);
    end
    if (AXIL_APP_CTRL_ADDR_WIDTH < `VERMILION_APP_ADDR_BITS || AXIL_APP_CTRL_ADDR_WIDTH > 64) begin : gen_axil_addr
        `REFUSE $fatal(1, "AXIL_APP_CTRL_ADDR_WIDTH is %0d; legal is %0d to 64, Corundum's boards have 24",
            AXIL_APP_CTRL_ADDR_WIDTH, `VERMILION_APP_ADDR_BITS);
    end
    if (AXIS_SYNC_DATA_WIDTH != `VERMILION_APP_DATA_BITS) begin : gen_data
        `REFUSE $fatal(1, "AXIS_SYNC_DATA_WIDTH is %0d; legal is %0d, as built (10G has 64, 25G 128, 100G 512)",
            AXIS_SYNC_DATA_WIDTH, `VERMILION_APP_DATA_BITS);
    end
    if (AXIS_SYNC_KEEP_WIDTH != KEEP) begin : gen_keep
        `REFUSE $fatal(1, "AXIS_SYNC_KEEP_WIDTH is %0d; legal is %0d, a bit a byte", AXIS_SYNC_KEEP_WIDTH, KEEP);
    end
    if (AXIS_SYNC_TX_USER_WIDTH != TX_USER) begin : gen_tx_user
        `REFUSE $fatal(1, "AXIS_SYNC_TX_USER_WIDTH is %0d; legal is %0d, a tag and bad",
            AXIS_SYNC_TX_USER_WIDTH, TX_USER);
    end
    if (AXIS_SYNC_RX_USER_WIDTH != RX_USER) begin : gen_rx_user
        `REFUSE $fatal(1, "AXIS_SYNC_RX_USER_WIDTH is %0d; legal is %0d, a timestamp where there are any, and bad",
            AXIS_SYNC_RX_USER_WIDTH, RX_USER);
    end
    if (STAT_INC_WIDTH != `VERMILION_APP_STAT_INC_BITS) begin : gen_stat_inc
        `REFUSE $fatal(1, "STAT_INC_WIDTH is %0d; legal is %0d", STAT_INC_WIDTH, `VERMILION_APP_STAT_INC_BITS);
    end
    if (STAT_ID_WIDTH != `VERMILION_APP_STAT_ID_BITS) begin : gen_stat_id
        `REFUSE $fatal(1, "STAT_ID_WIDTH is %0d; legal is %0d", STAT_ID_WIDTH, `VERMILION_APP_STAT_ID_BITS);
    end
endmodule

`undef REFUSE
`resetall
