// SPDX-License-Identifier: MIT
// NODE_OPTIONS="--require /path/node_modules/gchint-node.cjs": loads the adapter from the directory above, in
// each worker as well. A Node that cannot load it runs as without. The directory's name keeps this file out of
// the program's coverage.
'use strict';
// Nor is it among the program's modules, which tools that reload these would load again.
delete require.cache[__filename];
// Deno takes NODE_OPTIONS too, and asks its user before it loads a library; Bun has another collector.
const isNode = !process.versions.deno && !process.versions.bun;
try {
	if (isNode)
		process.dlopen({ exports: {} }, `${__dirname}/../libgchint-node.so`);
} catch (error) {
	console.error(`libgchint-node.so: no hints: ${error.message.split('\n')[0]}`);
}

// Workers that are given options or variables read NODE_OPTIONS once more, so it stays in process.env. A child
// may not be able to read this file, and would end: where libgchint-launch.so is preloaded, which gives each
// child the option again that can use it, children get NODE_OPTIONS without it. Without the launcher, those
// of Node 20 with the permission model do, which forbids reading it; later ones may read what they preload.
const launched = /libgchint-launch\.so/.test(process.env.LD_PRELOAD);
if (isNode && (launched || ['20', '21'].includes(process.versions.node.split('.')[0]))) {
	const ours = / ?(?:--require|-r)[ =](?:"[^"]*\/gchint-node\.cjs"|[^ "]*\/gchint-node\.cjs)(?: --perf-basic-prof)?/g;
	const without = (pair) => (pair.startsWith('NODE_OPTIONS=') ? pair.replace(ours, '') : pair);
	const remove = (pairs) => pairs.map(without).filter((pair) => pair !== 'NODE_OPTIONS=');
	const wrap = (object) => {
		const spawn = object.spawn;

		object.spawn = function (options) {
			if (options && options.args && options.envPairs &&
				(launched || options.args.some((word) => /--(experimental-)?permission/.test(word))))
				options = { ...options, envPairs: remove(options.envPairs) };
			return Reflect.apply(spawn, this, [options]);
		};
	};
	const deprecation = process.noDeprecation;

	// All functions of child_process end in these two, and loading that module would cost each program 10 ms.
	try {
		process.noDeprecation = true;
		wrap(process.binding('process_wrap').Process.prototype);
		wrap(process.binding('spawn_sync'));
	} catch (error) {
		console.error(`libgchint-node.so: NODE_OPTIONS of child processes name it: ${error.message}`);
	} finally {
		if (deprecation === undefined)
			delete process.noDeprecation;
		else
			process.noDeprecation = deprecation;
	}
}

// On request: which code allocates, by V8's sampling profiler of the heap, those that die included. Written
// at the end of each heap's thread, one line for each stack: bytes, samples, and the frames from the outermost.
// The V8 of Node 18 ignores that those which died are asked for, and would have the rest look like all.
if (isNode && process.env.GCHINT_ALLOCATIONS && parseInt(process.versions.node, 10) >= 20) {
	const directory = process.env.GCHINT_ALLOCATIONS;
	const { Session } = require('inspector');
	const session = new Session();
	const name = ({ functionName, url, lineNumber }) =>
		`${functionName || '(anonymous)'}${url ? ` (${url.replace(/.*\//, '')}:${lineNumber + 1})` : ''}`.replace(/[;\n]/g, ',');

	session.connect();
	session.post('HeapProfiler.startSampling', {
		samplingInterval: 128 * 1024,
		includeObjectsCollectedByMajorGC: true,
		includeObjectsCollectedByMinorGC: true,
	});
	process.on('exit', () => {
		session.post('HeapProfiler.stopSampling', (error, result) => {
			const lines = [], samples = new Map();
			const walk = (node, stack) => {
				if (node.selfSize)
					lines.push(`${node.selfSize} ${samples.get(node.id) || 1} ${stack.join(';')}\n`);
				for (const child of node.children)
					walk(child, [...stack, name(child.callFrame)]);
			};

			if (error)
				return;
			for (const sample of result.profile.samples)
				samples.set(sample.nodeId, (samples.get(sample.nodeId) || 0) + 1);
			walk(result.profile.head, []);
			try {
				const { threadId } = require('worker_threads');
				require('fs').writeFileSync(`${directory}/allocations-${process.pid}-${threadId}`, lines.join(''), { flag: 'wx' });
			} catch {
				// The recorder says that there are none.
			}
		});
	});
}
