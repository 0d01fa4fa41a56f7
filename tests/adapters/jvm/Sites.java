// SPDX-License-Identifier: MIT
// Sites MIB: large() allocates three quarters of so many MiB, small() one quarter; both are called by work().
class Sites {
	static Object kept;

	static void large() {
		for (int i = 0; i < 3; i++)
			kept = new byte[1008];
	}

	static void small() {
		for (int i = 0; i < 16; i++)
			kept = new byte[48];
	}

	static void work() {
		large();
		small();
	}

	public static void main(String[] args) {
		for (int i = Integer.parseInt(args[0]) * 256; i > 0; i--)
			work();
		System.out.println("done");
	}
}
