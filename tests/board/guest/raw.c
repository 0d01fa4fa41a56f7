// SPDX-License-Identifier: MIT
/*
 * raw COMMAND... - what a raw tracepoint passes to BPF, without any description
 * of it, while COMMAND runs: a line for each event of COMMAND.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#define ARGS_MAX   12
#define EVENTS_MAX 4096

/* A tracepoint of the module, and the number of its arguments. */
struct point {
	const char *name;
	int nr_args;
	int map;
};

static void die(const char *what)
{
	fprintf(stderr, "raw: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static __u64 address(const void *p)
{
	return (__u64)(uintptr_t)p;
}

static struct bpf_insn insn(int code, int dst, int src, int off, int imm)
{
	return (struct bpf_insn){ .code = (uint8_t)code,
				  .dst_reg = dst & 15,
				  .src_reg = src & 15,
				  .off = (int16_t)off,
				  .imm = imm };
}

static int new_queue(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_QUEUE;
	attr.value_size = ARGS_MAX * sizeof(__u64);
	attr.max_entries = EVENTS_MAX;
	return bpf(BPF_MAP_CREATE, &attr);
}

/* A program that puts the arguments of its tracepoint into the queue. */
static int load(const struct point *p)
{
	struct bpf_insn code[2 * ARGS_MAX + 16];
	const int stack = -ARGS_MAX * (int)sizeof(__u64);
	union bpf_attr attr;
	unsigned int n = 0;

	for (int i = 0; i < ARGS_MAX; i++) {
		const int at = i * (int)sizeof(__u64);

		if (i < p->nr_args)
			code[n++] = insn(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_3, BPF_REG_1, at, 0);
		else
			code[n++] = insn(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0);
		code[n++] = insn(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_3, stack + at, 0);
	}
	code[n++] = insn(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, p->map);
	code[n++] = insn(0, 0, 0, 0, 0);
	code[n++] = insn(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0);
	code[n++] = insn(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, stack);
	code[n++] = insn(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, BPF_ANY);
	code[n++] = insn(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_push_elem);
	code[n++] = insn(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	code[n++] = insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = address(code);
	attr.insn_cnt = n;
	attr.license = address("Dual MIT/GPL");
	return bpf(BPF_PROG_LOAD, &attr);
}

/* The kernel refuses a program that reads more arguments than there are. */
static int listen_to(const char *name, int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = address(name);
	attr.raw_tracepoint.prog_fd = (uint32_t)prog;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int pop(const struct point *p, __u64 *args)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)p->map;
	attr.value = address(args);
	return bpf(BPF_MAP_LOOKUP_AND_DELETE_ELEM, &attr);
}

int main(int argc, char **argv)
{
	struct point points[] = {
		{ .name = "gchint_phase", .nr_args = 12 },
		{ .name = "gchint_lease", .nr_args = 6 },
		{ .name = "gchint_decision", .nr_args = 11 },
	};
	__u64 args[ARGS_MAX];
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: raw COMMAND...\n");
		return 2;
	}
	for (size_t i = 0; i < 3; i++) {
		int prog;

		points[i].map = new_queue();
		if (points[i].map < 0)
			die("a queue");
		prog = load(&points[i]);
		if (prog < 0)
			die("a program");
		if (listen_to(points[i].name, prog) < 0)
			die(points[i].name);
	}
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die(argv[1]);
	while (!pop(&points[0], args))
		if (args[1] == (__u64)pid)
			printf("gchint_phase: phase: %u\n", (unsigned int)args[4]);
	while (!pop(&points[1], args))
		if (args[1] == (__u64)pid)
			printf("gchint_lease: what: %u\n", (unsigned int)args[5]);
	while (!pop(&points[2], args))
		if (args[7] && args[7] <= args[2] && args[2] <= args[8])
			printf("gchint_decision: khz: %u reason: %u\n", (unsigned int)args[2],
			       (unsigned int)args[10] & 255);
	return 0;
}
