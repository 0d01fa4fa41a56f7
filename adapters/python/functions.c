// SPDX-License-Identifier: MIT
/*
 * Reports which function CPython (3.11 to 3.14) runs, for profilers: all functions run in one
 * interpreter loop, so the program counter does not distinguish them. The interpreter allows to
 * replace its frame evaluation function (PEP 523). The replacement reports the frame's function,
 * calls the default evaluation, and then restores the function that ran before:
 *
 *	a call, a resumed generator or coroutine	its function
 *	a return, a yield, an error			the caller
 *	a function in C					the caller, as whose native code it counts
 *
 * The state is per thread, and the replacement per interpreter. A profile function
 * (PyEval_SetProfile) would report the same at ten times the instructions, and would displace
 * one of the program. A function is named when it first runs; the symbol's address is stored with
 * its code object.
 *
 * With a replaced evaluation function each Python call is also a recursion in C. When half of a
 * thread's stack is used, or half of the recursions that 3.12 allows, the replacement is removed
 * until that frame returns, and the thread is reported to be in no function. A function that
 * another thread enters meanwhile counts for its caller.
 *
 * Python's trampoline for perf (3.12) is an evaluation function too, and refuses to be the second:
 * the replacement makes way for it. Then perf's map, which Python writes, has the functions.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
/* The names in 3.11, and those since 3.12. */
extern get_extra_fn _PyCode_GetExtra, PyUnstable_Code_GetExtra;
extern set_extra_fn _PyCode_SetExtra, PyUnstable_Code_SetExtra;
extern index_fn _PyEval_RequestCodeExtraIndex, PyUnstable_Eval_RequestCodeExtraIndex;
extern const unsigned long Py_Version;
extern const char PyCode_Type[];
extern long PyLong_AsLong(PyObject *number);
extern PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
extern const char *PyUnicode_AsUTF8AndSize(PyObject *text, ptrdiff_t *size);
extern PyObject *PyCFunction_NewEx(struct method *method, PyObject *self, PyObject *module);
extern PyObject *PyDict_GetItemString(PyObject *dict, const char *key);
extern PyObject *PyImport_ImportModule(const char *name);
extern PyObject *PyObject_CallObject(PyObject *function, PyObject *args);
extern int PyObject_SetAttrString(PyObject *object, const char *name, PyObject *value);
extern PyObject *PySys_GetXOptions(void);
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
#pragma weak PyCFunction_NewEx
#pragma weak PyDict_GetItemString
#pragma weak PyImport_ImportModule
#pragma weak PyObject_CallObject
#pragma weak PyObject_SetAttrString
#pragma weak PySys_GetXOptions
#pragma weak PyErr_Clear
#pragma weak PyErr_Fetch
#pragma weak PyErr_Restore
#pragma weak Py_DecRef

/* The head of every object, unless Python was built to trace references. */
struct head {
	ptrdiff_t references;
	const void *type;
};

/* Of the loaded Python; common to all of its interpreters. */
static struct {
	get_extra_fn *get;
	set_extra_fn *set;
	ptrdiff_t index; /* of this adapter's slot in the extras of a code object */
	size_t code; /* offset of a frame's code object */
	uintptr_t tags; /* bits of that pointer which are none of the address */
	unsigned int most; /* nested frames that frame_evaluate() may handle */
	int at_calls; /* for comparison: names are written at each call */
} python = { .index = -1 };

/* Below this address less than half of the thread's stack is left. NULL: not computed yet. */
static __thread const char *floor_of_stack;
static __thread unsigned int depth;

static void stack_find_floor(void)
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

/*
 * @address: the symbol's address from an earlier call, 0 at the first. Called while an exception
 * may be pending in the frame, which is preserved.
 */
static uintptr_t function_register(PyObject *code, uintptr_t address)
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
	/* If memory is short, the next call tries again. */
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
	const uintptr_t word = *(const uintptr_t *)((const char *)frame + python.code);
	PyObject *code = (PyObject *)(word & ~python.tags);
	void *method = NULL;

	if (!code || ((const struct head *)code)->type != PyCode_Type)
		return 0;
	if (python.get(code, python.index, &method)) {
		PyErr_Clear();
		return 0;
	}
	return method && !python.at_calls ? (uintptr_t)method :
					    function_register(code, (uintptr_t)method);
}

static evaluate_fn frame_evaluate;

static PyObject *frame_evaluate_deep(PyThreadState *state, void *frame, int throwing)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	const uintptr_t outer = gchint_method_enter(0);
	PyObject *result;

	_PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
	result = _PyEval_EvalFrameDefault(state, frame, throwing);
	/* Keep an evaluation function that the program has set meanwhile. */
	if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == _PyEval_EvalFrameDefault)
		_PyInterpreterState_SetEvalFrameFunc(interpreter, frame_evaluate);
	gchint_method_leave(outer);
	return result;
}

static PyObject *frame_evaluate(PyThreadState *state, void *frame, int throwing)
{
	PyObject *result;
	uintptr_t outer;

	if (!floor_of_stack)
		stack_find_floor();
	if ((const char *)__builtin_frame_address(0) < floor_of_stack || depth == python.most)
		return frame_evaluate_deep(state, frame, throwing);
	depth++;
	outer = gchint_method_enter(method_of(frame));
	result = _PyEval_EvalFrameDefault(state, frame, throwing);
	gchint_method_leave(outer);
	depth--;
	return result;
}

static int variable_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

/* Python activates its trampoline when it starts, before or after this adapter. */
static int trampoline_at_start(void)
{
	PyObject *options = PySys_GetXOptions ? PySys_GetXOptions() : NULL;

	return (options && (PyDict_GetItemString(options, "perf") ||
			    PyDict_GetItemString(options, "perf_jit"))) ||
	       variable_is_set("PYTHONPERFSUPPORT") || variable_is_set("PYTHON_PERF_JIT_SUPPORT");
}

/* sys.activate_stack_trampoline(): @self is the one that this function takes the place of. */
static PyObject *trampoline_activate(PyObject *self, PyObject *args)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	const int ours = _PyInterpreterState_GetEvalFrameFunc(interpreter) == frame_evaluate;
	PyObject *result;

	if (ours)
		_PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
	result = PyObject_CallObject(self, args);
	if (ours && !result)
		_PyInterpreterState_SetEvalFrameFunc(interpreter, frame_evaluate);
	else if (ours)
		fputs("libgchint-python.so: functions end here: the program activates Python's "
		      "trampoline for perf, which takes their place\n",
		      stderr);
	return result;
}

static void trampoline_watch(void)
{
	static struct method method = { "activate_stack_trampoline", trampoline_activate,
					METH_VARARGS, NULL };
	PyObject *sys = PyImport_ImportModule("sys");
	PyObject *original = sys ? PyObject_GetAttrString(sys, method.name) : NULL;
	PyObject *ours = original ? PyCFunction_NewEx(&method, original, NULL) : NULL;

	if (ours)
		PyObject_SetAttrString(sys, method.name, ours);
	/* Older versions have none. */
	PyErr_Clear();
	Py_DecRef(ours);
	Py_DecRef(original);
	Py_DecRef(sys);
}

/* Whether the loaded Python has all functions, in a version whose layout is known. */
static int python_probe(void)
{
	const unsigned long version = &Py_Version ? Py_Version >> 16 : 0;

	if (!_PyEval_EvalFrameDefault || !_PyInterpreterState_SetEvalFrameFunc ||
	    !_PyInterpreterState_GetEvalFrameFunc || !PyInterpreterState_Get || !&PyCode_Type ||
	    !PyUnicode_AsUTF8AndSize || !PyErr_Fetch || !PyErr_Restore || !PyObject_CallObject ||
	    !PyObject_SetAttrString)
		return 0;
	if (version == 0x30b) {
		/* In a frame the code follows the function, its globals, builtins and locals. */
		python.code = 4 * sizeof(void *);
		python.most = UINT_MAX;
		python.get = _PyCode_GetExtra;
		python.set = _PyCode_SetExtra;
	} else if (version == 0x30e) {
		/* A reference with tags; recursions are bounded by the stack alone. */
		python.tags = 7;
		python.most = UINT_MAX;
		python.get = PyUnstable_Code_GetExtra;
		python.set = PyUnstable_Code_SetExtra;
	} else if (version == 0x30c || version == 0x30d) {
		/* Each frame takes two recursions, of 1500 in 3.12 or 500 in a debug build. */
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

	if (!gchint_is_profiled() || known < 0)
		return;
	if (!known) {
		known = python_probe() ? 1 : -1;
		if (known < 0) {
			fputs("libgchint-python.so: no functions: not CPython 3.11 to 3.14\n",
			      stderr);
			return;
		}
	}
	request = _PyEval_RequestCodeExtraIndex ? _PyEval_RequestCodeExtraIndex :
						  PyUnstable_Eval_RequestCodeExtraIndex;
	index = request ? request(NULL) : -1;
	if (python.index < 0) {
		python.index = index;
		python.at_calls = gchint_is_profiled() == 2;
	}
	/*
	 * Code objects that are built into Python are shared by all interpreters, with their
	 * extras: the index must be the same in all of them.
	 */
	if (index < 0 || index != python.index)
		return;
	if (trampoline_at_start() ||
	    _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) !=
		    _PyEval_EvalFrameDefault) {
		fputs("libgchint-python.so: no functions: Python's trampoline for perf (-X perf) "
		      "or "
		      "another evaluation function is in their place\n",
		      stderr);
		return;
	}
	trampoline_watch();
	_PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), frame_evaluate);
}
