/* SPDX-License-Identifier: MIT */
/**
 * DOC: hints for programs with the Boehm collector (libgc)
 *
 * LD_PRELOAD=libgchint-boehm.so needs nothing else. A program that links the adapter
 * instead, ahead of libgc, calls gchint_boehm_install(), so that the linker keeps it.
 */
#ifndef GCHINT_BOEHM_H
#define GCHINT_BOEHM_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * gchint_boehm_install() - hint for the collector of this process
 *
 * Takes the collector's lock: not from its callbacks. Happens by itself when the
 * library is loaded together with libgc. A callback that was set before goes on
 * being called; one that is set later takes the place of ours, until this is called
 * again; that one may call ours. Marker threads that run already are found, too. One
 * thread at a time.
 *
 * Return: 0, also where hints go nowhere; -ENOSYS there is no libgc here.
 */
int gchint_boehm_install(void);

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_BOEHM_H */
