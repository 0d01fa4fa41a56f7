/* SPDX-License-Identifier: MIT */
/* The parts of the CPython adapter. */
#ifndef GCHINT_PYTHON_H
#define GCHINT_PYTHON_H

/* Of Python's stable ABI; its own headers are not wanted. */
typedef struct object PyObject;

/**
 * functions_watch() - tell which function runs, in this interpreter, from here on
 *
 * Once in each interpreter, by a thread that holds its lock. Nothing where nobody
 * profiles, or in a Python of another layout, which is said once.
 */
void functions_watch(void);

#endif /* GCHINT_PYTHON_H */
