-- SPDX-License-Identifier: MIT
-- Calls in calls, tail calls, calls out of C functions, errors out of the middle of them.
local function spin(n)
	local x = 0
	for i = 1, n do x = x + i % 5 end
	return x
end
local function inner(n)
	local x = 0
	for i = 1, n * 3 do x = x + i % 5 end
	error("out of here")
end
local function outer(n)
	pcall(inner, n)
	local x = 0
	for i = 1, n * 12 do x = x + i % 5 end
	return spin(n) -- a tail call
end
for _ = 1, 2500 do
	outer(1000)
	local t = { 3, 1, 2 }
	table.sort(t, function(a, b) return a < b end)
end
