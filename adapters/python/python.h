/* SPDX-License-Identifier: MIT */
/* The parts of the CPython adapter. */
#ifndef GCHINT_PYTHON_H
#define GCHINT_PYTHON_H

/* From Python's stable ABI. Declared here, so that the build needs no Python headers. */
typedef struct object PyObject;
typedef PyObject *PyCFunction(PyObject *self, PyObject *args);
struct method {
	const char *name;
	PyCFunction *call;
	int flags;
	const char *doc;
};
#define METH_VARARGS 1

/**
 * functions_watch() - report which function runs, in this interpreter, from here on
 *
 * To be called once in each interpreter, by a thread that holds its lock. Does nothing if no
 * recorder profiles, or if the layout of this Python is unknown, which is reported once.
 */
void functions_watch(void);

#endif /* GCHINT_PYTHON_H */
