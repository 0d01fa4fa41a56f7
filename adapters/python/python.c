// SPDX-License-Identifier: MIT
/*
 * CPython (3.8 and newer): LD_PRELOAD=libgchint-python.so python3 program.py
 *
 * The cycle collector calls the functions in gc.callbacks, on the thread that holds the
 * interpreter's lock. The other threads wait, so a collection is STW and FOREGROUND:
 *
 *	start, generation 0 or 1	collect
 *	start, the oldest generation	mark		most of its time it traverses the heap
 *	stop				none		work done: objects that were freed
 *
 * CPython collects by itself if its count of new objects is above the threshold and gc is enabled;
 * any other collection is one that the program asked for. That is the cause.
 *
 * Python reports neither the parts of a collection nor what reference counts free; between
 * collections this costs nothing. While a recorder profiles, functions.c reports which function
 * runs.
 *
 * GCHINT_PYTHON_THRESHOLD_FACTOR multiplies the first threshold of each interpreter when it starts,
 * with or without a destination for hints: gchintctl why --try sets it. What the program sets itself
 * applies afterwards.
 *
 * The callback must be set before the first line of a program runs, also in an interpreter that
 * ignores its environment (-I, -E) or its site (-S). Therefore the built-in module _abc, which
 * each interpreter and sub-interpreter imports at its start, gets one more function that is called
 * then. Since 3.13 its initialisation is called in the first interpreter alone. Without Python
 * nothing is changed.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gchint.h>

#include "../common/start.h"
#include "python.h"

#define STOPPED (GCHINT_F_STW | GCHINT_F_FOREGROUND)
#define FIRST	"_abc"

#define FACTOR	      "GCHINT_PYTHON_THRESHOLD_FACTOR"
#define FACTOR_MAX    100000
#define THRESHOLD_MAX 2000000000 /* it is an int of C */

/*
 * Declarations from Python's stable ABI, so that one build serves all versions. Weak, because a
 * process that preloads this library may have no Python.
 */
extern PyObject *PyCFunction_NewEx(struct method *method, PyObject *self, PyObject *module);
extern PyObject *PyDict_GetItemString(PyObject *dict, const char *key);
extern void PyErr_Clear(void);
extern PyObject *PyImport_ImportModule(const char *name);
extern int PyList_Append(PyObject *list, PyObject *item);
extern long PyLong_AsLong(PyObject *number);
extern PyObject *PyLong_FromLong(long number);
extern PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
extern PyObject *PyTuple_GetItem(PyObject *tuple, ptrdiff_t index);
extern PyObject *PyTuple_New(ptrdiff_t size);
extern int PyTuple_SetItem(PyObject *tuple, ptrdiff_t index, PyObject *item);
extern PyObject *PyObject_CallObject(PyObject *function, PyObject *arguments);
extern int PyUnicode_CompareWithASCIIString(PyObject *text, const char *with);
extern void Py_DecRef(PyObject *object);
extern void Py_IncRef(PyObject *object);
extern PyObject _Py_NoneStruct;
extern const char PyModuleDef_Type[];
#pragma weak PyModuleDef_Type
#pragma weak PyCFunction_NewEx
#pragma weak PyDict_GetItemString
#pragma weak PyErr_Clear
#pragma weak PyImport_ImportModule
#pragma weak PyList_Append
#pragma weak PyLong_AsLong
#pragma weak PyLong_FromLong
#pragma weak PyObject_GetAttrString
#pragma weak PyObject_CallObject
#pragma weak PyTuple_GetItem
#pragma weak PyTuple_New
#pragma weak PyTuple_SetItem
#pragma weak PyUnicode_CompareWithASCIIString
#pragma weak Py_DecRef
#pragma weak Py_IncRef
#pragma weak _Py_NoneStruct

/* What a module's initialisation returns, if it is created in phases; of the stable ABI. */
struct slot {
	int slot;
	void *value;
};
#define MOD_EXEC 2
struct definition {
	struct {
		ptrdiff_t references;
		const void *type;
		PyObject *(*init)(void);
		ptrdiff_t index;
		PyObject *copy;
	} base;
	const char *name, *doc;
	ptrdiff_t size;
	void *methods;
	struct slot *slots;
};

/* From <import.h>; not in the stable ABI, but unchanged since Python 1.4. */
struct builtin {
	const char *name;
	PyObject *(*init)(void);
};
extern struct builtin *PyImport_Inittab;
#pragma weak PyImport_Inittab

static PyObject *(*init_first)(void);
static int announces; /* there is a destination for hints */

static long info_get_number(PyObject *info, const char *key)
{
	PyObject *value = PyDict_GetItemString(info, key); /* borrowed */
	long n = value ? PyLong_AsLong(value) : -1;

	if (n < 0)
		PyErr_Clear();
	return n;
}

/* What a function of gc returns, or, with @first, the first number of its tuple; -1: it failed. */
static long gc_get_number(PyObject *gc, const char *name, int first)
{
	PyObject *function = PyObject_GetAttrString(gc, name), *value = NULL, *number;
	long n = -1;

	if (function)
		value = PyObject_CallObject(function, NULL);
	number = value && first ? PyTuple_GetItem(value, 0) : value;
	if (number)
		n = PyLong_AsLong(number);
	if (n < 0)
		PyErr_Clear();
	Py_DecRef(value);
	Py_DecRef(function);
	return n;
}

static uint32_t cause_read(PyObject *gc)
{
	const long count = gc_get_number(gc, "get_count", 1);
	const long threshold = gc_get_number(gc, "get_threshold", 1);
	const long enabled = gc_get_number(gc, "isenabled", 0);

	if (count < 0 || threshold < 0 || enabled < 0)
		return GCHINT_CAUSE_UNKNOWN;
	return enabled && threshold && count > threshold ? GCHINT_CAUSE_THRESHOLD :
							   GCHINT_CAUSE_EXPLICIT;
}

static void collection_begin(PyObject *gc, long generation)
{
	struct gchint_detail detail = { .size = sizeof(detail), .cause = cause_read(gc) };

	gchint_begin_detail(gchint_self(),
			    generation < 2 ? GCHINT_PHASE_COLLECT : GCHINT_PHASE_MARK, STOPPED,
			    &detail);
}

/* CPython counts no bytes: what is known of the heap is what was freed. */
static void collection_end(long generation, long freed)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;

	if (freed > 0)
		gchint_progress(gchint_self(), (uint64_t)freed, 0, 0);
	heap.when = GCHINT_HEAP_AFTER;
	if (freed >= 0)
		heap.freed = (uint64_t)freed;
	if (generation >= 0)
		heap.generation = (uint32_t)generation;
	gchint_heap(gchint_self(), &heap);
	gchint_phase_end();
}

/*
 * callback(phase, info); @self is the module gc. Leaves no exception pending, because the collector
 * would print it.
 */
static PyObject *on_collection(PyObject *self, PyObject *args)
{
	PyObject *what = PyTuple_GetItem(args, 0), *info = PyTuple_GetItem(args, 1);

	if (!what || !info)
		PyErr_Clear();
	else if (!PyUnicode_CompareWithASCIIString(what, "start"))
		collection_begin(self, info_get_number(info, "generation"));
	else
		collection_end(info_get_number(info, "generation"),
			       info_get_number(info, "collected"));
	Py_IncRef(&_Py_NoneStruct);
	return &_Py_NoneStruct;
}

static void collector_watch(void)
{
	static struct method method = { "gchint", on_collection, METH_VARARGS, NULL };
	PyObject *gc = PyImport_ImportModule("gc");
	PyObject *callbacks = gc ? PyObject_GetAttrString(gc, "callbacks") : NULL;
	PyObject *callback = callbacks ? PyCFunction_NewEx(&method, gc, NULL) : NULL;

	if (!callback || PyList_Append(callbacks, callback))
		PyErr_Clear();
	Py_DecRef(callback);
	Py_DecRef(callbacks);
	Py_DecRef(gc);
}

static void threshold_multiply(void)
{
	const char *text = getenv(FACTOR);
	const long factor = text ? strtol(text, NULL, 10) : 0;
	PyObject *gc = factor > 1 && factor <= FACTOR_MAX ? PyImport_ImportModule("gc") : NULL;
	PyObject *set = gc ? PyObject_GetAttrString(gc, "set_threshold") : NULL;
	PyObject *arguments = set ? PyTuple_New(1) : NULL, *done = NULL;
	const long now = arguments ? gc_get_number(gc, "get_threshold", 1) : 0;

	/* A threshold of 0 means that it does not collect. */
	if (now > 0 && now <= THRESHOLD_MAX / factor &&
	    !PyTuple_SetItem(arguments, 0, PyLong_FromLong(now * factor)))
		done = PyObject_CallObject(set, arguments);
	if (factor > 1 && !done)
		PyErr_Clear();
	Py_DecRef(done);
	Py_DecRef(arguments);
	Py_DecRef(set);
	Py_DecRef(gc);
}

static int on_interpreter(PyObject *module)
{
	(void)module;
	threshold_multiply();
	if (!announces)
		return 0;
	collector_watch();
	functions_watch();
	return 0;
}

/* Returns 0 if the module is created at once, by each call of its initialisation. */
static int definition_extend(PyObject *returned)
{
	struct definition *of = (struct definition *)returned;
	static struct slot slots[32];
	size_t n = 0;

	if (!returned || !&PyModuleDef_Type || of->base.type != PyModuleDef_Type)
		return 0;
	if (of->slots == slots)
		return 1;
	for (; of->slots && of->slots[n].slot; n++) {
		if (n + 2 == sizeof(slots) / sizeof(slots[0]))
			return 0;
		slots[n] = of->slots[n];
	}
	slots[n].slot = MOD_EXEC;
	slots[n].value = (void *)on_interpreter;
	of->slots = slots;
	return 1;
}

static PyObject *init_abc(void)
{
	static int started;
	PyObject *returned = init_first();

	if (!started) {
		started = 1;
		announces = adapter_start("libgchint-python.so", NULL);
		if (announces)
			adapter_fork();
	}
	if ((announces || getenv(FACTOR)) && !definition_extend(returned))
		on_interpreter(NULL);
	return returned;
}

/* The table may be read-only, so Python gets a copy with one entry changed. */
__attribute__((constructor)) static void inittab_install(void)
{
	static struct builtin table[256];
	size_t n = 0, first = 0;

	if (!&PyImport_Inittab || !PyImport_Inittab || !PyCFunction_NewEx || !&_Py_NoneStruct)
		return;
	for (; PyImport_Inittab[n].name; n++) {
		if (n + 1 == sizeof(table) / sizeof(table[0]))
			return;
		table[n] = PyImport_Inittab[n];
		if (!strcmp(table[n].name, FIRST))
			first = n;
	}
	init_first = table[first].init;
	if (!init_first || strcmp(table[first].name, FIRST) != 0)
		return;
	table[first].init = init_abc;
	PyImport_Inittab = table;
}
