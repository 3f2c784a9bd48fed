/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fresh folder for one test, gone with all that is in it afterwards. For unit
 * tests.
 */
#ifndef HF_TESTS_FOLDER_H
#define HF_TESTS_FOLDER_H

/* Make one below $TMPDIR or /tmp; its absolute path, for folder_free. */
char *folder_new(void);
/* Remove it and all that is below it. */
void folder_free(char *path);
/* How many entries a folder has, "." and ".." among them. */
unsigned int folder_count(const char *path);

#endif
