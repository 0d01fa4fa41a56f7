-- SPDX-License-Identifier: MIT
-- Coroutines: who yields is not who goes on.
local function maker(n)
	while true do
		local x = 0
		for i = 1, n * 2 do x = x + i % 3 end
		coroutine.yield(x)
	end
end
local function taker(next, n)
	local x = next()
	for i = 1, n * 7 do x = x + i % 3 end
	return x
end
local next = coroutine.wrap(function() maker(2000) end)
local sum = 0
for _ = 1, 2500 do
	sum = sum + taker(next, 2000)
	for i = 1, 1000 do sum = sum + i % 3 end
end
