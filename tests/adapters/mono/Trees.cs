// SPDX-License-Identifier: MIT
// Binary trees on several threads; prints what a test compares with the trace.
using System;
using System.Threading;

public static class Trees {
	sealed class Tree {
		readonly Tree left, right;

		public Tree(int depth) {
			if (depth > 0) {
				left = new Tree(depth - 1);
				right = new Tree(depth - 1);
			}
		}

		public int Nodes() {
			return left == null ? 1 : 1 + left.Nodes() + right.Nodes();
		}
	}

	static void Work() {
		for (int round = 0; round < 60; round++)
			if (new Tree(14).Nodes() != (2 << 14) - 1)
				throw new Exception("tree");
	}

	public static void Main() {
		var kept = new Tree(16);
		var threads = new Thread[2];
		for (int n = 0; n < threads.Length; n++) {
			threads[n] = new Thread(Work);
			threads[n].Start();
		}
		foreach (var thread in threads)
			thread.Join();
		for (int n = 0; n < 3; n++)
			GC.Collect();
		if (kept.Nodes() != (2 << 16) - 1)
			throw new Exception("kept");
		Console.WriteLine("minor={0} major={1}", GC.CollectionCount(0), GC.CollectionCount(1));
	}
}
