#include "fate_times.h"

#include <nlohmann/json.hpp>

namespace vermilion {

void FateTimes::add(u64 time, Reason reason) {
  const u64 after = time < startNs_ ? 0 : time - startNs_;
  for (; after / width_ >= Most; width_ *= 2) {
    for (std::size_t i = 0; 2 * i < bins_.size(); i++) {
      Bin both = bins_[2 * i];
      for (u32 r = 0; 2 * i + 1 < bins_.size() && r < ReasonBits; r++) both[r] += bins_[2 * i + 1][r];
      bins_[i] = both;
    }
    bins_.resize((bins_.size() + 1) / 2);
  }
  if (bins_.size() <= after / width_) bins_.resize(after / width_ + 1);
  bins_[after / width_][static_cast<u32>(reason)]++;
}

void FateTimes::write(nlohmann::ordered_json& json) const {
  if (bins_.empty()) return;
  nlohmann::ordered_json reasons = nlohmann::ordered_json::object();
  for (u32 r = 0; r < ReasonBits; r++) {
    std::vector<u64> counts;
    u64 sum = 0;
    for (const Bin& bin : bins_) sum += counts.emplace_back(bin[r]);
    if (sum != 0) reasons[ReasonNames[r]] = counts;
  }
  json["fates"] = {{"start_ns", startNs_}, {"bin_ns", width_}, {"reasons", reasons}};
}

}  // namespace vermilion
