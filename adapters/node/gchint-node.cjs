// SPDX-License-Identifier: MIT
// NODE_OPTIONS="--require /path/node_modules/gchint-node.cjs": loads the adapter from the directory above, in
// each worker as well. A Node that cannot load it runs as without. The directory's name keeps this file out of
// the program's coverage.
'use strict';
// Deno takes NODE_OPTIONS too, and asks its user before it loads a library; Bun has another collector.
const isNode = !process.versions.deno && !process.versions.bun;
try {
	if (isNode)
		process.dlopen({ exports: {} }, `${__dirname}/../libgchint-node.so`);
} catch (error) {
	console.error(`libgchint-node.so: no hints: ${error.message.split('\n')[0]}`);
}

// Node 20 ends if its permission model forbids it to read this file; later ones may read what they preload.
// So a program that is started with that model gets NODE_OPTIONS without this file. All functions of
// child_process end in these two, and loading that module would cost each program 10 ms.
if (isNode && ['20', '21'].includes(process.versions.node.split('.')[0])) {
	const without = (pair) => (!pair.startsWith('NODE_OPTIONS=') ? pair :
		pair.replace(/(--require|-r)[ =]("[^"]*gchint-node\.cjs"|[^ "]*gchint-node\.cjs)/g, ''));
	const wrap = (object) => {
		const spawn = object.spawn;

		object.spawn = function (options) {
			if (options && options.args && options.envPairs &&
				options.args.some((word) => /--(experimental-)?permission/.test(word)))
				options = { ...options, envPairs: options.envPairs.map(without) };
			return Reflect.apply(spawn, this, [options]);
		};
	};

	try {
		wrap(process.binding('process_wrap').Process.prototype);
		wrap(process.binding('spawn_sync'));
	} catch (error) {
		console.error(`libgchint-node.so: no permission model in child processes: ${error.message}`);
	}
}
