// SPDX-License-Identifier: MIT
// Live MIB ALL: keeps arrays of MIB, allocates ALL MiB more, and keeps one of sixteen in place of another one.
final class Live {
	private static final int BYTES = 1024;

	public static void main(String[] args) {
		byte[][] kept = new byte[Integer.parseInt(args[0]) * 1024][];
		long seed = 1, sum = 0;

		for (int i = 0; i < kept.length; i++)
			kept[i] = new byte[BYTES - 16];
		for (int i = Integer.parseInt(args[1]) * 1024; i > 0; i--) {
			byte[] array = new byte[BYTES - 16];

			seed = seed * 6364136223846793005L + 1442695040888963407L;
			if (seed >>> 60 == 0)
				kept[(int) ((seed >>> 33) % kept.length)] = array;
			sum += array.length;
		}
		System.out.println(sum);
	}
}
