// SPDX-License-Identifier: MIT
// Loops ROUNDS: three compiled methods of 6, 3 and 1 parts. Rounds differ in length: a sampler
// in step with them would see some parts and never others.
class Loops {
	static double heavy(int n) {
		double x = 1;
		for (int i = 0; i < n * 6; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static double middle(int n) {
		double x = 1;
		for (int i = 0; i < n * 3; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static double light(int n) {
		double x = 1;
		for (int i = 0; i < n; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	public static void main(String[] args) {
		double sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int length = 10000 + i * 12360 % 20000;

			sum += heavy(length) + middle(length) + light(length);
		}
		System.out.println(sum > 0 ? "done" : "none");
	}
}
