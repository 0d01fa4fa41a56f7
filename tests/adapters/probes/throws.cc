// SPDX-License-Identifier: MIT
/*
 * Description: a runtime whose collector throws. Every second collection is left by an exception, which
 * its caller catches; with the argument "within" the collector catches it itself.
 */
#include <cstring>
#include <stdexcept>

extern "C" int toy_collect(int cycle, bool within);
extern "C" int toy_collected(int cycle);

static volatile int sink;

static void cycle_check(int cycle)
{
	if (cycle % 2)
		throw std::runtime_error("not enough memory");
}

extern "C" __attribute__((noinline)) int toy_collect(int cycle, bool within)
{
	if (!within)
		cycle_check(cycle);
	try {
		cycle_check(cycle);
	} catch (const std::runtime_error &) {
		sink += cycle;
	}
	return sink;
}

extern "C" __attribute__((noinline)) int toy_collected(int cycle)
{
	return sink + cycle;
}

int main(int argc, char **argv)
{
	const bool within = argc > 1 && !std::strcmp(argv[1], "within");

	for (int cycle = 0; cycle < 10; cycle++) {
		try {
			toy_collect(cycle, within);
		} catch (const std::runtime_error &) {
			sink -= cycle;
		}
		toy_collected(cycle);
	}
	return 7;
}
