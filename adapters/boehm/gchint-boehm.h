/* SPDX-License-Identifier: MIT */
/**
 * DOC: hints for programs with the Boehm collector (libgc)
 *
 * With LD_PRELOAD=libgchint-boehm.so no call is needed. A program that links the adapter
 * instead, ahead of libgc, calls gchint_boehm_install() so that the linker keeps it.
 */
#ifndef GCHINT_BOEHM_H
#define GCHINT_BOEHM_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * gchint_boehm_install() - hint for the collector of this process
 *
 * Takes the collector's lock, so it must not be called from the collector's callbacks, and
 * by one thread at a time only. The library calls it itself when it is loaded together with
 * libgc.
 *
 * A callback that was set before is still called. A callback that is set later replaces the
 * adapter's, which it may call, until this function is called again. Marker threads that
 * already run are found, too.
 *
 * Return: 0, also if there is no receiver for hints; -ENOSYS if the process has no libgc.
 */
int gchint_boehm_install(void);

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_BOEHM_H */
