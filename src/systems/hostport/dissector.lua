-- SPDX-License-Identifier: Apache-2.0
-- Packets of the Host Port above EXTOLL's cells (src/systems/hostport/nic/wire.h, hostport.md
-- 3.2 to 3.4, 5.2, 9.4): routing frame with the rest of the way, command frame,
-- and the request of each answer, found by its API tag.
local weft = ...
if type(weft) ~= "table" then
	return
end

local proto = Proto("hostport", "Host Port")
local groups = { [0] = "Host Port", "ULTRA", "multicast", "barrier" }
local mains = { [0x1] = "FAST_SEND", [0x2] = "FAST_PUT", [0x3] = "FAST_GET",
	[0x4] = "MISALIGNED_PUT", [0x6] = "FAA", [0x7] = "CAS", [0x9] = "SEND",
	[0xa] = "PUT", [0xb] = "GET", [0xf] = "ACK" }
local ultra = { [0x1] = "ULTRA_SEND", [0x2] = "ULTRA_REFUSED",
	[0xf] = "ULTRA_ACK" }
local errors = { [0] = "none", "CMD_INV", "OVPID_INV", "ROUTE_INV",
	"OWINID_INV", "OWINID", "OOFFSET", "OLENGTH", "TVPID_INV", "TWINID_INV",
	"TWINID_CAPA", "TWINID", "TOFFSET", "TLENGTH", "ROUTE_BROKEN",
	"POSTED_PA", "POSTED_PA_INV", "POSTED_TRUNC" }
local F = weft.fields(proto, {
	{ "dhash", "Hash of the destination", "u16", 0, 2, hex = true },
	{ "way", "Way from here (port, hops)", "bytes" },
	{ "branches", "Branches (multicast)", "bytes" },
	{ "vpid", "Target VPID", "u16", 1, 2 },
	{ "return", "Return path", "bytes" },
	{ "cmd", "Command", "u16", 0, 2, hex = true },
	{ "cmd.error", "Error", "u16", 0, 2, mask = 0xf800, vals = errors },
	{ "cmd.group", "Group", "u16", 0, 2, mask = 0x0700, vals = groups },
	{ "cmd.main", "Instruction", "u16", 0, 2, mask = 0x00f0, vals = mains },
	{ "cmd.ack", "Acknowledgement wanted", "bool", 0, 2, mask = 0x0008 },
	{ "cmd.response", "Response", "bool", 0, 2, mask = 0x0004 },
	{ "cmd.low", "Low bits (words)", "u16", 0, 2, mask = 0x0007 },
	{ "name", "Instruction", "str" },
	{ "hpid", "Sender's Host Port", "u32", 2, 4 },
	{ "sender", "Sender's VPID", "u16", 6, 2 },
	{ "orig", "Original command", "u16", 0, 2, hex = true },
	{ "tag", "API tag", "u64", 2, 6, hex = true },
	{ "user_tag", "User tag", "u64", 0, 8, hex = true },
	{ "dtag", "Destination tag", "u32", 0, 4 },
	{ "owner", "Epoch of the target's owner (0: any)", "u8", 4, 1 },
	{ "size", "Payload size", "u32", 4, 4, mask = 0x00ffffff },
	{ "epoch", "Epoch of the request's sender", "u16", 0, 2 },
	{ "epoch_back", "Epoch of the request's sender", "u16", 6, 2 },
	{ "win", "Target window", "u32", 0, 4 },
	{ "capability", "Capability", "u32", 4, 4, hex = true },
	{ "tupid", "Target ULTRA port", "u16", 0, 2 },
	{ "oupid", "Origin ULTRA port", "u16", 2, 2 },
	{ "offset", "Target offset", "u64", 0, 8, hex = true },
	{ "origin_win", "Origin window", "u32", 0, 4 },
	{ "byte_enable", "Byte enable", "u8", 7, 1, hex = true },
	{ "origin_offset", "Origin offset", "u64", 0, 8, hex = true },
	{ "payload", "Payload", "bytes" },
	{ "request", "Request in frame", "frame" },
	{ "response", "Response in frame", "frame" },
	{ "acked", "Acknowledged in frame", "frame" },
	{ "time", "Time since the request", "time" },
})
local err = expert.severity.ERROR
local X = weft.experts(proto, {
	{ "frame", "Routing or command frame makes no sense",
	  expert.group.PROTOCOL, err },
	{ "short", "Payload is shorter than the size says",
	  expert.group.PROTOCOL, expert.severity.WARN },
	{ "error", "Answer with an error", expert.group.RESPONSE_CODE,
	  expert.severity.WARN },
	{ "alone", "Answer to no request of this capture",
	  expert.group.SEQUENCE, expert.severity.NOTE },
})

-- ---- routing frame: bytes, or nil ----

local SEP, VPID, TREE, END = 0xf0, 0xf1, 0xf2, 0xff

local function routing(tree, tvb)
	local n, at = tvb:len(), 2
	if n < 8 then
		return nil
	end
	weft.show(tree, tvb, 0, F, { "dhash" })
	while at < n and tvb(at, 1):uint() < SEP do
		at = at + 1
	end
	if at > 2 then
		tree:add(F.way.field, tvb(2, at - 2))
	end
	if at + 1 < n and tvb(at, 1):uint() == TREE then
		local len = tvb(at + 1, 1):uint()
		if len == 0 or n < at + 2 + len then
			return nil
		end
		tree:add(F.branches.field, tvb(at + 2, len))
		at = at + 2 + len
	end
	if at + 3 >= n or tvb(at, 1):uint() ~= VPID then
		return nil
	end
	local vpid = weft.show(tree, tvb, at, F, { "vpid" }).vpid
	at = at + 3
	if at < n and tvb(at, 1):uint() == SEP then
		local from = at + 1
		at = from
		while at < n and tvb(at, 1):uint() ~= END do
			at = at + 1
		end
		if at > from then
			tree:add(F["return"].field, tvb(from, at - from))
		end
	end
	if at >= n or tvb(at, 1):uint() ~= END then
		return nil
	end
	at = math.ceil((at + 1) / 8) * 8
	-- skip padding that used elements have left
	while at + 8 <= n and tvb(at, 4):uint() == 0xffffffff and
		tvb(at + 4, 4):uint() == 0xffffffff do
		at = at + 8
	end
	return at, vpid
end

-- ---- command frame ----

-- Words C4 and up, by instruction; requests and responses.
local window, target = { "win", "capability" }, { "offset" }
local origin = { { "origin_win" }, { "origin_offset" } }
local send = {}
local put = { window, target }
local forms = { [0x2] = put, [0x3] = put, [0x4] = { window, target,
	{ "byte_enable" } }, [0x6] = put, [0x7] = put, [0xa] = put,
	[0xb] = { window, target, origin[1], origin[2] } }
local answers = { [0x3] = send, [0x6] = send, [0x7] = send, [0xb] = origin }

local function form_of(v)
	local main = v["cmd.main"]
	if main == 0xf then
		return send
	elseif v["cmd.group"] == 1 then
		return { { "tupid", "oupid" } }
	end
	return v["cmd.response"] == 1 and answers[main] or forms[main] or send
end

local function is_answer(v)
	local main = v["cmd.main"]
	return main == 0xf or v["cmd.group"] == 0 and v["cmd.response"] == 1 and
		answers[main] ~= nil
end

local function name_of(v)
	local main = v["cmd.main"]
	local name = (v["cmd.group"] == 1 and ultra or mains)[main] or "?"
	return is_answer(v) and main ~= 0xf and name .. "_RESPONSE" or name
end

-- ---- requests and answers, by node and API tag ----

local seen
weft.on_reset(function()
	seen = {}
end)
local pairing = weft.pairing()

local function key(hpid, vpid, v)
	return string.format("%d.%d %s", hpid, vpid, v.tag:tohex())
end

local function show_pair(tree, pinfo, v)
	weft.show_pair(tree, F, weft.once(seen, pinfo, function()
		if not is_answer(v) then
			return pairing.request(pinfo, key(v.hpid, v.sender, v), v.cmd)
		end
		return pairing.answer(pinfo, key(v.dtag, v.vpid, v),
			v["cmd.main"] == 0xf and "acked" or "response")
	end), X.alone)
end

-- ---- packets ----

local first = { { "cmd", "cmd.error", "cmd.group", "cmd.main", "cmd.ack",
	"cmd.response", "cmd.low", "hpid", "sender" } }
-- C1 to C3: of acknowledges, of the others
local fixed_ack = { { "orig", "tag" }, { "user_tag" },
	{ "dtag", "epoch_back" } }
local fixed = { { "epoch", "tag" }, { "user_tag" },
	{ "dtag", "owner", "size" } }

local function words(tree, tvb, at, list, v)
	for i, names in ipairs(list) do
		for k, x in pairs(weft.show(tree, tvb, at + 8 * (i - 1), F, names)) do
			v[k] = x
		end
	end
	return at + 8 * #list
end

local function payload(tree, tvb, at, v, missing)
	local n = math.min(v.size, tvb:len() - at)
	local asks = v["cmd.response"] == 0 and
		(v["cmd.main"] == 0x3 or v["cmd.main"] == 0xb)
	if n > 0 and not asks then
		tree:add(F.payload.field, tvb(at, n))
	end
	if missing > 0 then
		weft.not_carried(tree, missing)
	elseif n < v.size and not asks and v["cmd.main"] ~= 0xf then
		tree:add_proto_expert_info(X.short)
	end
end

weft.uppers[2] = function(tvb, pinfo, root, how)
	local tree = root:add(proto, tvb())
	local at, vpid = routing(tree, tvb)
	local v = { vpid = vpid }
	pinfo.cols.protocol = "HostPort"
	if not at or at + 32 > tvb:len() then
		tree:add_proto_expert_info(X.frame)
		return "Host Port, no frame"
	end
	at = words(tree, tvb, at, first, v)
	at = words(tree, tvb, at, v["cmd.main"] == 0xf and fixed_ack or fixed, v)
	v.size = v.size or 0
	local form = form_of(v)
	if at + 8 * #form > tvb:len() then
		tree:add_proto_expert_info(X.frame)
		return "Host Port, no frame"
	end
	at = words(tree, tvb, at, form, v)
	local name = name_of(v)
	weft.add(tree, F.name, name)
	payload(tree, tvb, at, v, how.missing)
	if v["cmd.error"] ~= 0 then
		tree:add_proto_expert_info(X.error)
	end
	show_pair(tree, pinfo, v)
	return string.format("%s %d.%d > %d.%d, %d bytes", name, v.hpid, v.sender,
		v.dtag, vpid, v.size)
end
