-- SPDX-License-Identifier: Apache-2.0
-- EXTOLL on the wire (src/systems/extoll/network/frame.h): cells of both widths, control
-- cells, retransmission; packets put together per line and virtual channel.
-- What is in a packet: dissector_rma.lua, hostport/dissector.lua.
local weft = ...
if type(weft) ~= "table" then
	return
end

local proto = Proto("extoll", "EXTOLL line")
local types = { [0x01] = "ACK", [0x02] = "NACK", [0x20] = "INIT1",
	[0x21] = "INIT2", [0x22] = "INIT3", [0x23] = "READY", [0x30] = "NODE",
	[0x31] = "PORT" }
for vc = 0, 3 do
	types[0x10 + vc] = "CREDIT VC " .. vc
	types[0x18 + vc] = "REFRESH VC " .. vc
end
local F = weft.fields(proto, {
	{ "width", "Bits of a flit", "u8" },
	{ "vc", "Virtual channel", "u8", 0, 1, mask = 0x03 },
	{ "sop", "Start of packet", "bool", 0, 1, mask = 0x04 },
	{ "eop", "End of packet", "bool", 0, 1, mask = 0x08 },
	{ "zero", "Reserved", "u8", 0, 1, mask = 0xf0, hex = true },
	{ "seq", "Sequence number", "u8", 0, 1 },
	{ "len", "Flits less one", "u8", 0, 1 },
	{ "bytes", "Cell", "bytes" },
	{ "crc", "CRC", "u32", 0, 4, hex = true },
	{ "void", "Void (inverted CRC)", "bool" },
	{ "control", "Control cell", "u8", 0, 1, vals = types, hex = true },
	{ "value", "Value", "u8", 1, 1 },
	{ "crc8", "CRC-8", "u8", 2, 1, hex = true },
	{ "credits", "Cells given back on this channel so far", "u32" },
	{ "sent", "Cells taken on this channel so far", "u32" },
	{ "outstanding", "Cells not given back yet", "i32" },
	{ "unacked", "Cells not acknowledged yet", "u32" },
	{ "acks", "Acknowledges up to frame", "frame" },
	{ "acked", "Acknowledged in frame", "frame" },
	{ "rtt", "Time to the acknowledgement", "time" },
	{ "again", "Sent before in frame", "frame" },
	{ "packet", "Packet is whole in frame", "frame" },
	{ "cells", "Cells of the packet", "u32" },
	{ "route", "Route", "str" },
	{ "node", "Destination node", "u16" },
	{ "port", "Internal port", "u8" },
	{ "payload", "Packet behind its route", "bytes" },
	{ "stray", "Not understood", "bytes" },
})
local sum, seq = expert.group.CHECKSUM, expert.group.SEQUENCE
local err, note = expert.severity.ERROR, expert.severity.NOTE
local X = weft.experts(proto, {
	{ "crc", "CRC is wrong", sum, err },
	{ "crc8", "CRC of a control cell is wrong", sum, err },
	{ "code", "Symbols that are no code", expert.group.PROTOCOL, err },
	{ "framing", "Control symbol missing or in the wrong place",
	  expert.group.PROTOCOL, err },
	{ "void", "Void: damaged on an earlier line", seq, note },
	{ "order", "Not the cell that is expected", seq, note },
	{ "again", "Sent again", seq, note },
	{ "nack", "Asks for cells again", seq, note },
})

local cells, controls, acked
weft.on_reset(function()
	cells, controls, acked = {}, {}, {}
end)
local line_state = weft.by_line(function()
	return { open = {}, sent = {}, taken = {}, given = {}, unacked = 0 }
end)

-- ---- symbols ----

-- The cell in its fields' places, or nil: control symbols are damaged.
local function cell_parts(rec, wide)
	local n = rec.n
	if rec.cut then -- behind the bytes nothing, of the 16-bit SEQ neither
		local from = wide and 4 or 2
		return n >= from and { ctl = 1, seq = wide and 2, len = wide and 3,
			from = from, bytes = n - from }
	end
	local function k(i, b)
		return rec.is_k(i) and rec.s:byte(i + 1) == b
	end
	local ends = { wide and 0 or n - 8, wide and 0 or n - 2 }
	for i = 1, n - 1 do
		if rec.is_k(i) and i ~= ends[1] and i ~= ends[2] then
			return nil
		end
	end
	if wide then
		if n < 12 or n % 4 ~= 0 or rec.s:byte(4) ~= n / 4 - 3 then
			return nil, n >= 12 and n % 4 == 0
		end
		return { ctl = 1, seq = 2, len = 3, from = 4, bytes = n - 8,
			crc = n - 4, head = rec.s:sub(2, 4) }
	end
	if n < 12 or n % 2 ~= 0 or not k(n - 8, 0xfd) or not k(n - 2, 0xbc) or
		rec.s:byte(n) ~= 0x50 then
		return nil
	end
	return { ctl = 1, seq = n - 7, from = 2, bytes = n - 10, crc = n - 6,
		head = rec.s:sub(2, 2) .. rec.s:sub(n - 6, n - 6) }
end

local function le32(s, at)
	local a, b, c, d = s:byte(at + 1, at + 4)
	return a + b * 256 + c * 65536 + d * 16777216
end

local function verdict(rec, at)
	local want = weft.crc32r(at.head .. rec.s:sub(at.from + 1,
		at.from + at.bytes))
	local got = le32(rec.s, at.crc)
	return got == want and "good" or got == 4294967295 - want and "void"
		or "bad"
end

-- ---- cells: what the two directions say about each other ----

-- First sight of a cell: is it the one that is expected, was it there before,
-- what packet does it end.
local function cell_sent(l, pinfo, c)
	local out = { again = l.sent[c.seq] }
	out.order = l.expect ~= nil and c.seq ~= l.expect
	l.sent[c.seq] = out.again or pinfo.number
	if out.again then
		acked[pinfo.number] = acked[out.again]
	else
		l.taken[c.vc] = (l.taken[c.vc] or 0) + 1
		l.unacked = l.unacked + 1
		acked[pinfo.number] = { ts = pinfo.rel_ts, number = pinfo.number }
	end
	out.mine = acked[pinfo.number]
	out.unacked = l.unacked
	return out
end

-- On a line that has cells without a number, those that have one say nothing.
local function cell_blind(l, c)
	l.blind, l.sent, l.expect = true, {}, nil
	l.taken[c.vc] = (l.taken[c.vc] or 0) + 1
	return {}
end

local function cell_first(rec, pinfo, c)
	local l = line_state(rec.line)
	local out = c.seq and not l.blind and cell_sent(l, pinfo, c) or
		cell_blind(l, c)
	out.taken = l.taken[c.vc] or 0
	out.outstanding = out.taken - (l.given[c.vc] or 0)
	if c.verdict == "bad" or out.order then
		return out
	end
	l.expect = not l.blind and (c.seq + 1) % 256 or nil
	if c.verdict == "void" then
		return out
	end
	local p = l.open[c.vc]
	if c.sop or not p then
		p = { parts = {}, whole = c.sop, missing = 0 }
		l.open[c.vc] = p
	end
	p.parts[#p.parts + 1] = c.bytes
	p.missing = p.missing + c.missing
	out.packet = p
	if c.eop then
		p.last, l.open[c.vc] = pinfo.number, nil
	end
	return out
end

local function covered(l, upto) -- sequence numbers up to and with upto
	local first
	for back = 0, 63 do
		local s = (upto - back) % 256
		if not l.sent[s] then
			break
		end
		first = first or l.sent[s]
		acked[l.sent[s]].by, l.sent[s] = true, nil
		l.unacked = l.unacked - 1
	end
	return first
end

local function control_first(rec, pinfo, kind, value)
	local l, out = line_state(rec.back), {}
	local vc = kind % 4
	if l.blind and kind < 0x10 then
		return out
	elseif kind == 0x01 or kind == 0x02 then
		out.acks = covered(l, kind == 0x01 and value or (value - 1) % 256)
		if out.acks then
			acked[out.acks].frame = pinfo.number
			out.rtt = pinfo.rel_ts - acked[out.acks].ts
		end
		out.unacked = l.unacked
	elseif kind >= 0x10 and kind < 0x14 then
		l.given[vc] = (l.given[vc] or 0) + value
	elseif kind >= 0x18 and kind < 0x1c then
		local now = l.given[vc] or 0
		l.given[vc] = now + (value - now) % 256
	else
		return out
	end
	if kind >= 0x10 then
		out.given = l.given[vc]
		out.outstanding = (l.taken[vc] or 0) - out.given
	end
	return out
end

-- ---- packets ----

-- Routing flits: text, internal port, bytes; nil: it does not end.
local function route(tvb, wide, by_node)
	local w, at, out = wide and 4 or 2, 0, {}
	if by_node then
		return "node " .. tvb(0, 2):le_uint(),
			wide and tvb(2, 1):uint() or nil, w
	end
	while at + w <= tvb:len() do
		local more = false
		for i = 0, 2 * w - 1 do
			local b = tvb(at + math.floor(i / 2), 1):uint()
			local nib = i % 2 == 0 and b % 16 or math.floor(b / 16)
			if nib == 14 then
				more = true
				break
			elseif nib ~= 15 then
				out[#out + 1] = nib
			end
		end
		at = at + w
		if not more then
			return table.concat(out, " "),
				out[#out], at
		end
	end
end

-- The Host Port's elements stand behind its hash, and are part of its packet:
-- text, no port, no bytes in front.
local function runs(tvb)
	local at, out = 2, {}
	while at < tvb:len() and tvb(at, 1):uint() < 0xf0 do
		out[#out + 1] = string.format("%02x", tvb(at, 1):uint())
		at = at + 1
	end
	return table.concat(out, " "), nil, 0, at - 2
end

local function packet(rec, pinfo, root, tree, p)
	local wide = rec.more >= 32
	local tvb = weft.buffer(table.concat(p.parts), "EXTOLL packet")
	local text, port, at, n
	if rec.more % 16 == 2 then
		text, port, at, n = runs(tvb)
	else
		text, port, at = route(tvb, wide,
			math.floor(rec.more / 16) % 2 == 1)
	end
	weft.add(tree, F.cells, #p.parts)
	if not text then
		return "packet without an end of its route"
	end
	if n ~= 0 then
		tree:add(F.route.field, n and tvb(2, n) or tvb(0, at), text)
	end
	if port then
		weft.add(tree, F.port, port)
	end
	local here = tvb:len() - at
	if p.missing > 0 then
		weft.not_carried(tree, p.missing)
	end
	if here == 0 then
		return p.missing > 0 and "packet of " .. p.missing .. " bytes" or
			"empty packet"
	end
	tree:add(F.payload.field, tvb(at))
	local upper = weft.uppers[rec.more % 16]
	return upper and upper(tvb(at):tvb(), pinfo, root, { vc = p.vc,
		port = port, missing = p.missing })
		or "packet of " .. here + p.missing .. " bytes"
end

-- ---- records ----

local function control(rec, pinfo, tree)
	local name = types[rec.s:byte(2)] or "?"
	if rec.n ~= 4 or rec.is_k(1) or rec.is_k(2) or rec.is_k(3) then
		tree:add_proto_expert_info(X.framing)
		return "damaged control cell"
	end
	local v = weft.show(tree, rec.tvb, 1, F, { "control", "value", "crc8" })
	if rec.invalid then
		return "damaged control cell"
	end
	if weft.crc8(rec.s:sub(2, 3)) ~= v.crc8 then
		tree:add_proto_expert_info(X.crc8)
		return "damaged control cell"
	end
	local c = weft.once(controls, pinfo, function()
		return control_first(rec, pinfo, v.control, v.value)
	end)
	for _, row in ipairs({ { "acks", c.acks }, { "unacked", c.unacked },
		{ "credits", c.given }, { "outstanding", c.outstanding } }) do
		if row[2] then
			weft.add(tree, F[row[1]], row[2])
		end
	end
	if c.rtt then
		weft.add(tree, F.rtt, weft.time(c.rtt))
	end
	if v.control == 0x02 then
		tree:add_proto_expert_info(X.nack)
	end
	return name .. " " .. v.value
end

local function cell_marks(tree, pinfo, c, first)
	if c.verdict == "void" then
		weft.add(tree, F.void, true)
		tree:add_proto_expert_info(X.void)
	end
	if first.again then
		weft.add(tree, F.again, first.again)
		tree:add_proto_expert_info(X.again)
	end
	if first.order then
		tree:add_proto_expert_info(X.order)
	end
	if first.mine and first.mine.frame then
		weft.add(tree, F.acked, first.mine.frame)
	end
	weft.add(tree, F.sent, first.taken)
	weft.add(tree, F.outstanding, first.outstanding)
	if first.unacked then
		weft.add(tree, F.unacked, first.unacked)
	end
end

local function cell(rec, pinfo, tree, root)
	local wide = rec.more >= 32
	local at, length = cell_parts(rec, wide)
	if not at then
		tree:add(F.stray.field, rec.tvb())
		if not rec.invalid then
			tree:add_proto_expert_info(length and X.crc or X.framing)
		end
		return "damaged cell"
	end
	local v = weft.show(tree, rec.tvb, at.ctl, F, { "vc", "sop", "eop", "zero" })
	if at.seq then
		v.seq = weft.show(tree, rec.tvb, at.seq, F, { "seq" }).seq
	end
	if at.len then
		weft.show(tree, rec.tvb, at.len, F, { "len" })
	end
	if at.bytes > 0 then
		tree:add(F.bytes.field, rec.tvb(at.from, at.bytes))
	end
	local node = at.crc and tree:add_le(F.crc.field, rec.tvb(at.crc, 4))
	if rec.cut then
		weft.not_carried(tree, rec.all - rec.n)
	end
	if rec.invalid then
		return "damaged cell"
	end
	local c = { verdict = rec.cut and "cut" or verdict(rec, at),
		seq = v.seq, vc = v.vc,
		missing = rec.cut and rec.all - rec.n - (wide and 4 or 8) or 0,
		sop = v.sop == 1, eop = v.eop == 1,
		bytes = rec.s:sub(at.from + 1, at.from + at.bytes) }
	if c.verdict == "bad" then
		node:add_proto_expert_info(X.crc)
		return "damaged cell"
	end
	local first = weft.once(cells, pinfo, function()
		return cell_first(rec, pinfo, c)
	end)
	cell_marks(tree, pinfo, c, first)
	local text = string.format("cell %s VC %d%s%s", c.seq or "?", c.vc,
		c.sop and " SOP" or "", c.eop and " EOP" or "")
	local p = first.packet
	if p and p.last and p.last ~= pinfo.number then
		weft.add(tree, F.packet, p.last)
	elseif p and p.last and p.whole then
		p.vc = c.vc
		text = text .. ": " .. packet(rec, pinfo, root, tree, p)
	end
	return text
end

weft.wires[2] = function(rec, pinfo, root)
	pinfo.cols.protocol = "EXTOLL"
	local tree = root:add(proto, rec.tvb())
	weft.add(tree, F.width, rec.more >= 32 and 32 or 16)
	if rec.invalid then
		tree:add_proto_expert_info(X.code)
	end
	local text
	if rec.is_k(0) and rec.s:byte(1) == 0x3c then
		text = control(rec, pinfo, tree)
	elseif rec.is_k(0) and rec.s:byte(1) == 0xfb then
		text = cell(rec, pinfo, tree, root)
	else
		if not rec.invalid then
			tree:add_proto_expert_info(X.framing)
		end
		tree:add(F.stray.field, rec.tvb())
		text = "damaged"
	end
	pinfo.cols.info:set(text)
end
