// SPDX-License-Identifier: MIT
// NODE_OPTIONS="--require /path/gchint-node.cjs": loads the adapter from the same directory, in each worker
// as well. A Node that cannot load it runs as without.
'use strict';
try {
	process.dlopen({ exports: {} }, `${__dirname}/libgchint-node.so`);
} catch (error) {
	console.error(`libgchint-node.so: no hints: ${error.message.split('\n')[0]}`);
}
