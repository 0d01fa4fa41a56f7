// SPDX-License-Identifier: MIT
/** Binary trees: Trees ROUNDS DEPTH THREADS EXPLICIT [wait]; "wait" reads a line at the end. */
public final class Trees {
	private static final class Tree {
		Tree left, right;

		Tree(int depth) {
			if (depth > 0) {
				left = new Tree(depth - 1);
				right = new Tree(depth - 1);
			}
		}

		int nodes() {
			return left == null ? 1 : 1 + left.nodes() + right.nodes();
		}
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]), depth = Integer.parseInt(args[1]);
		Thread[] threads = new Thread[Integer.parseInt(args[2])];
		Tree kept = new Tree(depth);

		for (int n = 0; n < threads.length; n++) {
			threads[n] = new Thread(() -> {
				Tree young = null;
				for (int round = 0; round < rounds; round++) {
					young = new Tree(depth);
					if (young.nodes() != (2 << depth) - 1)
						throw new IllegalStateException();
				}
			});
			threads[n].start();
		}
		for (Thread thread : threads)
			thread.join();
		for (int n = Integer.parseInt(args[3]); n > 0; n--)
			System.gc();
		if (kept.nodes() != (2 << depth) - 1)
			throw new IllegalStateException();
		System.out.println("done");
		if (args.length > 4)
			System.in.read();
	}
}
