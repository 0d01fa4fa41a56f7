// SPDX-License-Identifier: MIT
import java.util.Random;
import java.util.concurrent.CyclicBarrier;

/**
 * GCW on a Java machine: the same plan, the same numbers drawn, the same trees as
 * workloads/gcw.c. A node of Android's size s takes s + 8 bytes here, as it does in C
 * with 64-bit references: HotSpot's header is 12 bytes and objects align to 8.
 */
public final class Gcw implements Runnable {
	static class Node {
		Node left, right;
	}
	static class Node24 extends Node {
		long a;
	}
	static class Node40 extends Node {
		long a, b, c;
	}
	static class Node96 extends Node {
		long a, b, c, d, e, f, g, h, i, j;
	}
	static class Node192 extends Node96 {
		long k, l, m, n, o, p, q, r, s, t, u, v;
	}
	static class Node336 extends Node192 {
		long a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, k1, l1, m1, n1, o1, p1, q1, r1;
	}

	/** A tree that grows breadth first; nodes that wait are chained through left. */
	private static final class Builder {
		Node root, parent, head, tail;

		void add(Node node) {
			if (root == null) {
				root = head = tail = node;
				return;
			}
			if (parent != null && parent.right == null) {
				parent.right = node;
			} else {
				parent = head;
				head = parent.left;
				parent.left = node;
			}
			if (head != null)
				tail.left = node;
			else
				head = node;
			tail = node;
		}

		Node end() {
			Node built = root;
			while (head != null) {
				Node next = head.left;
				head.left = null;
				head = next;
			}
			root = parent = tail = null;
			return built;
		}
	}

	private static final int[] SIZE = {16, 24, 40, 96, 192, 336};
	private static final int LARGE = SIZE.length;
	private static int threads, stages, iterations, entries, largeSize;
	private static long bucket, periods, larges, seed;
	private static int[] sizeLimit, elementLimit;
	private static int[][] lifeLimit;
	private static long[] lasting;

	private static void plan(Profile p) {
		double[] share = p.shares("size-dist"), count = new double[LARGE];
		double total = p.size("total"), nodes = 0, small = 0;

		threads = (int) p.size("threads");
		if (threads == 0)
			threads = Runtime.getRuntime().availableProcessors();
		bucket = p.size("bucket");
		iterations = (int) p.size("iterations");
		largeSize = (int) p.size("large-size");
		seed = p.size("seed");
		for (int i = 0; i < LARGE; i++) {
			nodes += share[i] / SIZE[i];
			small += share[i];
		}
		for (int i = 0; i < LARGE; i++)
			count[i] = share[i] / SIZE[i] / nodes;
		sizeLimit = Profile.limits(count);
		elementLimit = Profile.limits(p.shares("large-types"));
		lifeLimit = new int[LARGE + 1][];
		lasting = new long[LARGE + 1];
		for (int c = 0; c <= LARGE; c++) {
			double[] life = p.shares("lifetime-" + (c == LARGE ? "large" : c + 1));
			double bytes = total / threads * share[c] * life[0];

			lifeLimit[c] = Profile.limits(life);
			lasting[c] = (long) (bytes / (c == LARGE ? largeSize : SIZE[c]) + 0.5);
			stages = life.length;
		}
		if (lasting[LARGE] == 0)
			lasting[LARGE] = 1;
		entries = (int) (bucket / (small / nodes) * 1.11);
		periods = (long) (total / threads * (1 - share[LARGE]) / bucket + 0.5);
		larges = (long) (total / threads * share[LARGE] / largeSize + 0.5);
	}

	private final int index;
	private final CyclicBarrier start;
	private final byte[] size, stage;
	private final Random draw;
	private final Builder[] build;
	private Node[][] tree;
	private Object[][][] large;
	private int[][] largeCount;
	private long[][] nodeCount;
	private int next;
	double elapsedMs;
	long bytes, objects, checksum;
	Node[] lastingTree;
	Object[] lastingLarge;

	private Gcw(int index, CyclicBarrier start) {
		Random sizes = new Random(seed + index), lives = new Random(seed + index + threads);

		this.index = index;
		this.start = start;
		draw = new Random(seed + index + 2 * threads);
		size = new byte[entries];
		stage = new byte[entries];
		for (int i = 0; i < entries; i++) {
			size[i] = (byte) Profile.pick(sizeLimit, sizes.nextInt(1000));
			stage[i] = (byte) Profile.pick(lifeLimit[size[i]], lives.nextInt(1000));
		}
		build = new Builder[stages];
		for (int s = 0; s < stages; s++)
			build[s] = new Builder();
	}

	private Node newNode(int c) {
		bytes += SIZE[c];
		objects++;
		switch (c) {
			case 0: return new Node();
			case 1: { Node24 n = new Node24(); n.a = c; return n; }
			case 2: { Node40 n = new Node40(); n.a = c; return n; }
			case 3: { Node96 n = new Node96(); n.a = c; return n; }
			case 4: { Node192 n = new Node192(); n.a = c; return n; }
			default: { Node336 n = new Node336(); n.a = c; return n; }
		}
	}

	private Object newLarge() {
		bytes += largeSize;
		objects++;
		return switch (Profile.pick(elementLimit, draw.nextInt(1000))) {
			case 0 -> new byte[largeSize];
			case 1 -> new char[largeSize / 2];
			case 2 -> new int[largeSize / 4];
			default -> new long[largeSize / 8];
		};
	}

	private void buildLasting() {
		long k = 0;

		for (int c = 0; c < LARGE; c++)
			for (long i = 0; i < lasting[c]; i++, k++)
				build[(int) (k % stages)].add(newNode(c));
		lastingTree = new Node[stages];
		for (int s = 0; s < stages; s++)
			lastingTree[s] = build[s].end();
		lastingLarge = new Object[(int) lasting[LARGE]];
		for (int i = 0; i < lastingLarge.length; i++)
			lastingLarge[i] = newLarge();
	}

	private void drop(int row, int s) {
		checksum += nodeCount[row][s] * (s + 1);
		nodeCount[row][s] = 0;
		tree[row][s] = null;
		for (int i = 0; i < largeCount[row][s]; i++)
			large[row][s][i] = null;
		largeCount[row][s] = 0;
	}

	private void period(long period, long largeArrays) {
		int row = (int) (period % stages);

		for (long done = 0; done < bucket;) {
			int c = size[next], s = stage[next];

			build[s].add(newNode(c));
			nodeCount[row][s]++;
			done += SIZE[c];
			if (++next == entries)
				next = 0;
		}
		for (int s = 0; s < stages; s++)
			tree[row][s] = build[s].end();
		for (long i = 0; i < largeArrays; i++) {
			Object array = newLarge();
			int s = Profile.pick(lifeLimit[LARGE], draw.nextInt(1000));

			large[row][s][largeCount[row][s]++] = array;
		}
		for (int s = 0; s < stages; s++) {
			int age = s == 0 ? stages - 1 : s - 1;

			if (period >= age)
				drop((int) ((period - age) % stages), s);
		}
	}

	@Override
	public void run() {
		try {
			start.await();
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
		long begin = System.nanoTime(), number = 0;
		tree = new Node[stages][stages];
		nodeCount = new long[stages][stages];
		largeCount = new int[stages][stages];
		large = new Object[stages][stages][(int) ((larges + periods - 1) / periods)];
		buildLasting();
		for (int i = 0; i < iterations; i++)
			for (long p = 0; p < periods; p++)
				period(number++, (p + 1) * larges / periods - p * larges / periods);
		elapsedMs = (System.nanoTime() - begin) / 1e6;
	}

	public static void main(String[] args) throws Exception {
		plan(new Profile(args));
		CyclicBarrier start = new CyclicBarrier(threads);
		Gcw[] worker = new Gcw[threads];
		Thread[] thread = new Thread[threads];
		double score = 0;
		long bytes = 0, objects = 0, checksum = 0;

		for (int i = 0; i < threads; i++) {
			worker[i] = new Gcw(i, start);
			thread[i] = new Thread(worker[i], "gcw-" + i);
			thread[i].start();
		}
		for (int i = 0; i < threads; i++) {
			thread[i].join();
			score = Math.max(score, worker[i].elapsedMs);
			bytes += worker[i].bytes;
			objects += worker[i].objects;
			checksum += worker[i].checksum;
		}
		Profile.report(score, bytes, objects, checksum);
	}
}
