// SPDX-License-Identifier: MIT
// sites.js MIB: large() allocates three quarters of so many MiB, small() one quarter; both are called by work().
let kept;
function large() {
	for (let i = 0; i < 3; i++)
		kept = new Array(126).fill(i);
}
function small() {
	for (let i = 0; i < 4; i++)
		kept = new Array(30).fill(i);
}
function work() {
	large();
	small();
}
for (let i = Number(process.argv[2]) * 256; i > 0; i--)
	work();
console.log('done');
