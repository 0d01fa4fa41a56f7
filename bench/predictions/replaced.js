// SPDX-License-Identifier: MIT
// replaced.js MIB ALL: keeps objects of some MIB, allocates ALL MiB more, and keeps one of sixteen in place of another one.
const [mib, all] = process.argv.slice(2).map(Number);
const make = n => ({ number: n, more: new Array(120).fill(n) });
const kept = Array.from({ length: mib * 1024 }, (_, n) => make(n));
let seed = 1;
for (let n = 0; n < all * 1024; n++) {
	const object = make(n);
	seed = (seed * 1103515245 + 12345) & 0x7fffffff;
	if ((seed >> 20) % 16 === 0)
		kept[(seed >> 3) % kept.length] = object;
}
console.log(kept.length);
