// The reader of a queue's image, which image_reader.cpp is generated for.
#pragma once

#include "config.h"
#include "json_object.h"

namespace vermilion {

// Fills `out`, which is all 0, from an object of the hardware configuration; only ranges of single values are checked.
void readQueueImage(const Object& o, vm_queue_image& out);

}  // namespace vermilion
