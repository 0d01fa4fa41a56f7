-- SPDX-License-Identifier: MIT
-- Three functions of 6, 3 and 1 parts: to the processor one loop of the interpreter.
-- Rounds differ in length: a sampler in step with them would see some parts and never others.
local function heavy(n)
	local x = 0
	for i = 1, n * 120 do x = x + i % 7 end
	return x
end
local function middle(n)
	local x = 0
	for i = 1, n * 60 do x = x + i % 7 end
	return x
end
local function light(n)
	local x = 0
	for i = 1, n * 20 do x = x + i % 7 end
	return x
end
for turn = 1, 300 do
	local length = 500 + turn * 618 % 1000
	heavy(length)
	middle(length)
	light(length)
end
