-- SPDX-License-Identifier: Apache-2.0
-- FORTH on the wire (src/systems/forth/link/wire.h): delimiter, credits, packets; both
-- layouts; joins the links of a bundle.
local weft = ...
if type(weft) ~= "table" then
	return
end

local proto = Proto("forth", "FORTH link")
local F = weft.fields(proto, {
	{ "flow", "Flow", "u32", 0, 4, mask = 0x7f000000 },
	{ "remote_notify", "Remote notification", "bool", 0, 4, mask = 0x400000 },
	{ "local_notify", "Local notification", "bool", 0, 4, mask = 0x200000 },
	{ "remote_irq", "Remote interrupt", "bool", 0, 4, mask = 0x100000 },
	{ "start", "Start (single path)", "bool", 0, 4, mask = 0x80000 },
	{ "reseq", "Resequencing", "u32", 0, 4, mask = 0xffc00, hex = true },
	{ "reseq.source", "Source", "u32", 0, 4, mask = 0xe0000 },
	{ "reseq.number", "Number on its path", "u32", 0, 4, mask = 0x1c000 },
	{ "reseq.next", "Path of the next one", "u32", 0, 4, mask = 0x3000 },
	{ "reseq.after", "Path of the one after", "u32", 0, 4, mask = 0xc00 },
	{ "size", "Payload in qwords", "u32", 0, 4, mask = 0x3ff },
	{ "addr", "Address", "u32", 4, 4, hex = true },
	{ "header_crc", "Header CRC", "u16", 0, 2, hex = true },
	{ "body_crc", "Body CRC", "u32", 0, 4, hex = true },
	{ "body", "Body as on the line", "bytes" },
	{ "payload", "Payload in memory order", "bytes" },
	{ "credit", "Credit", "u16", 0, 2, hex = true },
	{ "credit.flow", "Flow", "u16", 0, 2, mask = 0x3f80 },
	{ "credit.value", "Counter (32 words, modulo 128)", "u16", 0, 2,
	  mask = 0x7f },
	{ "credit.step", "Words more than before", "u32" },
	{ "credit.total", "Words given back so far", "u64" },
	{ "charge", "Words this packet takes of the credits", "u32" },
	{ "sent", "Words sent on this line so far", "u64" },
	{ "outstanding", "Words not given back yet", "i32" },
	{ "number", "Packet of its flow on this line", "u32" },
	{ "links", "Links of the bundle", "u8" },
	{ "lane", "Link", "u8" },
	{ "share", "Share of this link", "bytes" },
	{ "whole", "Whole in frame", "frame" },
	{ "stray", "Not understood", "bytes" },
})
local sum, proto_err = expert.group.CHECKSUM, expert.group.PROTOCOL
local bad, note = expert.severity.ERROR, expert.severity.NOTE
local X = weft.experts(proto, {
	{ "header_crc", "Header CRC is wrong", sum, bad },
	{ "body_crc", "Body CRC is wrong", sum, bad },
	{ "parity", "Credit with wrong parity", sum, bad },
	{ "code", "Symbols that are no code", proto_err, bad },
	{ "framing", "Delimiter or control symbols damaged", proto_err, bad },
	{ "fill", "Padding is not zero", proto_err, bad },
	{ "cut", "Packet ends early", proto_err, bad },
	{ "lanes", "Links of the bundle are missing", proto_err, note },
})

local packets, credits, bundles, wholes
weft.on_reset(function()
	packets, credits, bundles, wholes = {}, {}, {}, {}
end)
local line_state = weft.by_line(function()
	return { sent = 0, given = 0, value = {}, count = {} }
end)

-- ---- credits: the other direction's words ----

local function credit(c, at, p)
	local tvb, n = p.tvb, #p.credits + 1
	local sub = p.tree:add(F.credit.field, tvb(at, 2))
	p.credits[n] = c
	if weft.parity(c % 32768) ~= 0 then
		sub:add_proto_expert_info(X.parity)
		return
	end
	local v = weft.show(sub, tvb, at, F, { "credit.flow", "credit.value" })
	local key = p.pinfo.number .. "." .. n
	if not p.pinfo.visited or not credits[key] then
		local l = line_state(p.rec.back)
		local flow, value = v["credit.flow"], v["credit.value"]
		local step = (value - (l.value[flow] or 0)) % 128 * 32
		l.value[flow] = value
		l.given = l.given + step
		credits[key] = { step, l.given, l.sent - l.given }
	end
	weft.add(sub, F["credit.step"], credits[key][1])
	weft.add(sub, F["credit.total"], UInt64(credits[key][2]))
	weft.add(sub, F.outstanding, credits[key][3])
end

-- Reads n bytes of credits. Returns whether they hold nothing else.
local function slots(p, at, n)
	local filled = false
	for i = at, at + n - 2, 2 do
		local c = p.tvb(i, 2):uint()
		if c >= 32768 then
			credit(c, i, p)
		else
			filled = filled or c ~= 0
		end
	end
	return not filled
end

-- ---- packets ----

local function zeros(p, from, to)
	if from < to and p.tvb:raw(from, to - from):find("[^%z]") then
		p.tree:add_proto_expert_info(X.fill)
	end
end

local function turned(s) -- each qword, last byte first
	return (s:gsub("........", string.reverse))
end

local function account(p, h, bytes)
	return weft.once(packets, p.pinfo, function()
		local l = line_state(p.rec.line)
		local charge = math.ceil((bytes + 16) / (4 * p.links))
		l.sent = l.sent + charge
		l.count[h.flow] = (l.count[h.flow] or 0) + 1
		return { charge, l.sent, l.sent - l.given, l.count[h.flow] }
	end)
end

-- Bytes under the CRC, and whether it is right: a short payload may have been
-- made longer (R-40), in whole qwords, before it was filled up to a beat.
local function body_length(p, at, want, crc_at)
	local most, got = crc_at - at, p.tvb(crc_at, 4):uint()
	local first = most
	if not p.packed then
		first = math.max(want, most - p.beat + 4)
	end
	for len = math.ceil(first / 8) * 8, most, 8 do
		if weft.crc32(p.tvb:raw(at, len)) == got then
			return len, true
		end
	end
	return most - want < p.beat and want or most, false
end

local function show_account(p, h, len)
	local a = account(p, h, len)
	for i, name in ipairs({ "charge", "sent", "outstanding", "number" }) do
		local v = name == "sent" and UInt64(a[i]) or a[i]
		weft.add(p.tree, F[name], v)
	end
end

-- A capture without bytes keeps only the length of the body.
local function no_body(p, h)
	local len = p.missing - (p.packed and 4 or p.beat) -- less the CRC
	weft.not_carried(p.tree, p.missing)
	if len < h.size * 8 then
		p.tree:add_proto_expert_info(X.cut)
	else
		show_account(p, h, len)
	end
end

local function body(p, at, h)
	local tvb, tree, beat = p.tvb, p.tree, p.beat
	local left, want = tvb:len() - at, h.size * 8
	if p.missing > 0 then
		no_body(p, h)
		return
	end
	if left < want + (p.packed and 4 or beat) then
		if left > 0 then
			tree:add(F.body.field, tvb(at, left))
		end
		tree:add_proto_expert_info(X.cut)
		return
	end
	local crc_at = tvb:len() - (p.packed and 4 or beat)
	local len, good = body_length(p, at, want, crc_at)
	zeros(p, at + len, crc_at)
	if len > 0 then
		tree:add(F.body.field, tvb(at, len))
	end
	local node = tree:add(F.body_crc.field, tvb(crc_at, 4))
	if not good then
		node:add_proto_expert_info(X.body_crc)
	end
	zeros(p, crc_at + 4, tvb:len())
	if want > 0 then
		tree:add(F.payload.field, weft.buffer(turned(tvb:raw(at, want)),
			"FORTH payload")())
	end
	show_account(p, h, len)
end

local single = { "flow", "remote_notify", "local_notify", "remote_irq",
	"start", "reseq", "size", "addr" }
local reseq = { "reseq.source", "reseq.number", "reseq.next", "reseq.after" }

local function packet(p, at)
	local tvb, tree = p.tvb, p.tree
	local unit = p.packed and 2 or p.beat
	local crc_at = at + (p.packed and 8 or math.max(8, p.beat))
	if tvb:len() < crc_at + unit then
		tree:add(F.stray.field, tvb(at))
		tree:add_proto_expert_info(X.cut)
		return "cut"
	end
	local h = weft.show(tree, tvb, at, F, single)
	weft.show(tree, tvb, at, F, reseq)
	zeros(p, at + 8, crc_at)
	local node = tree:add(F.header_crc.field, tvb(crc_at, 2))
	zeros(p, crc_at + 2, crc_at + unit)
	if weft.crc16(tvb:raw(at, 8)) ~= tvb(crc_at, 2):uint() then
		node:add_proto_expert_info(X.header_crc)
		tree:add(F.stray.field, tvb(crc_at + unit))
		return "bad header"
	end
	body(p, crc_at + unit, h)
	return string.format("flow %d, %d bytes to 0x%08x", h.flow, h.size * 8,
		h.addr)
end

-- p.tvb: slots of all links (word layout), then the bytes in order.
local function frame(p)
	local tvb, at, good, text = p.tvb, 0, true, nil
	local n = tvb:len()
	if not p.packed then
		at = math.min(2 * p.links, n)
		good = slots(p, 0, at)
	end
	local unit = p.packed and 2 or p.beat
	while n - at >= unit and tvb(at, 1):uint() >= 128 do
		good = slots(p, at, unit) and good
		at = at + unit
	end
	if not good then
		p.tree:add_proto_expert_info(X.fill)
	end
	if at < n then
		text = packet(p, at)
	elseif #p.credits == 0 then
		p.tree:add_proto_expert_info(X.cut)
	end
	text = text or "credits"
	if #p.credits > 0 then
		text = string.format("%s (%d)", text, #p.credits)
	end
	p.pinfo.cols.info:set(text)
end

-- ---- symbols, and the links of a bundle ----

-- Returns the first index behind the data that follows the delimiter, and no
-- index when the frame is damaged.
local function data_end(rec)
	local i, stop = 2, nil
	if not (rec.is_k(0) and rec.is_k(1) and rec.s:byte(1) == 0xbc and
		rec.s:byte(2) == 0xfb) then
		return nil
	end
	while i < rec.n and not rec.is_k(i) do
		i = i + 1
	end
	stop = i
	while i < rec.n do -- behind it only commas
		if not rec.is_k(i) or rec.s:byte(i + 1) ~= 0xbc then
			return nil
		end
		i = i + 1
	end
	return stop
end

local function woven(share, links)
	local out = {}
	for j = 0, links - 1 do
		out[#out + 1] = share[j]:sub(1, 2) -- slots
	end
	for i = 3, #share[0] do
		for j = 0, links - 1 do
			out[#out + 1] = share[j]:sub(i, i)
		end
	end
	return table.concat(out)
end

local function lane_frame(p, lane, stop)
	local rec, tree, n = p.rec, p.tree, p.pinfo.number
	local share = rec.s:sub(3, stop)
	local first = rec.line - 2 * lane
	weft.add(tree, F.links, p.links)
	weft.add(tree, F.lane, lane)
	tree:add(F.share.field, rec.tvb(2, stop - 2))
	local b = weft.once(wholes, p.pinfo, function()
		-- shares of one frame start together
		local key = first .. "@" .. tostring(p.pinfo.abs_ts)
		local new = bundles[key] or { share = {}, n = 0, missing = 0 }
		bundles[key] = new
		new.share[lane], new.n, new.last = share, new.n + 1, n
		new.missing = new.missing + p.missing
		return new
	end)
	p.pinfo.cols.info:set(string.format("link %d of %d", lane, p.links))
	if p.missing > 0 and (b.n < p.links or b.last ~= n) then
		weft.not_carried(tree, p.missing)
	end
	if b.n < p.links then
		if p.pinfo.visited then
			tree:add_proto_expert_info(X.lanes)
		end
		return
	end
	if b.last ~= n then
		weft.add(tree, F.whole, b.last)
		return
	end
	for j = 1, p.links - 1 do
		if #b.share[j] ~= #b.share[0] then
			tree:add_proto_expert_info(X.cut)
			return
		end
	end
	-- credits and words are those of the first link
	p.rec = { line = first, back = rec.back - 2 * lane }
	p.missing = b.missing
	p.tvb = weft.buffer(woven(b.share, p.links), "FORTH bundle")
	frame(p)
end

weft.wires[1] = function(rec, pinfo, root)
	pinfo.cols.protocol = "FORTH"
	local tree = root:add(proto, rec.tvb())
	local links = 2 ^ (math.floor(rec.more / 2) % 4)
	local lane = math.floor(rec.more / 8) % 4
	local stop = data_end(rec)
	if rec.invalid then
		tree:add_proto_expert_info(X.code)
	end
	if not stop or stop <= 2 then
		tree:add_proto_expert_info(X.framing)
		tree:add(F.stray.field, rec.tvb())
		pinfo.cols.info:set("damaged")
		return
	end
	local p = { rec = rec, pinfo = pinfo, tree = tree, links = links,
		beat = 4 * links, packed = rec.more % 2 == 1, credits = {},
		missing = rec.all - rec.n }
	if links > 1 then
		lane_frame(p, lane, stop)
		return
	end
	p.tvb = rec.tvb(2, stop - 2):tvb()
	frame(p)
end
