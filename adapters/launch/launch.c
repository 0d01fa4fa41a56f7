// SPDX-License-Identifier: MIT
/*
 * libgchint-launch.so is what gchintctl run preloads. Each process that the program starts inherits
 * it, and decides for itself, when it starts, which runtime it is:
 *
 *	python, ocaml		the adapter is loaded here
 *	boehm, gjs		the adapter replaces functions and must come before the libraries that
 *				have them: the process executes itself once more, with it preloaded
 *	php			the adapter is loaded when PHP has started, which then calls tzset()
 *	java and its tools	the process executes itself once more, with the agent as an argument
 *	dotnet, lua, mono, node, ruby	their variable is set, for this process
 *	anything else		nothing is loaded, and our options are removed from the variables that
 *				it may read for itself, as Deno reads NODE_OPTIONS
 *
 * A Python or a JVM that a program loads later is recognised when it creates a key of
 * thread-specific data, which both do before they read their settings. A PHP is, as Apache loads it,
 * when it calls tzset().
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/variables.h"

#define PUBLIC __attribute__((visibility("default")))

extern const char *gnu_get_libc_version(void);
#pragma weak gnu_get_libc_version

/* PID:NAME of a process that executes itself once more, for its second start. */
#define AGAIN "GCHINT_LAUNCH_AGAIN"
/* Of the .NET adapter; the same as in adapters/dotnet/profiler.h. */
#define DOTNET_CLASS	"{8f2f3a2e-43c1-4d0b-9a6e-676368696e74}"
#define DATA_MAX	(4u << 20) /* bytes of a program's data that are searched */
#define DESCRIPTORS_MIN 64 /* file descriptors that Ruby and Node may have open, for an adapter */

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

/* Node takes _ for - in its options. */
static int node_option_is(const char *word, size_t n, const char *option)
{
	if (n != strlen(option))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (word[i] != option[i] && !(i > 1 && word[i] == '_' && option[i] == '-'))
			return 0;
	return 1;
}

/* Why Node could not load the adapter, or would end where it tries; NULL: it can. */
static const char *node_option_refuses(const char *word, size_t n)
{
	if (node_option_is(word, n, "--permission") ||
	    node_option_is(word, n, "--experimental-permission"))
		return "Node's permission model forbids adapters";
	if (node_option_is(word, n, "--no-addons"))
		return "--no-addons forbids adapters";
	return NULL;
}

/*
 * A word after an option may be its value: such a word is taken for the program, behind which no
 * option is Node's, if it is a file and the option is none that takes a file.
 */
static int node_word_is_program(const char *option, const char *word)
{
	static const char *const files[] = {
		"-r",
		"--require",
		"--import",
		"--loader",
		"--experimental-loader",
		"--env-file",
		"--env-file-if-exists",
		"--icu-data-dir",
		"--openssl-config",
		"--snapshot-blob",
		"--build-snapshot-config",
		"--experimental-config-file",
		"--experimental-sea-config",
		"--diagnostic-dir",
		"--watch-path",
		"--policy-integrity",
		"--experimental-policy",
	};

	if (*word == '-')
		return 0;
	if (!option || *option != '-' || strchr(option, '='))
		return 1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (node_option_is(option, strlen(option), files[i]))
			return 0;
	return !access(word, F_OK);
}

/* Why this Node takes no adapter; NULL: it does. */
static const char *node_refusal(int argc, char **argv, const char *options)
{
	const char *why = NULL;
	size_t n;

	for (int i = 1; i < argc && !why && strcmp(argv[i], "--") != 0 &&
			!node_word_is_program(i > 1 ? argv[i - 1] : NULL, argv[i]);
	     i++)
		why = node_option_refuses(argv[i], strlen(argv[i]));
	for (; options && *options && !why; options += n + strspn(options + n, " \"")) {
		n = strcspn(options, " \"");
		why = node_option_refuses(options, n);
	}
	return why;
}

/* gchintctl started this process itself, and nothing else reads what it prints. */
static int process_is_first(void)
{
	const char *from = getenv("GCHINT_LAUNCH_FROM");
	const pid_t pid = from ? (pid_t)atoi(from) : 0;

	return pid > 0 && (pid == getpid() || pid == getppid());
}

/* Ruby and Node end where they cannot open the adapter's file. */
static int descriptors_are_few(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < DESCRIPTORS_MIN;
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
	char path[PATH_MAX + 32], file[PATH_MAX + 32], option[PATH_MAX + 64];
	const char *options = getenv("NODE_OPTIONS");
	const char *refused = node_refusal(argc, argv, options);

	if (refused && process_is_first())
		fprintf(stderr, "libgchint-launch.so: no hints of this Node: %s\n", refused);
	if (refused || node_is_electron() || descriptors_are_few() ||
	    !adapter_path("node", path, sizeof(path)) ||
	    snprintf(file, sizeof(file), "%s/node_modules/gchint-node.cjs", directory) >=
		    (int)sizeof(file) ||
	    access(file, R_OK) || strpbrk(file, "\"\\")) {
		adapter_remove("node", 0);
		return;
	}
	if (options && strstr(options, "/gchint-node.cjs"))
		return;
	snprintf(option, sizeof(option), "--require \"%s\"", file);
	variable_append("NODE_OPTIONS", " ", option);
	/* V8 also writes a log then: here, or into the program's output if it cannot. */
	if (getenv("GCHINT_PROFILE") && !access(".", W_OK))
		variable_append("NODE_OPTIONS", " ", VARIABLES_NODE_MAP);
	else if (getenv("GCHINT_PROFILE"))
		fputs("libgchint-launch.so: the names of JavaScript functions are not recorded: V8 "
		      "writes a log next to them into the working directory, which is not "
		      "writable; start the program in another one\n",
		      stderr);
}

/* Ruby splits the variable at blanks, which cannot be quoted, but has a path of libraries. */
static void ruby_decide(void)
{
	char path[PATH_MAX + 32], option[PATH_MAX + 64];
	const char *options = getenv("RUBYOPT");

	if (descriptors_are_few()) {
		adapter_remove("ruby", 0);
		return;
	}
	if (!adapter_path("ruby", path, sizeof(path)) ||
	    (options && strstr(options, "libgchint-ruby.so")))
		return;
	if (!strpbrk(path, " \t\n")) {
		snprintf(option, sizeof(option), "-r%s", path);
	} else if (!strchr(directory, ':')) {
		variable_append("RUBYLIB", ":", directory);
		snprintf(option, sizeof(option), "-rlibgchint-ruby.so");
	} else {
		return;
	}
	variable_append("RUBYOPT", " ", option);
}

/* The user's own code runs after the adapter. */
static void lua_decide(void)
{
	const char *user = getenv("LUA_INIT_5_4");
	char path[PATH_MAX + 32], *text;

	if (!user)
		user = getenv("LUA_INIT");
	if (!adapter_path("lua", path, sizeof(path)) || (user && strstr(user, "libgchint-lua.so")))
		return;
	text = lua_compose(path);
	if (text)
		variable_set("LUA_INIT_5_4", text);
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

/*
 * What this process inherits. The adapters that are preloaded into it are not for its children, and
 * those in variables are for the runtime that reads them, if it can read the file.
 */
static void environment_clean(int node, int ruby, int dotnet)
{
	variable_remove("LD_PRELOAD", "/libgchint-boehm.so", ":");
	variable_remove("LD_PRELOAD", "/libgchint-gjs.so", ":");
	variable_remove("LD_PRELOAD", "/libgchint-php.so", ":");
	adapter_remove("dotnet", dotnet);
	/* Any process may load one. */
	adapter_remove("jvm", 1);
	adapter_remove("lua", 0);
	adapter_remove("mono", 0);
	adapter_remove("node", node);
	adapter_remove("ruby", ruby);
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
	int again, node, ruby, dotnet;

	if (!gnu_get_libc_version || !directory_find())
		return;
	again = process_is_again();
	node = process_is_node();
	ruby = symbol_exists("ruby_process_options") && symbol_exists("rb_gc_latest_gc_info");
	if (symbol_exists("JLI_Launch"))
		java_decide(argc, argv, again);
	else if (symbol_exists("_Z13JS_NewContextjP9JSRuntime") && !adapter_is_preloaded("gjs"))
		process_preload("gjs", argv, again);
	else if (symbol_exists("GC_set_on_collection_event") && !adapter_is_preloaded("boehm"))
		process_preload("boehm", argv, again);
	dotnet = process_is_dotnet();
	environment_clean(node, ruby, dotnet);
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
	if (dotnet)
		dotnet_decide();
	errno = saved;
}

/* A library of a runtime creates a key: it was loaded by the program, and begins to start. */
static void runtime_found_late(const char *library)
{
	char option[PATH_MAX + 64], quoted[PATH_MAX + 68];

	if (!strncmp(path_base(library), "libpython3", strlen("libpython3"))) {
		adapter_load("python", RTLD_LOCAL);
	} else if (!strcmp(path_base(library), "libjvm.so") && !agent_is_given) {
		agent_is_given = 1;
		if (!agent_option("", option, sizeof(option)) || strchr(option, '"'))
			return;
		snprintf(quoted, sizeof(quoted), strpbrk(option, " \t'") ? "\"%s\"" : "%s", option);
		variable_append("JAVA_TOOL_OPTIONS", " ", quoted);
	}
}

/* The engine has set gc_collect_cycles, which the adapter replaces. */
static void php_found(void)
{
	char path[PATH_MAX + 32];
	void (*watch)(void) = NULL;
	void *adapter;

	if (!adapter_path("php", path, sizeof(path)))
		return;
	adapter = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (adapter)
		watch = (void (*)(void))dlsym(adapter, "gchint_php_watch");
	if (watch)
		watch();
}

PUBLIC void tzset(void)
{
	static void (*next)(void);
	static const void *other; /* caller that is not PHP */
	const void *from = __builtin_return_address(0);

	if (!next)
		next = (void (*)(void))dlsym(RTLD_NEXT, "tzset");
	if (next)
		next();
	if (!*directory || from == other)
		return;
	if (symbol_exists("gc_collect_cycles"))
		php_found();
	else
		other = from;
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
