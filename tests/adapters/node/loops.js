// SPDX-License-Identifier: MIT
// Three functions of 6, 3 and 1 parts. Rounds differ in length: a sampler in step with them
// would see some parts and never others.
function heavy(n) {
	let x = 1;
	for (let i = 0; i < n * 600; i++) x = Math.sqrt(x + i);
	return x;
}
function middle(n) {
	let x = 1;
	for (let i = 0; i < n * 300; i++) x = Math.sqrt(x + i);
	return x;
}
function light(n) {
	let x = 1;
	for (let i = 0; i < n * 100; i++) x = Math.sqrt(x + i);
	return x;
}
let sum = 0;
for (let turn = 0; turn < 300; turn++) {
	const length = 500 + ((turn * 618) % 1000);
	sum += heavy(length) + middle(length) + light(length);
}
console.log(`${process.pid} ${sum > 0}`);
