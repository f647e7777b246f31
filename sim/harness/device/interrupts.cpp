#include "interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>

namespace vermilion {

namespace {

constexpr u32 TestAt = 0x2000, RaisedAt = 0x2004;

// Never waits: where its counter is full, or a client gave something else that takes no bytes now, the news is there already, or lost.
void signal(int eventfd) {
  pollfd state{eventfd, POLLOUT, 0};
  if (::poll(&state, 1, 0) == 1 && (state.revents & POLLOUT) != 0) (void)::eventfd_write(eventfd, 1);
}

}  // namespace

void Interrupts::reset() {
  table_.fill(0);
  for (u32 v = 0; v < Vectors; v++) table_[4 * v + 3] = 1;
  pending_ = raised_ = 0;
}

void Interrupts::raise(u32 vector) {
  if (vector >= Vectors) return;
  raised_++;
  pending_ |= 1u << vector;
  update();
}

void Interrupts::update() {
  if (!config_.msixOpen()) return;
  for (u32 v = 0; v < Vectors; v++) {
    if ((pending_ >> v & 1) == 0 || !eventfds_[v]) continue;
    signal(eventfds_[v].get());
    pending_ &= ~(1u << v);
  }
}

void Interrupts::wire(u32 vector, Descriptor eventfd) {
  eventfds_[vector] = std::move(eventfd);
  update();
}

void Interrupts::unwire() {
  for (Descriptor& eventfd : eventfds_) eventfd = Descriptor();
}

u32 Interrupts::read(u32 address) const {
  if (address < 4 * table_.size()) return table_[address / 4];
  if (address == MsixPendingAt) return pending_;
  if (address == RaisedAt) return raised_;
  return 0;
}

void Interrupts::write(u32 address, u32 value, u32 mask) {
  if (address < 4 * table_.size()) {
    const u32 legal[] = {~u32{3}, ~u32{0}, ~u32{0}, 1};
    u32& word = table_[address / 4];
    mask &= legal[address / 4 % 4];
    word = (word & ~mask) | (value & mask);
  }
  if (address == TestAt && mask == ~u32{0}) raise(value);
}

}  // namespace vermilion
