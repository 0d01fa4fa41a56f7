# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a Mono has the variables that it was given, and so do its children, which are recorded
# source: docs/launch.md: Mono
# needs: mono mcs
# when: all
cat >e.cs <<'EOC'
class E {
	static int Main(string[] a) {
		System.GC.Collect();
		System.Console.WriteLine("{0} {1} {2}", System.Environment.GetEnvironmentVariable("MONO_ENV_OPTIONS"),
			System.Environment.GetEnvironmentVariable("LD_LIBRARY_PATH"), System.GC.CollectionCount(System.GC.MaxGeneration));
		if (a.Length == 0) return 7;
		var p = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo("mono", "e.exe") { UseShellExecute = false });
		p.WaitForExit();
		return p.ExitCode;
	}
}
EOC
mcs e.cs
MONO_ENV_OPTIONS=--debug GCHINT_TRACE=$PWD/t status 7 "$ctl" run -q -- mono e.exe child
[ "$(grep -c '^--debug  1$' out)" -eq 2 ]
[ "$(awk '$4 == "begin" { print $2 }' t | sort -u | wc -l)" -eq 2 ]
