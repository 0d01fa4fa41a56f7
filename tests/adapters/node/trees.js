// SPDX-License-Identifier: MIT
// Trees that come and go, in threads of their own as well. Between two lines "== begin" and
// "== end", here and in the trace, is what V8's log and the trace are to agree on.
'use strict';
const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');

const workers = Number(process.argv[2] || 0);
const megabytes = Number(process.argv[3] || 200);

function tree(depth) {
	return depth ? { left: tree(depth - 1), right: tree(depth - 1) } : { value: [depth] };
}

function mark(what) {
	fs.writeSync(1, `== ${what}\n`);
	if (process.env.GCHINT_TRACE)
		fs.appendFileSync(process.env.GCHINT_TRACE, `== ${what}\n`);
}

// A tree of depth 10 is about 120 kB.
function work(amount) {
	const kept = [];
	let sum = 0;

	for (let i = 0; i < amount * 8; i++) {
		const t = tree(10);
		if (i % 16 === 0)
			kept.push(t);
		if (kept.length > 40)
			kept.shift();
		sum += t.left.left.left ? 1 : 0;
	}
	return sum;
}

// "PID/task/TID" of the thread that asks.
fs.writeSync(1, `thread=${fs.readlinkSync('/proc/thread-self').replace(/.*\//, '')}\n`);
if (!isMainThread) {
	work(workerData);
} else {
	mark('begin');
	work(megabytes);
	if (global.gc)
		global.gc();
	mark('end');
	for (let n = 0; n < workers; n++)
		new Worker(__filename, { workerData: megabytes });
	process.exitCode = 7;
}
