-- SPDX-License-Identifier: Apache-2.0
-- ATOLL on the wire (src/systems/atoll/network/wire.h): head, data and state flits, flits
-- sent again; packets put together per line.
local weft = ...
if type(weft) ~= "table" then
	return
end

local proto = Proto("atoll", "ATOLL line")
local kinds = { [0x10] = "head", [0x20] = "data", [0x50] = "state" }
local F = weft.fields(proto, {
	{ "kind", "Flit", "u8", 0, 1, mask = 0xf0, vals = { "head", "data",
	  [5] = "state" } },
	{ "stop", "Stop", "bool", 0, 1, mask = 0x02 },
	{ "nack", "Again from here on", "bool", 0, 1, mask = 0x04 },
	{ "ask", "Asks for the state", "bool", 0, 1, mask = 0x08 },
	{ "seq", "Sequence number", "u8", 0, 1 },
	{ "next", "Next sequence number wanted", "u8", 0, 1 },
	{ "crc8", "CRC-8", "u8", 0, 1, hex = true },
	{ "char", "Routing character", "u8", 0, 1, hex = true },
	{ "port", "Port", "u8", 0, 1, mask = 0x07 },
	{ "data", "Data", "bytes" },
	{ "crc", "CRC-16", "u16", 0, 2, hex = true },
	{ "eop", "End of packet", "bool" },
	{ "route", "Route", "str" },
	{ "again", "Sent before in frame", "frame" },
	{ "acks", "Acknowledges up to frame", "frame" },
	{ "acked", "Acknowledged in frame", "frame" },
	{ "unacked", "Flits not acknowledged yet", "u32" },
	{ "stopped", "Stopped by the other side", "bool" },
	{ "packet", "Packet is whole in frame", "frame" },
	{ "flits", "Flits of the packet", "u32" },
	{ "source", "Source (node x 4 + host port)", "u16", 0, 2 },
	{ "tag", "Tag", "u16", 2, 2 },
	{ "bytes", "Bytes", "u32", 4, 4 },
	{ "payload", "Payload", "bytes" },
	{ "stray", "Not understood", "bytes" },
})
local sum, seq = expert.group.CHECKSUM, expert.group.SEQUENCE
local err, note = expert.severity.ERROR, expert.severity.NOTE
local X = weft.experts(proto, {
	{ "crc", "CRC is wrong", sum, err },
	{ "crc8", "CRC of a state flit is wrong", sum, err },
	{ "parity", "Routing character with wrong parity", sum, err },
	{ "code", "Symbols that are no code", expert.group.PROTOCOL, err },
	{ "framing", "Control bit missing or in the wrong place",
	  expert.group.PROTOCOL, err },
	{ "order", "Not the flit that is expected", seq, note },
	{ "again", "Sent again", seq, note },
	{ "nack", "Asks for flits again", seq, note },
})

local flits, states
weft.on_reset(function()
	flits, states = {}, {}
end)
local line_state = weft.by_line(function()
	return { sent = {}, unacked = 0, stopped = false }
end)

-- ---- first sight ----

local function flit_first(rec, pinfo, c)
	local l = line_state(rec.line)
	local out = { again = l.sent[c.seq] and l.sent[c.seq].frame }
	out.order = l.expect ~= nil and c.seq ~= l.expect
	out.mine = l.sent[c.seq] or { frame = pinfo.number }
	if not l.sent[c.seq] then
		l.unacked = l.unacked + 1
	end
	l.sent[c.seq] = out.mine
	out.unacked, out.stopped = l.unacked, l.stopped
	if out.order then
		return out
	end
	l.expect = (c.seq + 1) % 256
	if c.head or not l.packet then
		l.packet = { parts = {}, route = c.head, flits = 0 }
	end
	local p = l.packet
	p.flits = p.flits + 1
	if not c.head then
		p.parts[#p.parts + 1] = c.bytes
	end
	out.packet = p
	if c.eop then
		p.last, l.packet = pinfo.number, nil
	end
	return out
end

local function state_first(rec, pinfo, v)
	local l, out = line_state(rec.back), {}
	l.stopped = v.stop == 1
	for back = 1, 128 do
		local s = (v.next - back) % 256
		local f = l.sent[s]
		if not f then
			break
		end
		out.acks = out.acks or f.frame
		f.acked, l.sent[s] = pinfo.number, nil
		l.unacked = l.unacked - 1
	end
	out.unacked = l.unacked
	return out
end

-- ---- flits ----

local function packet(tree, p)
	weft.add(tree, F.flits, p.flits)
	if p.route then
		weft.add(tree, F.route, p.route)
	end
	local s = table.concat(p.parts)
	if not p.route or #s < 8 then
		return "end of a packet"
	end
	local tvb = weft.buffer(s, "ATOLL packet")
	local v = weft.show(tree, tvb, 0, F, { "source", "tag", "bytes" }, true)
	if #s > 8 then
		tree:add(F.payload.field, tvb(8))
	end
	return string.format("packet of %d.%d, tag %d, %d bytes",
		math.floor(v.source / 4), v.source % 4, v.tag, v.bytes)
end

local function state(rec, pinfo, tree)
	local tvb = rec.tvb
	if rec.n ~= 3 or rec.is_k(1) or rec.is_k(2) then
		tree:add_proto_expert_info(X.framing)
		return "damaged state"
	end
	local v = weft.show(tree, tvb, 0, F, { "stop", "nack", "ask" })
	v.next = weft.show(tree, tvb, 1, F, { "next" }).next
	local crc = weft.show(tree, tvb, 2, F, { "crc8" }).crc8
	if weft.crc8(rec.s:sub(1, 2)) ~= crc then
		tree:add_proto_expert_info(X.crc8)
		return "damaged state"
	end
	if rec.invalid then
		return "damaged state"
	end
	local c = weft.once(states, pinfo, function()
		return state_first(rec, pinfo, v)
	end)
	if c.acks then
		weft.add(tree, F.acks, c.acks)
	end
	weft.add(tree, F.unacked, c.unacked)
	if v.nack == 1 then
		tree:add_proto_expert_info(X.nack)
	end
	return string.format("state: %s, next %d%s%s",
		v.stop == 1 and "stop" or "go", v.next,
		v.nack == 1 and ", again" or "", v.ask == 1 and ", asks" or "")
end

-- Routing characters; the route as text, nil: damaged.
local function characters(rec, tree)
	local out, good = {}, true
	for i = 2, rec.n - 2 do
		local c = rec.s:byte(i + 1)
		local node = tree:add(F.char.field, rec.tvb(i, 1))
		if c >= 16 or weft.parity(c) ~= 0 then
			node:add_proto_expert_info(X.parity)
			good = false
		end
		weft.show(node, rec.tvb, i, F, { "port" })
		out[#out + 1] = c % 8
	end
	return table.concat(out, " "), good
end

-- Control bits where they belong: begin, end, and all or none between.
local function framed(rec, head)
	local last = rec.s:byte(rec.n)
	if rec.cut then
		return rec.n >= 2 and not head
	end
	if rec.n < (head and 3 or 5) or rec.is_k(1) or not rec.is_k(rec.n - 1) or
		not (last == 0x30 or last == 0x40 and not head) then
		return false
	end
	for i = 2, rec.n - 2 do
		if rec.is_k(i) ~= head then
			return false
		end
	end
	return true
end

local function data(rec, tree)
	local n = rec.cut and rec.n - 2 or rec.n - 5
	if n > 0 then
		tree:add(F.data.field, rec.tvb(2, n))
	end
	if rec.cut then -- whether it ends its packet neither
		weft.not_carried(tree, rec.all - rec.n)
		return { bytes = rec.s:sub(3) }
	end
	local node = tree:add(F.crc.field, rec.tvb(rec.n - 3, 2))
	local eop = rec.s:byte(rec.n) == 0x40
	weft.add(tree, F.eop, eop)
	if weft.crc16(rec.s:sub(2, rec.n - 3)) ~= rec.tvb(rec.n - 3, 2):uint() then
		node:add_proto_expert_info(X.crc)
		return nil
	end
	return { bytes = rec.s:sub(3, rec.n - 3), eop = eop }
end

local function flit(rec, pinfo, tree, head)
	if not framed(rec, head) then
		tree:add_proto_expert_info(X.framing)
		tree:add(F.stray.field, rec.tvb())
		return "damaged flit"
	end
	local s = weft.show(tree, rec.tvb, 1, F, { "seq" }).seq
	local c, good
	if head then
		c = {}
		c.head, good = characters(rec, tree)
	else
		c = data(rec, tree)
		good = c ~= nil
	end
	if not c or rec.invalid then
		return "damaged flit"
	end
	c.seq = s
	local first = weft.once(flits, pinfo, function()
		return flit_first(rec, pinfo, c)
	end)
	if first.again then
		weft.add(tree, F.again, first.again)
		tree:add_proto_expert_info(X.again)
	end
	if first.order then
		tree:add_proto_expert_info(X.order)
	end
	if first.mine.acked then
		weft.add(tree, F.acked, first.mine.acked)
	end
	weft.add(tree, F.unacked, first.unacked)
	weft.add(tree, F.stopped, first.stopped)
	local p = first.packet
	local text = string.format("%s flit %d", head and "head" or "data", s)
	if p and p.last == pinfo.number then
		return text .. ": " .. packet(tree, p)
	elseif p and p.last then
		weft.add(tree, F.packet, p.last)
	end
	return good and text or text .. ", bad route"
end

weft.wires[3] = function(rec, pinfo, root)
	pinfo.cols.protocol = "ATOLL"
	local tree = root:add(proto, rec.tvb())
	local first = rec.is_k(0) and rec.s:byte(1) or 0
	local kind = kinds[first - first % 16]
	local text
	if rec.invalid then
		tree:add_proto_expert_info(X.code)
	end
	if not kind or kind ~= "state" and first % 16 ~= 0 then
		tree:add_proto_expert_info(X.framing)
		tree:add(F.stray.field, rec.tvb())
		pinfo.cols.info:set("damaged flit")
		return
	end
	weft.show(tree, rec.tvb, 0, F, { "kind" })
	if kind == "state" then
		text = state(rec, pinfo, tree)
	else
		text = flit(rec, pinfo, tree, kind == "head")
	end
	pinfo.cols.info:set(text)
end
