-- SPDX-License-Identifier: MIT
-- count.lua PROGRAM: what Lua's own count hook says, "COUNT SOURCE:LINE" for each function.
local counts = {}
local function count()
	local d = debug.getinfo(2, "S")
	local at = d.short_src .. ":" .. d.linedefined
	counts[at] = (counts[at] or 0) + 1
end
-- A coroutine counts for itself.
function coroutine.wrap(f)
	local made = coroutine.create(f)
	debug.sethook(made, count, "", 1000)
	return function(...) return select(2, assert(coroutine.resume(made, ...))) end
end
debug.sethook(count, "", 1000)
dofile(arg[1])
debug.sethook()
for at, n in pairs(counts) do
	print(n, at)
end
