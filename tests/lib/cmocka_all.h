/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmocka with what its header needs in front of it, in the order that it needs.
 * For unit tests only.
 */
#ifndef HF_TESTS_CMOCKA_ALL_H
#define HF_TESTS_CMOCKA_ALL_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
