// SPDX-License-Identifier: MIT
// Trees ROUNDS THREADS: garbage, and what the runtime itself says of its collections; exits with 7.
// ROUNDS 0: until it is killed.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Trees {
	[DllImport("libc")] static extern int printf(string format, int a, int b, int c, long d);
	[DllImport("libc")] static extern int atoi(string text);
	[DllImport("libc")] static extern int usleep(uint us);

	const int Kept = 400000;
	static object[] kept;
	static int rounds;

	static void Work() {
		for (int i = 0; i < rounds || rounds == 0; i++) {
			object[] young = new object[100000];

			for (int j = 0; j < young.Length; j++) {
				young[j] = new byte[16];
				if ((j & 3) == 0)
					kept[(i * 7919 + j) % Kept] = young[j];
			}
			if (rounds == 0)
				usleep(2000);
		}
	}

	static int Main(string[] args) {
		Thread[] threads = new Thread[atoi(args[1])];
		int all, second, third;

		rounds = atoi(args[0]);
		kept = new object[Kept];
		GC.Collect();
		for (int i = 0; i < threads.Length; i++) {
			threads[i] = new Thread(new ThreadStart(Work));
			threads[i].Start();
		}
		for (int i = 0; i < threads.Length; i++)
			threads[i].Join();
		/* It waits for a background collection, which would else be cut off with the process. */
		GC.Collect();
		all = GC.CollectionCount(0);
		second = GC.CollectionCount(1);
		third = GC.CollectionCount(2);
		printf("all=%d second=%d third=%d pauses_ns=%ld\n", all, second, third,
			100 * GC.GetTotalPauseDuration().Ticks);
		return 7;
	}
}
