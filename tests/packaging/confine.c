// SPDX-License-Identifier: MIT
/*
 * confine COMMAND... - run COMMAND as a container runs it by default: as root of a user namespace,
 * with the capabilities that docker and podman leave, and with their refusal of mounts, namespaces,
 * perf events and BPF. Users have the same numbers inside and outside.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As docs.docker.com and containers/common list them. */
#define KEPT                                                                                       \
	(1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FSETID | 1u << CAP_FOWNER |          \
	 1u << CAP_NET_RAW | 1u << CAP_SETGID | 1u << CAP_SETUID | 1u << CAP_SETPCAP |             \
	 1u << CAP_NET_BIND_SERVICE | 1u << CAP_SYS_CHROOT | 1u << CAP_KILL)

/* Flags of clone(2) that make a namespace, without CLONE_NEWTIME, whose bit is a signal's there. */
#define NAMESPACES 0x7e020000u

#define REFUSE(number)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1),                                   \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static int calls_filter(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(mount),
		REFUSE(umount2),
		REFUSE(pivot_root),
		REFUSE(unshare),
		REFUSE(setns),
		REFUSE(bpf),
		REFUSE(perf_event_open),
		REFUSE(init_module),
		REFUSE(finit_module),
		REFUSE(delete_module),
		/* Its flags are in memory, where a filter cannot look: the C library has clone(2). */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int map_write(pid_t of, const char *name)
{
	static const char all[] = "0 0 65536";
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/%d/%s", of, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = write(fd, all, strlen(all)) == (ssize_t)strlen(all) ? 0 : -1;
	close(fd);
	return ret;
}

/* More than one user can only be mapped from outside: by a child that stays there. */
static int namespace_enter(void)
{
	const pid_t self = getpid();
	int made[2], status;
	pid_t child;
	char byte;

	if (pipe2(made, O_CLOEXEC))
		return -1;
	child = fork();
	if (child < 0)
		return -1;
	if (!child) {
		close(made[1]);
		_exit(read(made[0], &byte, 1) != 1 || map_write(self, "uid_map") ||
		      map_write(self, "gid_map"));
	}
	close(made[0]);
	if (unshare(CLONE_NEWUSER) || write(made[1], "", 1) != 1)
		return -1;
	close(made[1]);
	if (waitpid(child, &status, 0) != child || status) {
		errno = EPERM;
		return -1;
	}
	return setresgid(0, 0, 0) || setresuid(0, 0, 0);
}

static int capabilities_drop(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { KEPT, KEPT, 0 }, { 0, 0, 0 } };
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if ((cap > 31 || !(KEPT >> cap & 1)) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return -1;
	return (int)syscall(SYS_capset, &header, data);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: confine COMMAND...\n");
		return 2;
	}
	/* The filter first: without CAP_SYS_ADMIN it would need no_new_privs. */
	if (namespace_enter() || calls_filter() || capabilities_drop()) {
		perror("confine");
		return 126;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return errno == ENOENT ? 127 : 126;
}
