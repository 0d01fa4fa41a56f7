// SPDX-License-Identifier: MIT
/*
 * table PROGRAM - where gchintctl finds the functions of a Go program that it probes: file offset and
 * name, a line each. "table -0 PROGRAM" first removes from a copy in memory the address of the code,
 * as Go 1.26 does; "table -1 PROGRAM" all addresses of the table, too.
 */
#include <gchintctl/launch/go.c>

int main(int argc, char **argv)
{
	uint64_t offset[AT_NR] = { 0 }, size, address;
	struct image m = { NULL, 0 };
	struct table *t;
	const char *why;
	struct stat st;
	int fd = argc > 1 ? open(argv[argc - 1], O_RDONLY) : -1;

	if (fd < 0 || fstat(fd, &st))
		return 2;
	m.size = (size_t)st.st_size;
	m.base = mmap(NULL, m.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (m.base == MAP_FAILED)
		return 2;
	t = (struct table *)(uintptr_t)table_find(&m, &size, &address);
	if (t && argc > 2)
		t->text = 0;
	for (size_t i = 0; t && argc > 2 && argv[1][1] == '1' && i < m.size / 8; i++)
		if (((const uint64_t *)m.base)[i] == address)
			((uint64_t *)(uintptr_t)m.base)[i] = 0;
	why = table_find_functions(&m, offset);
	if (why)
		printf("%s\n", why);
	for (unsigned int n = 0; !why && n < AT_NR; n++)
		printf("%#lx %s\n", (unsigned long)offset[n], functions[n]);
	return why != NULL;
}
