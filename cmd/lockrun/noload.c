/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing is loaded into a static lockrun at run time. SQLite can load
 * extensions and therefore calls dlopen(3) and its kin; the linker turns these
 * calls (--wrap) to the functions below, which refuse. A dlopen in a static
 * program would bring a second C library into it. Called by SQLite alone.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);
const char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int __wrap_dlclose(void *handle)
{
    (void)handle;
    return -1;
}

const char *__wrap_dlerror(void)
{
    return "lockrun loads no code at run time";
}
