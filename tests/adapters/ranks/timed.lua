-- SPDX-License-Identifier: MIT
-- timed.lua MODULE OUTPUT PROGRAM ARGUMENT...: appends "COUNT SOURCE:LINE" of each function, by timer.c.
local module, output = table.remove(arg, 1), table.remove(arg, 1)
arg[0] = table.remove(arg, 1)
local program = assert(loadfile(arg[0]))
local counts = assert(package.loadlib(module, "luaopen_timer"))()
local exit = os.exit
local function write()
	local file = assert(io.open(output, "a"))
	for at, n in pairs(counts()) do file:write(n, " ", at, "\n") end
	file:close()
end
function os.exit(...)
	write()
	exit(...)
end
program(table.unpack(arg))
write()
