/* SPDX-License-Identifier: MIT */
/*
 * The part of .NET's profiling interface (corprof.idl) that the adapter needs: function tables,
 * accessed by slot number. Later versions only append slots.
 */
#ifndef ADAPTER_DOTNET_PROFILER_H
#define ADAPTER_DOTNET_PROFILER_H

#include <stdint.h>

typedef int32_t result; /* HRESULT */

#define S_OK		  0
#define E_NOINTERFACE	  ((result)0x80004002)
#define E_NO_CLASS	  ((result)0x80040111)
#define CANCEL_ACTIVATION ((result)0x80131375) /* the runtime continues without a message */

/**
 * struct guid - identifier of a class or an interface, in its memory layout
 */
struct guid {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};

/* clang-format off */
#define GUID(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7) \
	{ 0x##a, 0x##b, 0x##c, { 0x##d0, 0x##d1, 0x##d2, 0x##d3, 0x##d4, 0x##d5, 0x##d6, 0x##d7 } }

/* The adapter's own; gchintctl has the same value, which it passes to the runtime. */
#define GCHINT_PROFILER	 GUID(8f2f3a2e, 43c1, 4d0b, 9a, 6e, 67, 63, 68, 69, 6e, 74)
#define UNKNOWN		 GUID(00000000, 0000, 0000, c0, 00, 00, 00, 00, 00, 00, 46)
#define CLASS_FACTORY	 GUID(00000001, 0000, 0000, c0, 00, 00, 00, 00, 00, 00, 46)
#define PROFILER_INFO_12 GUID(27b24ccd, 1cb1, 47c5, 96, ee, 98, 19, 0d, c3, 09, 59)

/* ICorProfilerCallback to ICorProfilerCallback11 (.NET 6): each is a prefix of the next. */
#define PROFILER_CALLBACKS { \
	GUID(176fbed1, a55c, 4796, 98, ca, a9, da, 0e, f8, 83, e7), \
	GUID(8a8cc829, ccf2, 49fe, bb, ae, 0f, 02, 22, 28, 07, 1a), \
	GUID(4fd2ed52, 7731, 4b8d, 94, 69, 03, d2, cc, 30, 86, c5), \
	GUID(7b63b2e3, 107d, 4d48, b2, f6, f6, 1e, 22, 94, 70, d2), \
	GUID(8dfba405, 8c9f, 45f8, bf, fa, 83, b1, 4c, ef, 78, b5), \
	GUID(fc13df4b, 4448, 4f4f, 95, 0c, ba, 8d, 19, d0, 0c, 36), \
	GUID(f76a2dba, 1d52, 4539, 86, 6c, 2a, a5, 18, f9, ef, c3), \
	GUID(5bed9b15, c079, 4d47, bf, e2, 21, 5a, 14, 0c, 07, e0), \
	GUID(27583ec3, c8f5, 482f, 80, 52, 19, 4b, 8c, e4, 70, 5a), \
	GUID(cec5b60e, c69c, 495f, 87, f6, 84, d2, 8e, e1, 6f, fb), \
	GUID(42350846, aaed, 47f7, b1, 28, fd, 0c, 98, 88, 1c, de), \
}
/* clang-format on */

/* Slots in the table of every interface. */
enum {
	AT_QUERY,
	AT_ADD_REF,
	AT_RELEASE,
};

/* Slots of a class factory. */
enum {
	AT_CREATE = 3,
	AT_LOCK,
	FACTORY_SLOTS,
};

/* Slots of ICorProfilerCallback11. */
enum {
	AT_INITIALIZE = 3,
	AT_INITIALIZE_FOR_ATTACH = 80,
	AT_EVENT_DELIVERED = 95,
	AT_NOTIFICATION_ONLY = 97,
	CALLBACK_SLOTS,
};

/* Slots of ICorProfilerInfo12. */
enum {
	AT_SET_EVENT_MASK_2 = 72,
	AT_START_SESSION = 101,
	AT_PROVIDER_INFO = 105,
};

#define HIGH_MONITOR_EVENT_PIPE 0x80u

/**
 * struct provider_config - the events of one provider that a session receives
 * @name: the provider's name, UTF-16
 * @keywords: events with any of these keywords
 * @level: 4 is informational, which excludes the events for each object
 * @filter: NULL
 */
struct provider_config {
	const uint16_t *name;
	uint64_t keywords;
	uint32_t level;
	const uint16_t *filter;
};

/* An object of an interface begins with its table. */
struct object {
	void *const *table;
};

typedef result query_fn(struct object *self, const struct guid *which, void *out);
typedef result set_event_mask_fn(struct object *info, uint32_t low, uint32_t high);
typedef result start_session_fn(struct object *info, uint32_t count,
				struct provider_config *providers, int rundown, uint64_t *session);
typedef result provider_info_fn(struct object *info, uintptr_t provider, uint32_t capacity,
				uint32_t *length, uint16_t *name);

#endif /* ADAPTER_DOTNET_PROFILER_H */
