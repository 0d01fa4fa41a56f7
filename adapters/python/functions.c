// SPDX-License-Identifier: MIT
/*
 * Which function CPython (3.11 to 3.13) runs, for profilers: to the processor all of them are
 * one loop. The interpreter lets a frame be evaluated by somebody else; we tell its function,
 * have it evaluated as ever, and give back who ran before:
 *
 *	a call, a generator or coroutine that goes on	its function
 *	a return, a yield, an error			who called it
 *	a function in C					who called it: it is its native code
 *
 * Per thread, in each interpreter. A profile function (PyEval_SetProfile) would tell the same for ten
 * times the instructions, and would be in the way of the program's own. A function is
 * named when it is first seen; its name stands with its code object.
 *
 * A frame that others evaluate is a recursion in C as well. Where half of a thread's stack
 * is used, or half of the recursions that 3.12 allows, the interpreter goes on without us until
 * that frame is done, and the thread is in no function; what another thread enters meanwhile
 * counts for its caller.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <gchint.h>

#include "python.h"

/* Outside of the stable ABI, and the same in these versions; weak as in python.c. */
typedef struct thread_state PyThreadState;
typedef struct interpreter PyInterpreterState;
typedef PyObject *evaluate_fn(PyThreadState *state, void *frame, int throwing);
typedef int get_extra_fn(PyObject *code, ptrdiff_t index, void **extra);
typedef int set_extra_fn(PyObject *code, ptrdiff_t index, void *extra);
typedef ptrdiff_t index_fn(void (*destroy)(void *extra));

extern evaluate_fn _PyEval_EvalFrameDefault;
extern void _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState *of, evaluate_fn *fn);
extern evaluate_fn *_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState *of);
extern PyInterpreterState *PyInterpreterState_Get(void);
/* Its name in 3.11, and since. */
extern get_extra_fn _PyCode_GetExtra, PyUnstable_Code_GetExtra;
extern set_extra_fn _PyCode_SetExtra, PyUnstable_Code_SetExtra;
extern index_fn _PyEval_RequestCodeExtraIndex, PyUnstable_Eval_RequestCodeExtraIndex;
extern const unsigned long Py_Version;
extern const char PyCode_Type[];
extern long PyLong_AsLong(PyObject *number);
extern PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *text, ptrdiff_t *size);
extern void PyErr_Clear(void);
extern void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **trace);
extern void PyErr_Restore(PyObject *type, PyObject *value, PyObject *trace);
extern void Py_DecRef(PyObject *object);
#pragma weak _PyEval_EvalFrameDefault
#pragma weak _PyInterpreterState_SetEvalFrameFunc
#pragma weak _PyInterpreterState_GetEvalFrameFunc
#pragma weak PyInterpreterState_Get
#pragma weak _PyCode_GetExtra
#pragma weak PyUnstable_Code_GetExtra
#pragma weak _PyCode_SetExtra
#pragma weak PyUnstable_Code_SetExtra
#pragma weak _PyEval_RequestCodeExtraIndex
#pragma weak PyUnstable_Eval_RequestCodeExtraIndex
#pragma weak Py_Version
#pragma weak PyCode_Type
#pragma weak PyLong_AsLong
#pragma weak PyObject_GetAttrString
#pragma weak PyUnicode_AsUTF8AndSize
#pragma weak PyErr_Clear
#pragma weak PyErr_Fetch
#pragma weak PyErr_Restore
#pragma weak Py_DecRef

/* The first of every object, unless Python was built to trace references. */
struct head {
	ptrdiff_t references;
	const void *type;
};

/* Of this Python; the same in each of its interpreters. */
static struct {
	get_extra_fn *get;
	set_extra_fn *set;
	ptrdiff_t index; /* of ours among the extras of a code object */
	size_t code; /* offset of a frame's code object */
	unsigned int most; /* frames of ours within each other */
	int at_calls; /* to compare: names are written at each call */
} python = { .index = -1 };

/* Below it less than half of this thread's stack is left; NULL not looked for. */
static __thread const char *floor_of_stack;
static __thread unsigned int depth;

static void find_floor(void)
{
	pthread_attr_t attr;
	void *base;
	size_t size;

	floor_of_stack = (const char *)1;
	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &base, &size))
		floor_of_stack = (const char *)base + size / 2;
	pthread_attr_destroy(&attr);
}

static const char *text_of(PyObject *text)
{
	const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;

	return utf8 ? utf8 : "?";
}

/* At @address, if it has one. Within the frame's own exception, which stays. */
static uintptr_t name(PyObject *code, uintptr_t address)
{
	PyObject *type, *value, *trace, *what, *file, *line;
	uintptr_t method;
	char text[400];

	PyErr_Fetch(&type, &value, &trace);
	what = PyObject_GetAttrString(code, "co_qualname");
	file = PyObject_GetAttrString(code, "co_filename");
	line = PyObject_GetAttrString(code, "co_firstlineno");
	snprintf(text, sizeof(text), "%s (%s:%ld)", text_of(what), text_of(file),
		 line ? PyLong_AsLong(line) : 0);
	method = gchint_symbol_add(address, 1, text);
	/* Without memory it is named again when it is called again. */
	if (method && !address)
		python.set(code, python.index, (void *)method);
	PyErr_Clear();
	Py_DecRef(line);
	Py_DecRef(file);
	Py_DecRef(what);
	PyErr_Restore(type, value, trace);
	return method;
}

static uintptr_t method_of(const void *frame)
{
	PyObject *code = *(PyObject *const *)((const char *)frame + python.code);
	void *method = NULL;

	if (!code || ((const struct head *)code)->type != PyCode_Type)
		return 0;
	if (python.get(code, python.index, &method)) {
		PyErr_Clear();
		return 0;
	}
	return method && !python.at_calls ? (uintptr_t)method : name(code, (uintptr_t)method);
}

static evaluate_fn evaluate;

static PyObject *evaluate_deep(PyThreadState *state, void *frame, int throwing)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	const uintptr_t outer = gchint_method_enter(0);
	PyObject *result;

	_PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
	result = _PyEval_EvalFrameDefault(state, frame, throwing);
	/* Unless the program has put its own there. */
	if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == _PyEval_EvalFrameDefault)
		_PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
	gchint_method_leave(outer);
	return result;
}

static PyObject *evaluate(PyThreadState *state, void *frame, int throwing)
{
	PyObject *result;
	uintptr_t outer;

	if (!floor_of_stack)
		find_floor();
	if ((const char *)__builtin_frame_address(0) < floor_of_stack || depth == python.most)
		return evaluate_deep(state, frame, throwing);
	depth++;
	outer = gchint_method_enter(method_of(frame));
	result = _PyEval_EvalFrameDefault(state, frame, throwing);
	gchint_method_leave(outer);
	depth--;
	return result;
}

/* Whether this Python has all of it, as we know it. */
static int know(void)
{
	const unsigned long version = &Py_Version ? Py_Version >> 16 : 0;

	if (!_PyEval_EvalFrameDefault || !_PyInterpreterState_SetEvalFrameFunc ||
	    !_PyInterpreterState_GetEvalFrameFunc || !PyInterpreterState_Get || !&PyCode_Type ||
	    !PyUnicode_AsUTF8AndSize || !PyErr_Fetch || !PyErr_Restore)
		return 0;
	if (version == 0x30b) {
		/* Behind the function, its globals, builtins and locals. */
		python.code = 4 * sizeof(void *);
		python.most = UINT_MAX;
		python.get = _PyCode_GetExtra;
		python.set = _PyCode_SetExtra;
	} else if (version == 0x30c || version == 0x30d) {
		/* Each is two recursions: of 1500 in 3.12, of 500 where it is built to debug. */
		python.most = 125;
		python.get = PyUnstable_Code_GetExtra;
		python.set = PyUnstable_Code_SetExtra;
	}
	return python.get && python.set;
}

void functions_watch(void)
{
	static int known;
	index_fn *request;
	ptrdiff_t index;

	if (!gchint_profiled() || known < 0)
		return;
	if (!known) {
		known = know() ? 1 : -1;
		if (known < 0) {
			fputs("libgchint-python.so: no functions: not CPython 3.11 to 3.13\n",
			      stderr);
			return;
		}
	}
	request = _PyEval_RequestCodeExtraIndex ? _PyEval_RequestCodeExtraIndex :
						  PyUnstable_Eval_RequestCodeExtraIndex;
	index = request ? request(NULL) : -1;
	if (python.index < 0) {
		python.index = index;
		python.at_calls = gchint_profiled() == 2;
	}
	/* Code that is built into Python is that of all its interpreters, with its extras. */
	if (index < 0 || index != python.index)
		return;
	_PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate);
}
