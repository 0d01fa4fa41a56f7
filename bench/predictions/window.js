// SPDX-License-Identifier: MIT
// window.js REQUESTS WINDOW: each request has a hundred objects, and stays until WINDOW others have come.
const [requests, size] = process.argv.slice(2).map(Number), window = [];
let sum = 0;
for (let n = 0; n < requests; n++) {
	const request = [];
	for (let i = 0; i < 100; i++)
		request.push({ id: i, name: "n" + i, tags: [i, n] });
	window.push(request);
	if (window.length > size)
		window.shift();
	sum += request.length;
}
console.log(sum);
