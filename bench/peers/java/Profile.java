// SPDX-License-Identifier: MIT
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Settings of a workload: a profile file, then key=value arguments over it. */
final class Profile {
	private final Map<String, String> value = new HashMap<>();

	Profile(String[] args) throws IOException {
		for (String arg : args) {
			int eq = arg.indexOf('=');
			if (eq < 0)
				throw new IllegalArgumentException("want KEY=VALUE, not " + arg);
			if (arg.startsWith("profile="))
				load(Path.of(arg.substring(eq + 1)));
			else
				value.put(arg.substring(0, eq), arg.substring(eq + 1));
		}
	}

	private void load(Path path) throws IOException {
		for (String line : Files.readAllLines(path)) {
			int comment = line.indexOf('#');
			if (comment >= 0)
				line = line.substring(0, comment);
			int eq = line.indexOf('=');
			if (eq >= 0)
				value.put(line.substring(0, eq).trim(), line.substring(eq + 1).trim());
		}
	}

	long size(String key) {
		String text = value.get(key);
		if (text == null)
			throw new IllegalArgumentException("no setting " + key);
		int shift = switch (Character.toUpperCase(text.charAt(text.length() - 1))) {
			case 'K' -> 10;
			case 'M' -> 20;
			case 'G' -> 30;
			default -> 0;
		};
		return Long.parseLong(shift == 0 ? text : text.substring(0, text.length() - 1)) << shift;
	}

	double[] list(String key) {
		String[] word = value.get(key).trim().split("[ ,]+");
		double[] out = new double[word.length];
		for (int i = 0; i < out.length; i++)
			out[i] = Double.parseDouble(word[i]);
		return out;
	}

	/** Shares that sum to one; the rounding of the source is levelled out. */
	double[] shares(String key) {
		double[] out = list(key);
		double sum = 0;
		for (double share : out)
			sum += share;
		for (int i = 0; i < out.length; i++)
			out[i] /= sum;
		return out;
	}

	/** Cumulated shares in whole per-milles. */
	static int[] limits(double[] share) {
		int[] out = new int[share.length];
		double sum = 0;
		for (int i = 0; i < out.length; i++) {
			sum += share[i];
			out[i] = (int) Math.floor(sum * 1000 + 0.5);
		}
		return out;
	}

	static int pick(int[] limit, int draw) {
		int i = 0;
		while (i + 1 < limit.length && draw >= limit[i])
			i++;
		return i;
	}

	/** One row of CSV, as gchint-bench prints it. */
	static void report(double scoreMs, long bytes, long objects, long checksum) {
		System.out.println("score_ms,asked_bytes,asked_objects,checksum");
		System.out.printf("%.3f,%d,%d,%d%n", scoreMs, bytes, objects, checksum);
	}
}
