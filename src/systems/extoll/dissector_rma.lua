-- SPDX-License-Identifier: Apache-2.0
-- Packets of VELO and RMA above EXTOLL's cells (extoll.md 3.9): command words
-- H0 to H2, and which answer belongs to which request.
local weft = ...
if type(weft) ~= "table" then
	return
end

local commands = { [0] = "get bytes", "get qwords", "put bytes", "put qwords",
	[5] = "notification put", [6] = "immediate put",
	[10] = "get bytes response", [11] = "get qwords response",
	[12] = "lock request", [13] = "lock response" }

local velo = Proto("velo", "EXTOLL VELO")
local rma = Proto("rma", "EXTOLL RMA")
local head = { "source", "source_vpid", "vpid", "check" }

local function rows(more)
	local all = {
		{ "source", "Source node", "u16", 0, 2 },
		{ "source_vpid", "Source VPID", "u8", 2, 1 },
		{ "vpid", "Destination VPID", "u8", 3, 1 },
		{ "check", "Destination node, low byte", "u8", 7, 1 },
		{ "payload", "Payload", "bytes" },
	}
	for _, r in ipairs(more) do
		all[#all + 1] = r
	end
	return all
end

local V = weft.fields(velo, rows({
	{ "mtt", "MTT", "u32", 4, 4, mask = 0x3 },
	{ "irq", "Interrupt", "bool", 4, 4, mask = 0x4 },
	{ "eom", "End of message", "bool", 4, 4, mask = 0x10 },
	{ "error", "Error", "bool", 4, 4, mask = 0x20 },
	{ "tag", "Tag", "u32", 4, 4, mask = 0xff00 },
	{ "length", "Length", "u32", 4, 4, mask = 0x7f0000 },
}))
local R = weft.fields(rma, rows({
	{ "noti", "Notifications", "u32", 4, 4, mask = 0x7, hex = true },
	{ "mods", "Modifiers", "u32", 4, 4, mask = 0x78, hex = true },
	{ "command", "Command", "u32", 4, 4, mask = 0x780, vals = commands },
	{ "count", "Count less one", "u32", 4, 4, mask = 0x7ff800 },
	{ "class", "Class", "u32", 4, 4, mask = 0x7f800 },
	{ "last", "Last fragment", "bool", 4, 4, mask = 0x800000 },
	{ "read_nla", "Read from NLA", "u64", 8, 8, hex = true },
	{ "write_nla", "Write to NLA", "u64", 8, 8, hex = true },
	{ "answer_nla", "Answer to NLA", "u64", 16, 8, hex = true },
	{ "value", "Value", "u64", 8, 8, hex = true },
	{ "immediate", "Immediate value", "u64", 16, 8, hex = true },
	{ "lock", "Lock", "u32", 8, 4, mask = 0xffffff },
	{ "lock.result", "Result", "u32", 8, 4, mask = 0xff000000,
	  vals = { [0] = "no", "yes", [255] = "none" } },
	{ "lock.compare", "Compare", "i32", 12, 4 },
	{ "lock.value", "Value of the lock", "i32", 12, 4 },
	{ "lock.add", "Add", "i32", 20, 4 },
	{ "request", "Request in frame", "frame" },
	{ "response", "Response in frame", "frame" },
	{ "time", "Time since the request", "time" },
}))
local X = weft.experts(rma, {
	{ "short", "Packet is shorter than its command says",
	  expert.group.PROTOCOL, expert.severity.ERROR },
	{ "alone", "Response to no request of this capture",
	  expert.group.SEQUENCE, expert.severity.NOTE },
})
local XV = weft.experts(velo, {
	{ "short", "Packet is shorter than its length says",
	  expert.group.PROTOCOL, expert.severity.ERROR },
})

-- Words behind H0, by command.
local get = { 3, { "read_nla", "answer_nla" } }
local put = { 2, { "write_nla" } }
local forms = { [0] = get, get, put, put,
	[5] = { 2, { "class", "value" } },
	[6] = { 3, { "write_nla", "immediate" } },
	[10] = put, [11] = put,
	[12] = { 3, { "lock", "lock.compare", "lock.add" } },
	[13] = { 2, { "lock", "lock.result", "lock.value" } } }

-- ---- requests and responses ----

local seen
weft.on_reset(function()
	seen = {}
end)
local pairing = weft.pairing()

local function key(kind, node, vpid, what)
	return string.format("%s %d.%d %s", kind, node % 256, vpid, what)
end

local function track(pinfo, v)
	local c = v.command
	if c == 0 or c == 1 then
		return pairing.request(pinfo, key("get", v.source, v.source_vpid,
			v.answer_nla:tohex()))
	elseif c == 12 then
		return pairing.request(pinfo, key("lock", v.source, v.source_vpid, v.lock))
	elseif c == 13 then
		return pairing.answer(pinfo, key("lock", v.check, v.vpid, v.lock),
			"response")
	elseif c ~= 10 and c ~= 11 then
		return nil
	end
	local after = (v.write_nla + UInt64(v.count + 1)):tohex()
	return pairing.answer(pinfo, key("get", v.check, v.vpid,
		v.write_nla:tohex()), "response",
		v.last == 0 and key("get", v.check, v.vpid, after))
end

local function show_pair(tree, pinfo, v)
	local t = weft.once(seen, pinfo, function()
		return track(pinfo, v)
	end)
	if t then
		weft.show_pair(tree, R, t, X.alone)
	end
end

-- ---- packets ----

local function names(a, b)
	local out = {}
	for _, list in ipairs({ a, b }) do
		for _, n in ipairs(list) do
			out[#out + 1] = n
		end
	end
	return out
end

local velo_names = names(head, { "mtt", "irq", "eom", "error", "tag",
	"length" })
local rma_names = names(head, { "noti", "mods", "command", "count", "last" })

local function velo_packet(tvb, pinfo, root, how)
	local tree = root:add(velo, tvb())
	local v = weft.show(tree, tvb, 0, V, velo_names, true)
	pinfo.cols.protocol = "VELO"
	if how.missing > 0 then
		weft.not_carried(tree, v.length)
	elseif tvb:len() < 8 + v.length then
		tree:add_proto_expert_info(XV.short)
	elseif v.length > 0 then
		tree:add(V.payload.field, tvb(8, v.length))
	end
	return string.format("VELO %d.%d > %d.%d tag %d, %d bytes", v.source,
		v.source_vpid, v.check, v.vpid, v.tag, v.length)
end

local function rma_packet(tvb, pinfo, root, how)
	local tree = root:add(rma, tvb())
	local v = weft.show(tree, tvb, 0, R, rma_names, true)
	local form = forms[v.command]
	pinfo.cols.protocol = "RMA"
	if not form or tvb:len() < 8 * form[1] then
		tree:add_proto_expert_info(X.short)
		return "RMA " .. (commands[v.command] or "?")
	end
	for name, value in pairs(weft.show(tree, tvb, 0, R, form[2], true)) do
		v[name] = value
	end
	local bytes = v.count + 1
	if form == put then
		if how.missing > 0 then
			weft.not_carried(tree, bytes)
		elseif tvb:len() < 16 + bytes then
			tree:add_proto_expert_info(X.short)
		else
			tree:add(R.payload.field, tvb(16, bytes))
		end
	end
	show_pair(tree, pinfo, v)
	return string.format("RMA %s %d.%d > %d.%d%s", commands[v.command],
		v.source, v.source_vpid, v.check, v.vpid,
		(form == put or form == get) and ", " .. bytes .. " bytes" or "")
end

-- Port 0 is VELO's.  A 16-bit line routed by node does not say: what is
-- reserved there, and the length, tell.
local function is_velo(tvb, how)
	if how.port then
		return how.port == 0
	end
	local hi = tvb(4, 4):le_uint()
	local len = math.floor(hi / 65536) % 128
	return how.vc < 2 and math.floor(hi / 8) % 2 == 0 and
		math.floor(hi / 64) % 4 == 0 and hi % 0x1000000 < 0x800000 and
		len > 0 and tvb:len() + how.missing == 8 + math.ceil(len / 8) * 8
end

weft.uppers[1] = function(tvb, pinfo, root, how)
	if tvb:len() < 8 then
		return "packet of " .. tvb:len() .. " bytes"
	end
	return (is_velo(tvb, how) and velo_packet or rma_packet)(tvb, pinfo, root,
		how)
end
