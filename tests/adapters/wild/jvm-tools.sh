# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: collections of javac, and of a JVM that a program loads, which ignore JDK_JAVA_OPTIONS
# source: https://github.com/mvndaemon/mvnd/issues/429
# needs: javac gcc
# when: all
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
echo 'class S { public static void main(String[] a) { System.gc(); } }' >S.java
status 0 "$ctl" run -- javac -J-Xmx64m -J-Xlog:gc:file=log S.java
[ "$(grep -c Pause log)" -eq "$(sed -n 's/.* \([0-9]*\) pauses.*/\1/p' err)" ]
cat >host.c <<'EOC'
#include <dlfcn.h>
#include <jni.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	JavaVMOption option = { "-Djava.class.path=.", NULL };
	JavaVMInitArgs args = { JNI_VERSION_1_8, 1, &option, JNI_FALSE };
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	jint (*create)(JavaVM **, void **, void *) = library ? (jint(*)(JavaVM **, void **, void *))dlsym(library, "JNI_CreateJavaVM") : NULL;
	JavaVM *vm;
	JNIEnv *env;
	jclass s;

	if (!create || create(&vm, (void **)&env, &args))
		return 1;
	s = (*env)->FindClass(env, "S");
	(*env)->CallStaticVoidMethod(env, s, (*env)->GetStaticMethodID(env, s, "main", "([Ljava/lang/String;)V"), NULL);
	system("echo \"[$JAVA_TOOL_OPTIONS]\"");
	return 7;
}
EOC
gcc -I"$home/include" -I"$home/include/linux" -o host host.c -ldl
status 7 "$ctl" run -- ./host "$home/lib/server/libjvm.so"
has err '[1-9] pauses'
# For that JVM alone.
[ "$(cat out)" = "[]" ]
