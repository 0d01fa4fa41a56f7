// SPDX-License-Identifier: MIT
// A queue of some 63 MiB, through which four million arrays pass: a heap of 96 MiB is too small.
import java.util.ArrayDeque;

class Kept {
	public static void main(String[] args) {
		ArrayDeque<byte[]> queue = new ArrayDeque<>();

		for (int n = 0; n < 4_000_000; n++)
			if (queue.add(new byte[200]) && queue.size() > 300_000)
				queue.poll();
		System.out.println("done");
	}
}
