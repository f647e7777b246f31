"""What the configuration of a Corundum board looks like, in Tcl: numbers worked out of others, a BAR, and a loop at the end."""

BOARD = """
# A board
set params [dict create]
set git_hash 00000000
if { [catch {set git_hash [exec git rev-parse HEAD]}] } {
    puts "no version"
}
set app_id [expr 0x564D0001]
dict set params FW_ID [format "32'h%08x" $app_id]
set line_rate {10.3125}
set second_rate {0}
dict set params IF_COUNT "2"
dict set params PORTS_PER_IF "1"
dict set params CLK_PERIOD_NS_NUM "4"
dict set params CLK_PERIOD_NS_DENOM "1"
dict set params PTP_TS_ENABLE "1"
dict set params ENABLE_DIC "1"
dict set params TX_TAG_WIDTH "16"
dict set params APP_ID "32'h564D0001"
dict set params APP_ENABLE "1"
dict set params APP_CTRL_ENABLE "1"
dict set params APP_AXIS_SYNC_ENABLE "1"
dict set params APP_STAT_ENABLE "1"
dict set params AXIL_CTRL_DATA_WIDTH "32"
dict set params AXIL_APP_CTRL_DATA_WIDTH [dict get $params AXIL_CTRL_DATA_WIDTH]
dict set params AXIL_APP_CTRL_ADDR_WIDTH "24"
dict set params AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE [expr max($line_rate, $second_rate) > 16]
dict set params STAT_ENABLE "1"
dict set params STAT_INC_WIDTH "24"
dict set params STAT_ID_WIDTH "12"
dict set params PCIE_WIDTH [regexp -inline {[0-9]+} [get_property WIDTH $pcie]]
configure_bar $pcie 0 2 [expr [dict get $params APP_ENABLE] ? [dict get $params AXIL_APP_CTRL_ADDR_WIDTH] : 0]
dict for {name value} $params {
    lappend param_list $name=$value
}
"""
