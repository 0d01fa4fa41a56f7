-- SPDX-License-Identifier: MIT
-- Three functions of 6, 3 and 1 parts: to the processor one loop of the interpreter.
local function heavy()
	local x = 0
	for i = 1, 120000 do x = x + i % 7 end
	return x
end
local function middle()
	local x = 0
	for i = 1, 60000 do x = x + i % 7 end
	return x
end
local function light()
	local x = 0
	for i = 1, 20000 do x = x + i % 7 end
	return x
end
for _ = 1, 300 do
	heavy()
	middle()
	light()
end
