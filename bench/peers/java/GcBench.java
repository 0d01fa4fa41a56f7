// SPDX-License-Identifier: MIT

/**
 * GCBench on a Java machine, as workloads/gcbench.c does it. The machine compiles while
 * it runs: "rounds" runs the whole of it so often in one process, and the score is the
 * fastest round.
 */
public final class GcBench {
	private static final class Node {
		Node left, right;
		int i, j;
	}

	private static long objects, bytes, checksum;
	/** Short-lived trees are stored here, so that the compiler cannot remove them as unused. */
	private static volatile Node sink;

	private static Node make(int depth) {
		Node node;

		if (depth <= 0)
			return new Node();
		Node left = make(depth - 1), right = make(depth - 1);
		node = new Node();
		node.left = left;
		node.right = right;
		return node;
	}

	private static void populate(Node node, int depth) {
		if (depth <= 0)
			return;
		node.left = new Node();
		node.right = new Node();
		populate(node.left, depth - 1);
		populate(node.right, depth - 1);
	}

	private static long nodes(int depth) {
		return (2L << depth) - 1;
	}

	private static long count(Node node) {
		return node == null ? 0 : 1 + count(node.left) + count(node.right);
	}

	private static double round(int stretch, int longest, int least, int most, int length) {
		long begin = System.nanoTime();
		Node tree = make(stretch);

		tree = new Node();
		populate(tree, longest);
		double[] array = new double[length];
		for (int i = 0; i < length / 2; i++)
			array[i] = 1.0 / (i + 1);
		objects = nodes(stretch) + nodes(longest) + 1;
		for (int d = least; d <= most; d += 2) {
			long trees = 2 * nodes(stretch) / nodes(d);

			for (long i = 0; i < trees; i++) {
				sink = new Node();
				populate(sink, d);
			}
			for (long i = 0; i < trees; i++)
				sink = make(d);
			sink = null;
			objects += 2 * trees * nodes(d);
		}
		bytes = (objects - 1) * 32 + 8L * length;
		checksum = nodes(longest) + objects;
		if (count(tree) != nodes(longest) || array[length / 4] != 1.0 / (length / 4 + 1))
			throw new IllegalStateException("lost");
		return (System.nanoTime() - begin) / 1e6;
	}

	public static void main(String[] args) throws Exception {
		Profile p = new Profile(args);
		double best = Double.POSITIVE_INFINITY;

		for (long i = 0; i < p.size("rounds"); i++)
			best = Math.min(best, round((int) p.size("stretch"), (int) p.size("long"),
				(int) p.size("min"), (int) p.size("max"), (int) p.size("array")));
		Profile.report(best, bytes, objects, checksum);
	}
}
