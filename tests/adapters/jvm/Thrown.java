// SPDX-License-Identifier: MIT
// Thrown ROUNDS [named]: a method that works after what it called was left by an exception, from twenty calls deep; and
// how often it was named in the file of names.
class Thrown {
	// By another program: to read it here would be calls as well.
	static void named() throws Exception {
		String map = System.getenv("GCHINT_SYMBOLS") + "/perf-" + ProcessHandle.current().pid() + ".map";
		new ProcessBuilder("grep", "-c", "Thrown.caught ", map).inheritIO().start().waitFor();
	}

	static void deep(int n) {
		if (n == 0)
			throw new IllegalStateException();
		deep(n - 1);
	}

	static double caught(int n) {
		double x = 1;
		try {
			deep(20);
		} catch (IllegalStateException e) {
			x = 2;
		}
		for (int i = 0; i < n; i++)
			x = x * 0.5 + i;
		return x;
	}

	public static void main(String[] args) throws Exception {
		double sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			sum += caught(300000 + i * 12360 % 100000);
		System.out.println(sum > 0 ? "done" : "none");
		if (args.length > 1)
			named();
	}
}
