// SPDX-License-Identifier: MIT
/*
 * libgchint-launch.so is what gchintctl run preloads. Each process that the program starts inherits
 * it, and decides for itself, when it starts, which runtime it is:
 *
 *	python, ocaml		the adapter is loaded here
 *	boehm, gjs, php		the adapter replaces functions and must come before the libraries that
 *				have them: the process executes itself once more, with it preloaded
 *	java and its tools	the process executes itself once more, with the agent as an argument
 *	dotnet, lua, mono, node, ruby	their variable is set, for this process
 *	anything else		nothing is loaded, and our options are removed from the variables that
 *				it may read for itself, as Deno reads NODE_OPTIONS
 *
 * A Python or a JVM that a program loads later is recognised when it creates a key of
 * thread-specific data, which both do before they read their settings.
 *
 * GCHINT_RUNTIME limits this to the runtime of that name. The library links nothing but the C
 * library and does nothing under another one than glibc. A process that cannot load an adapter runs
 * as without; gchintctl says which hints there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

extern const char *gnu_get_libc_version(void);
#pragma weak gnu_get_libc_version

/* PID:NAME of a process that executes itself once more, for its second start. */
#define AGAIN "GCHINT_LAUNCH_AGAIN"
/* Of the .NET adapter; the same as in adapters/dotnet/profiler.h. */
#define DOTNET_CLASS "{8f2f3a2e-43c1-4d0b-9a6e-676368696e74}"
#define DATA_MAX     (4u << 20) /* bytes of a program's data that are searched */

static char directory[PATH_MAX]; /* of this library */
static char program[PATH_MAX]; /* the file of this process */
static int agent_is_given; /* to this JVM */

static const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int symbol_exists(const char *name)
{
	return dlsym(RTLD_DEFAULT, name) != NULL;
}

/* The adapter's path; NULL if it is not wanted or not there. */
static const char *adapter_path(const char *name, char *path, size_t size)
{
	const char *only = getenv("GCHINT_RUNTIME");

	if (only && *only && strcmp(only, name) != 0)
		return NULL;
	if (snprintf(path, size, "%s/libgchint-%s.so", directory, name) >= (int)size)
		return NULL;
	return access(path, R_OK) ? NULL : path;
}

static void adapter_load(const char *name, int flags)
{
	char path[PATH_MAX + 32];

	if (adapter_path(name, path, sizeof(path)))
		dlopen(path, RTLD_NOW | flags);
}

/* Bash has setenv() and unsetenv() of its own, which change its tables and not the environment. */
static void variable_set(const char *name, const char *value)
{
	static int (*set)(const char *, const char *, int);
	static int (*unset)(const char *);

	if (!set) {
		set = (int (*)(const char *, const char *, int))dlsym(RTLD_NEXT, "setenv");
		unset = (int (*)(const char *))dlsym(RTLD_NEXT, "unsetenv");
	}
	if (value && set)
		set(name, value, 1);
	else if (!value && unset)
		unset(name);
}

static void variable_append(const char *name, const char *separator, const char *value)
{
	const char *before = getenv(name);
	char *both;

	if (before && strstr(before, value))
		return;
	if (!before || !*before) {
		setenv(name, value, 1);
	} else if (asprintf(&both, "%s%s%s", before, separator, value) > 0) {
		setenv(name, both, 1);
		free(both);
	}
}

/*
 * Removes each word of a variable that contains @part, with @before in front of it, as in
 * "--require WORD". A word may be quoted.
 */
static void variable_remove(const char *name, const char *before, const char *part,
			    const char *separators)
{
	const char *value = getenv(name), *at, *word, *end;
	char *left, *to;
	int removed = 0;

	if (!value || !strstr(value, part))
		return;
	left = to = malloc(strlen(value) + 1);
	if (!left)
		return;
	for (at = value; *at; at = end) {
		word = at + strspn(at, separators);
		if (before && !strncmp(word, before, strlen(before)))
			word += strlen(before);
		if (*word == '"')
			end = strchrnul(word + 1, '"') + 1;
		else
			end = word + strcspn(word, separators);
		if (end > value + strlen(value))
			end = value + strlen(value);
		if (memmem(word, (size_t)(end - word), part, strlen(part))) {
			removed = 1;
			continue;
		}
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	*to = '\0';
	to = left + strspn(left, separators);
	if (removed)
		variable_set(name, *to ? to : NULL);
	free(left);
}

/* Executes the program once more; does not return unless that fails. */
static void process_execute(char **argv)
{
	const char *preloaded = getenv("LD_PRELOAD");
	char value[64], name[17] = "";

	/* valgrind does not follow a process into the program that it executes. */
	if (preloaded && strstr(preloaded, "/vgpreload_"))
		return;
	/* By the loader as a command, it is the loader that would be executed. */
	if (!*program || !strncmp(path_base(program), "ld-", 3) ||
	    !strncmp(path_base(program), "ld.", 3))
		return;
	prctl(PR_GET_NAME, name);
	snprintf(value, sizeof(value), "%d:%s", (int)getpid(), name);
	if (setenv(AGAIN, value, 1))
		return;
	execve(program, argv, environ);
	unsetenv(AGAIN);
}

/* At the second start: gives the process its name back. */
static int process_is_again(void)
{
	const char *value = getenv(AGAIN);
	char name[17], self[32];
	int ours;

	if (!value)
		return 0;
	snprintf(self, sizeof(self), "%d:", (int)getpid());
	ours = !strncmp(value, self, strlen(self));
	snprintf(name, sizeof(name), "%s", ours ? value + strlen(self) : "");
	unsetenv(AGAIN);
	if (*name)
		prctl(PR_SET_NAME, name);
	return ours;
}

/* For adapters that replace functions. */
static void process_preload(const char *name, char **argv, int again)
{
	char path[PATH_MAX + 32], all[2 * PATH_MAX];
	const char *before = getenv("LD_PRELOAD");

	if (again || !before || !adapter_path(name, path, sizeof(path)) || strpbrk(path, ":; \t\n"))
		return;
	if (snprintf(all, sizeof(all), "%s:%s", before, path) >= (int)sizeof(all))
		return;
	before = strdup(before);
	setenv("LD_PRELOAD", all, 1);
	process_execute(argv);
	if (before)
		setenv("LD_PRELOAD", before, 1);
}

static const char *agent_option(const char *prefix, char *option, size_t size)
{
	char path[PATH_MAX + 32];

	if (!adapter_path("jvm", path, sizeof(path)))
		return NULL;
	snprintf(option, size, "%s-agentpath:%s%s", prefix, path,
		 getenv("GCHINT_INTERPRETED") ? "=interpreted" : "");
	return option;
}

/* Options with which a JVM writes an archive of classes: it ends if it has an agent then. */
static int text_writes_archive(const char *text)
{
	static const char *const options[] = {
		"-Xshare:dump",
		"-XX:ArchiveClassesAtExit=",
		"-XX:+AutoCreateSharedArchive",
		"-XX:+RecordDynamicDumpInfo",
		"-XX:AOTMode=record",
		"-XX:AOTMode=create",
		"-XX:AOTCacheOutput=",
	};

	for (size_t i = 0; text && i < sizeof(options) / sizeof(options[0]); i++)
		if (strstr(text, options[i]))
			return 1;
	return 0;
}

/* A file of options, of which the first part is read. */
static int file_writes_archive(const char *path)
{
	char text[16384];
	struct stat st;
	/* What a pipe has, as in "javac @<(find ...)", can be read once, by the program. */
	FILE *f = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text_writes_archive(text);
}

static int java_writes_archive(int argc, char **argv)
{
	static const char *const variables[] = { "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
						 "_JAVA_OPTIONS" };
	static const char *const files[] = { "@", "-XX:Flags=", "-XX:VMOptionsFile=" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (text_writes_archive(getenv(variables[i])))
			return 1;
	for (int n = 1; n < argc; n++) {
		if (text_writes_archive(argv[n]))
			return 1;
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			if (!strncmp(argv[n], files[i], strlen(files[i])) &&
			    file_writes_archive(argv[n] + strlen(files[i])))
				return 1;
	}
	return 0;
}

/* The launchers of a JDK: java takes options of the JVM, the others with -J before. */
static void java_decide(int argc, char **argv, int again)
{
	char option[PATH_MAX + 64], **with;

	for (int i = 0; i < argc; i++)
		if (strstr(argv[i], "libgchint-jvm.so"))
			agent_is_given = 1;
	if (again || agent_is_given || argc < 1 ||
	    !agent_option(strcmp(path_base(program), "java") ? "-J" : "", option, sizeof(option)))
		return;
	if (java_writes_archive(argc, argv)) {
		agent_is_given = 1;
		fputs("libgchint-launch.so: no hints of this JVM: it writes an archive of classes, "
		      "which it "
		      "does not with an agent\n",
		      stderr);
		return;
	}
	with = calloc((size_t)argc + 2, sizeof(*with));
	if (!with)
		return;
	with[0] = argv[0];
	with[1] = option;
	memcpy(with + 2, argv + 1, (size_t)(argc - 1) * sizeof(*with));
	process_execute(with);
	free(with);
}

/* Under its permission model Node ends if it may not read the adapter. */
static int node_is_restricted(int argc, char **argv)
{
	const char *options = getenv("NODE_OPTIONS");

	for (int i = 1; i < argc; i++)
		if (strstr(argv[i], "--permission") || strstr(argv[i], "--experimental-permission"))
			return 1;
	return options &&
	       (strstr(options, "--permission") || strstr(options, "--experimental-permission"));
}

/* Electron starts Node too, and reports most options of the variable as errors. */
static int node_is_electron(void)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%.*s/chrome_100_percent.pak",
		 (int)(path_base(program) - program), program);
	return !access(path, F_OK);
}

static void node_decide(int argc, char **argv)
{
	char path[PATH_MAX + 32], option[PATH_MAX + 64];
	const char *options = getenv("NODE_OPTIONS");

	if (!adapter_path("node", path, sizeof(path)) || node_is_restricted(argc, argv) ||
	    node_is_electron()) {
		variable_remove("NODE_OPTIONS", "--require ", "/gchint-node.cjs", " ");
		return;
	}
	if (options && strstr(options, "/gchint-node.cjs"))
		return;
	/* V8 also writes a log then: here, or into the program's output if it cannot. */
	if (getenv("GCHINT_PROFILE") && !access(".", W_OK))
		variable_append("NODE_OPTIONS", " ", "--perf-basic-prof");
	else if (getenv("GCHINT_PROFILE"))
		fputs("libgchint-launch.so: the names of JavaScript functions are not recorded: V8 "
		      "writes a log next to them into the working directory, which is not "
		      "writable; start the program in another one\n",
		      stderr);
	snprintf(option, sizeof(option), "--require \"%s/node_modules/gchint-node.cjs\"", directory);
	variable_append("NODE_OPTIONS", " ", option);
}

/* Ruby splits the variable at blanks, which cannot be quoted. */
static void ruby_decide(void)
{
	char path[PATH_MAX + 32], option[PATH_MAX + 64];
	const char *options = getenv("RUBYOPT");

	if (!adapter_path("ruby", path, sizeof(path)) || strpbrk(path, " \t\n") ||
	    (options && strstr(options, "libgchint-ruby")))
		return;
	snprintf(option, sizeof(option), "-r%s", path);
	variable_append("RUBYOPT", " ", option);
}

/* What the user has there runs after the adapter; a file, as "@FILE", becomes a call. */
static void lua_decide(void)
{
	char path[PATH_MAX + 32], *text = NULL;
	static const char end[] = "/libgchint-lua.so]==], 'luaopen_gchint') or function() end)()";
	const char *user = getenv("LUA_INIT_5_4"), *open = "", *close = "";
	const char *ours = user ? strstr(user, end) : NULL;

	/* That of a parent is for itself; its child may have a LUA_INIT, which is read after it. */
	if (!user || (ours && !ours[sizeof(end) - 1]))
		user = getenv("LUA_INIT");
	if (!user)
		user = "";
	if (!adapter_path("lua", path, sizeof(path)) || strstr(user, "libgchint-lua.so"))
		return;
	if (*user == '@') {
		user++;
		open = " dofile([==[";
		close = "]==])";
	} else if (*user) {
		open = "\n";
	}
	if (asprintf(&text,
		     "(package.loadlib([==[%s]==], 'luaopen_gchint') or function() end)()%s%s%s",
		     path, open, user, close) < 0)
		return;
	setenv("LUA_INIT_5_4", text, 1);
	free(text);
}

/* Mono finds the profiler among the libraries of the process. */
static void mono_decide(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--profile=gchint", strlen("--profile=gchint")))
			return;
	adapter_load("mono", RTLD_GLOBAL);
	if (symbol_exists("mono_profiler_init_gchint"))
		variable_append("MONO_ENV_OPTIONS", " ", "--profile=gchint");
}

/* .NET reads the first of these variables that is set; 9 and 10 want a semicolon after each entry. */
static void dotnet_decide(void)
{
	static const char *const lists[] = {
#ifdef __aarch64__
		"CORECLR_NOTIFICATION_PROFILERS_ARM64",
#elif defined(__arm__)
		"CORECLR_NOTIFICATION_PROFILERS_ARM32",
#endif
		sizeof(void *) == 8 ? "CORECLR_NOTIFICATION_PROFILERS_64" :
				      "CORECLR_NOTIFICATION_PROFILERS_32",
		"CORECLR_NOTIFICATION_PROFILERS",
	};
	const char *list = NULL, *before = NULL, *separator;
	char path[PATH_MAX + 32], *both = NULL;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !before; i++) {
		list = lists[i];
		before = getenv(list);
	}
	if (!before)
		before = "";
	if (!adapter_path("dotnet", path, sizeof(path)) || strpbrk(path, ";=") ||
	    strstr(before, "libgchint-dotnet.so"))
		return;
	separator = *before && before[strlen(before) - 1] != ';' ? ";" : "";
	if (asprintf(&both, "%s%s%s=" DOTNET_CLASS ";", before, separator, path) < 0)
		return;
	setenv(list, both, 1);
	setenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1", 1);
	free(both);
}

/*
 * The host executable of a .NET program has these bytes in its writable data, before the offset of
 * the program that is bundled with it.
 */
static int data_is_dotnet(struct dl_phdr_info *info, size_t size, void *found)
{
	static const unsigned char mark[] = {
		0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
		0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
		0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
	};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_W &&
		    memmem((const char *)info->dlpi_addr + p->p_vaddr,
			   p->p_filesz < DATA_MAX ? p->p_filesz : DATA_MAX, mark, sizeof(mark)))
			*(int *)found = 1;
	}
	/* The program is the first. */
	return 1;
}

static int process_is_dotnet(void)
{
	int found = !strcmp(path_base(program), "dotnet");

	if (!found)
		dl_iterate_phdr(data_is_dotnet, &found);
	return found;
}

static int process_is_node(void)
{
	return symbol_exists("napi_module_register") && symbol_exists("_ZN4node5StartEiPPc");
}

/* The adapters that are preloaded into this process are not for its children. */
static void environment_clean(int node, int ruby)
{
	variable_remove("LD_PRELOAD", NULL, "/libgchint-boehm.so", ":");
	variable_remove("LD_PRELOAD", NULL, "/libgchint-gjs.so", ":");
	variable_remove("LD_PRELOAD", NULL, "/libgchint-php.so", ":");
	if (!node)
		variable_remove("NODE_OPTIONS", "--require ", "/gchint-node.cjs", " ");
	if (!ruby)
		variable_remove("RUBYOPT", NULL, "libgchint-ruby", " ");
}

/* An adapter that replaces functions is here already. */
static int adapter_is_preloaded(const char *name)
{
	char path[PATH_MAX + 32];
	void *library;

	if (!adapter_path(name, path, sizeof(path)))
		return 1;
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (library)
		dlclose(library);
	return library != NULL;
}

/* Where /proc is not mounted it is what was executed, unless that is a script. */
static void program_find(void)
{
	const char *executed = (const char *)getauxval(AT_EXECFN);
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char magic[4] = "";
	FILE *f;

	program[n > 0 ? n : 0] = '\0';
	f = *program || !executed ? NULL : fopen(executed, "re");
	if (f && fread(magic, 1, sizeof(magic), f) == sizeof(magic) &&
	    !memcmp(magic, ELFMAG, SELFMAG) && !realpath(executed, program))
		*program = '\0';
	if (f)
		fclose(f);
}

static int directory_find(void)
{
	Dl_info self;

	if (!dladdr((const void *)directory_find, &self) || !self.dli_fname ||
	    snprintf(directory, sizeof(directory), "%s", self.dli_fname) >=
		    (int)sizeof(directory) ||
	    !strrchr(directory, '/'))
		return 0;
	*strrchr(directory, '/') = '\0';
	program_find();
	return 1;
}

/* glibc passes the arguments of main(). */
__attribute__((constructor)) static void process_decide(int argc, char **argv)
{
	const int saved = errno;
	int again, node, ruby;

	if (!gnu_get_libc_version || !directory_find())
		return;
	again = process_is_again();
	node = process_is_node();
	ruby = symbol_exists("ruby_process_options") && symbol_exists("rb_gc_latest_gc_info");
	if (symbol_exists("JLI_Launch"))
		java_decide(argc, argv, again);
	else if (symbol_exists("_Z13JS_NewContextjP9JSRuntime") && !adapter_is_preloaded("gjs"))
		process_preload("gjs", argv, again);
	else if (symbol_exists("gc_collect_cycles") && !adapter_is_preloaded("php"))
		process_preload("php", argv, again);
	else if (symbol_exists("GC_set_on_collection_event") && !adapter_is_preloaded("boehm"))
		process_preload("boehm", argv, again);
	environment_clean(node, ruby);
	if (node)
		node_decide(argc, argv);
	if (ruby)
		ruby_decide();
	if (symbol_exists("PyImport_Inittab"))
		adapter_load("python", RTLD_LOCAL);
	if (symbol_exists("caml_minor_gc_begin_hook"))
		adapter_load("ocaml", RTLD_LOCAL);
	if (symbol_exists("lua_setwarnf"))
		lua_decide();
	if (!strncmp(path_base(program), "mono", 4))
		mono_decide(argc, argv);
	if (process_is_dotnet())
		dotnet_decide();
	errno = saved;
}

/* A library of a runtime creates a key: it was loaded by the program, and begins to start. */
static void runtime_found_late(const char *library)
{
	char option[PATH_MAX + 64];

	if (!strncmp(path_base(library), "libpython3", strlen("libpython3"))) {
		adapter_load("python", RTLD_LOCAL);
	} else if (!strcmp(path_base(library), "libjvm.so") && !agent_is_given) {
		agent_is_given = 1;
		if (agent_option("", option, sizeof(option)))
			variable_append("JAVA_TOOL_OPTIONS", " ", option);
	}
}

PUBLIC int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	static int (*next)(pthread_key_t *, void (*)(void *));
	Dl_info caller;

	if (!next)
		next = (int (*)(pthread_key_t *, void (*)(void *)))dlsym(RTLD_NEXT,
									 "pthread_key_create");
	if (*directory && dladdr(__builtin_return_address(0), &caller) && caller.dli_fname)
		runtime_found_late(caller.dli_fname);
	return next ? next(key, destructor) : ENOSYS;
}
