// SPDX-License-Identifier: MIT
// Index ENTRIES LOOKUPS: a map of strings, of which each lookup makes a few, and one of thirty-two replaces an entry.
import java.util.HashMap;

final class Index {
	public static void main(String[] args) {
		int entries = Integer.parseInt(args[0]);
		HashMap<Integer, String[]> map = new HashMap<>();
		long found = 0;

		for (int i = 0; i < entries; i++)
			map.put(i, new String[] { "entry " + i, "of " + entries });
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			int key = (int) ((i * 2654435761L >>> 8) % entries);
			String[] words = ("looked up " + key + " at " + i).split(" ");

			found += map.get(key)[0].length() + words.length;
			if (i % 32 == 0)
				map.put(key, words);
		}
		System.out.println(found);
	}
}
