#include "real_time.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vermilion {

u64 RealTime::now() const {
  return laneOrigin_ + static_cast<u64>(std::chrono::nanoseconds(Clock::now() - origin_).count());
}

std::chrono::nanoseconds RealTime::until(u64 laneTime) const {
  const u64 at = now();
  return std::chrono::nanoseconds(laneTime > at ? laneTime - at : 0);
}

void RealTime::followed(u64 laneNow) {
  const u64 at = now();
  lag_ = at > laneNow ? at - laneNow : 0;
  mostLag_ = std::max(mostLag_, lag_);
}

void RealTime::sent(u64 left) {
  const u64 at = now(), late = at > left ? at - left : 0;
  frames_++;
  lateSum_ += late;
  lateMost_ = std::max(lateMost_, late);
}

void RealTime::write(nlohmann::ordered_json& json) const {
  json["real_time"] = {{"lag_ns", lag_},
                       {"most_lag_ns", mostLag_},
                       {"frames", frames_},
                       {"late_mean_ns", frames_ == 0 ? 0 : lateSum_ / frames_},
                       {"late_most_ns", lateMost_}};
}

}  // namespace vermilion
