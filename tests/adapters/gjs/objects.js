// objects.js: makes objects of several kinds, some of which stay; five collections that are asked for.
// Ends with 7.
const System = imports.system;
let kept = [];

for (let round = 0; round < 30; round++) {
	let all = [];
	for (let i = 0; i < 30000; i++)
		all.push(i % 3 ? { number: i, list: [i] } : i % 2 ? () => i + round : `${i} of ${round}`.split(' '));
	kept.push(all.slice(0, 1000));
}
for (let i = 0; i < 5; i++)
	System.gc();
print(kept.length);
System.exit(7);
