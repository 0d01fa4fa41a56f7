// SPDX-License-Identifier: MIT
// Three functions of 6, 3 and 1 parts.
function heavy() {
	let x = 1;
	for (let i = 0; i < 600000; i++) x = Math.sqrt(x + i);
	return x;
}
function middle() {
	let x = 1;
	for (let i = 0; i < 300000; i++) x = Math.sqrt(x + i);
	return x;
}
function light() {
	let x = 1;
	for (let i = 0; i < 100000; i++) x = Math.sqrt(x + i);
	return x;
}
let sum = 0;
for (let i = 0; i < 300; i++) sum += heavy() + middle() + light();
console.log(`${process.pid} ${sum > 0}`);
