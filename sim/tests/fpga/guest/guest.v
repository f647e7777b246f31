// Somebody's design: gives queue 0 a limit, sends one frame of 64 bytes through the lane and looks at what comes out.
module guest;
  reg clock = 0, reset = 1;
  reg [47:0] now = 0;
  reg [2:0] write = 0;
  reg aw_given = 0, w_given = 0;
  reg [3:0] sent = 0, seen = 0;
  wire aw_ready, w_ready, b_valid, in_ready, out_valid, out_last;
  wire [63:0] out_data;
  wire [23:0] address = write == 0 ? 24'h104 : write == 1 ? 24'h108 : write == 2 ? 24'h12c : 24'h084;
  always #2 clock = !clock;
  vermilion_nic10g lane (
    .clock(clock), .reset(reset), .io_now(now), .io_in_0_valid(1'b0), .io_in_0_bits_data(64'd0),
    .io_in_0_bits_keep(8'd0), .io_in_0_bits_last(1'b0), .io_in_0_bits_bad(1'b0),
    .io_in_1_valid(write == 4 && sent < 8), .io_in_1_ready(in_ready), .io_in_1_bits_data({8{4'hA, sent}}),
    .io_in_1_bits_keep(8'hFF), .io_in_1_bits_last(sent == 7), .io_in_1_bits_bad(1'b0),
    .io_paused_0(1'b0), .io_out_0_ready(1'b1), .io_out_0_valid(out_valid), .io_out_0_bits_data(out_data), .io_out_0_bits_last(out_last),
    .io_control_aw_valid(!reset && write < 4 && !aw_given), .io_control_aw_ready(aw_ready),
    .io_control_aw_bits(address), .io_control_w_valid(!reset && write < 4 && !w_given), .io_control_w_ready(w_ready),
    .io_control_w_bits_data(32'h3FFFF), .io_control_w_bits_strb(4'hF), .io_control_b_ready(1'b1),
    .io_control_b_valid(b_valid), .io_control_ar_valid(1'b0), .io_control_ar_bits(24'd0), .io_control_r_ready(1'b1));
  always @(posedge clock) begin
    now <= now + 4; if (now == 40) reset <= 0;
    aw_given <= !b_valid && (aw_given || aw_ready) && !reset; w_given <= !b_valid && (w_given || w_ready) && !reset;
    if (b_valid && !reset) write <= write + 1;
    if (write == 4 && sent < 8 && in_ready) sent <= sent + 1;
    if (out_valid) seen <= seen + 1;
    if (out_valid && (out_data != {8{4'hA, seen}} || out_last != (seen == 7))) $fatal(1, "not as sent");
    if (out_valid && out_last) begin $display("a frame of %0d beats is through", seen + 1); $finish; end
    if (now > 40000) $fatal(1, "nothing came");
  end
endmodule
