/*
 * What of the recorder depends on the machine: one file for each, with the same names.
 */
#ifndef HEAPFLOW_RECORDER_MACHINE_H
#define HEAPFLOW_RECORDER_MACHINE_H

#if defined(__x86_64__)
#include "x86-64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#error "heapflow's recorder needs x86-64 or arm64"
#endif

#endif
