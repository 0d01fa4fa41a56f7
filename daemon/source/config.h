/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration: [section] lines, "key = value" lines, '#' comments. See
 * gchintd.conf(5). Parsing has no side effects; an error names the file and the line.
 */
#ifndef SOURCE_CONFIG_H
#define SOURCE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uapi/linux/gchint.h>

enum source_id {
#define SOURCE(name, period, on) SOURCE_##name,
#include "sources.def"
#undef SOURCE
	SOURCE_NR
};

/**
 * struct config_source - settings that every source has
 * @enabled: whether it is probed at all
 * @period_ms: sampling interval, 1..3600000; genl: how long edges may wait
 * @budget_percent: a sample that takes a larger share of the period than this
 *	makes the period longer, 1..100
 * @match: shell pattern that a rail's name must match, "*" for all
 */
struct config_source {
	bool enabled;
	uint32_t period_ms;
	uint32_t budget_percent;
	char match[64];
};

/* Where gchintd looks for it. */
#define CONFIG_PATH "/etc/gchint/gchintd.conf"

#define CONFIG_PHASES ((1u << GCHINT_PHASE_NR) - 1) /* all of them, including none */

/**
 * struct config_hotspots - how threads are sampled, and which samples are kept
 * @hz: samples a second of CPU time
 * @signal: ask threads by a signal, even where BPF could read their state
 * @phases: bit mask of phases; bit 0: samples outside of any phase
 * @command: shell pattern of a process's name or command line
 * @cgroup: pattern of its control group or of an ancestor, by path or by last component
 * @unit: pattern of its systemd unit
 * @method: patterns of methods, separated by '|'
 *
 * The last five can be changed at run time; "*" matches everything.
 */
struct config_hotspots {
	uint32_t hz;
	bool signal;
	uint32_t phases;
	char command[128], cgroup[256], unit[128], method[400];
};

struct config {
	char record_file[256]; /* "" none */
	char label[64]; /* of the run, for comparisons */
	uint64_t max_size; /* bytes of one file; 0 no limit */
	uint32_t keep; /* rotated files to keep */
	bool arguments; /* record command lines of hinted processes */
	bool durable; /* sync each batch to the medium */
	uint32_t queue; /* records between sources and writer */
	uint64_t genl_buffer; /* receive buffer to request, bytes */
	uint32_t genl_phases; /* bit mask of phases to record everywhere */
	struct config_hotspots hotspots;
	char library_socket[108]; /* where programs send their rings; "" GCHINT_STREAM's only */
	bool iio_buffered; /* capture through libiio buffers where possible */
	uint64_t trace_buffer; /* bytes of the trace ring of each CPU */
	char metrics_listen[64]; /* address:port, "" none */
	char metrics_service[64]; /* of all programs; "" each its own */
	char metrics_textfile[256]; /* "" none */
	char metrics_token_file[256]; /* clients that send its content see every rail; "" none */
	uint32_t metrics_period_s;
	struct config_source source[SOURCE_NR];
};

void config_defaults(struct config *config);

/**
 * config_parse - parse a text
 * @config: changed as the text says; undefined after a failure
 * @text: the text; need not be NUL-terminated
 * @len: bytes of it
 * @error: receives "line N: what is wrong: what would be right"
 * @size: of @error
 *
 * Returns 0 or -EINVAL.
 */
int config_parse(struct config *config, const char *text, size_t len, char *error, size_t size);

/**
 * config_load - defaults, then a file
 * @config: left alone on failure
 * @path: the file
 * @error: receives "PATH:N: ..." or "PATH: ..."
 * @size: of @error
 *
 * Returns 0 or -errno.
 */
int config_load(struct config *config, const char *path, char *error, size_t size);

const char *config_source_name(enum source_id id);

#endif
