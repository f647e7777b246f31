// Reads a queue's register image. image_reader.cpp, the implementation, is generated.
#pragma once

#include "config.h"
#include "json_object.h"

namespace vermilion {

// Fills `out`, which is all 0, from an object of the hardware configuration. It checks only the ranges of single
// values.
void readQueueImage(const Object& o, vm_queue_image& out);

}  // namespace vermilion
