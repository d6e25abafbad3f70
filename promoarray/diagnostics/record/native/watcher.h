// Watchers of frameworks' calls: a call that is like another is carried out, and counted, with no frame of
// ours. What is like no other, or has to be looked at, they hand to their methods in Python (watcher.py).
#pragma once

#include "ref.h"

namespace promoarray {

// What stands for a call in Python; and the watcher itself.
extern PyType_Spec call_key_spec, call_watcher_spec;
extern PyTypeObject *call_key_type;  // once it is made, for good

}  // namespace promoarray
