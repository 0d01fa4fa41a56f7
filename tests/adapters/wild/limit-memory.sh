# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a program that a limit or a seccomp filter forbids the memory for its hints is counted as not recorded
# source: https://github.com/NVIDIA/OpenShell/issues/1427
# needs: gcc sqlite3 /usr/bin/python3
# when: all
cat >filter.c <<'EOC'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { 4, f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, 2, &p) || argc < 2 || execvp(argv[1], argv + 1);
}
EOC
gcc -o filter filter.c
code='import gc; gc.collect(); print("done"); exit(7)'
for how in ./filter 'sh -c "ulimit -f 100; exec \"\$@\"" sh'; do
	eval "status 7 \"\$ctl\" run -- $how /usr/bin/python3 -c '$code'"
	[ "$(cat out)" = "done" ]
	has err 'no hints: of 1 programs none were received: .*ulimit -f'
	rm -f r.db
	eval "status 7 \"\$ctl\" run -r r.db -- sh -c '/usr/bin/python3 -c \"import gc; gc.collect()\"; \"\$@\"' sh $how /usr/bin/python3 -c '$code'"
	has err 'without those of 1 programs'
	[ "$(sqlite3 -readonly r.db "select sum(count) from drops where why like '%forbids its ring'")" = 1 ]
done
# One byte of a file may be too many.
status 7 "$ctl" run -- sh -c 'ulimit -f 0; exec /usr/bin/python3 -c "import gc; gc.collect(); exit(7)"'
