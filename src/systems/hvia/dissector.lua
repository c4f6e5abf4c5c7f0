-- SPDX-License-Identifier: Apache-2.0
-- Ethernet of Weft: the FCS of every frame, HVIA-GE (EtherType 0x88B5,
-- src/systems/hvia/nic/regs_map.h, src/systems/hvia/lib/agent_packets.c), reliable VIPL above it
-- (src/systems/hvia/lib/vipl_reliable.h), M-VIA and eth.gen (0x88B6).  Pause frames and TCP/IP
-- are Wireshark's own.  All numbers of HVIA are little-endian.
local weft = ...
if type(weft) ~= "table" then
	return
end

local FCS = 4
local line_name = Field.new("frame.interface_name")
local about = Field.new("frame.interface_description")

-- 0x88B5 and 0x88B6 are anybody's: only lines that Weft has written, as far as
-- can be told (a first pass without a tree does not know).
local function ours()
	local a, n = about(), line_name()
	return not n or a and a.value == "ethernet" and
		n.value:find(" > ", 1, true)
end

-- ---- FCS ----

local eth = Proto("weft_eth", "Weft Ethernet line")
local E = weft.fields(eth, {
	{ "fcs", "FCS", "u32", 0, 4, hex = true },
	{ "line", "Line", "str" },
})
local XE = weft.experts(eth, {
	{ "fcs", "FCS is wrong", expert.group.CHECKSUM, expert.severity.ERROR },
	{ "short", "Frame without an FCS", expert.group.PROTOCOL,
	  expert.severity.ERROR },
})

function eth.dissector(tvb, pinfo, root)
	if not ours() then
		return
	end
	local tree = root:add(eth, tvb())
	if line_name() then
		weft.add(tree, E.line, line_name().value)
	end
	local n = tvb:len() - FCS
	if weft.behind(tvb) > 0 then
		weft.not_carried(tree, weft.behind(tvb))
		return
	end
	if n < 14 then
		tree:add_proto_expert_info(XE.short)
		return
	end
	local node = tree:add(E.fcs.field, tvb(n, FCS))
	if weft.crc32r(tvb:raw(0, n)) ~= tvb(n, FCS):le_uint() then
		node:add_proto_expert_info(XE.fcs)
	end
end

-- ---- HVIA ----

local types = { [0] = "SEND", "RDMA_WRITE", [8] = "CONN_REQ",
	[9] = "CONN_ACCEPT", [10] = "CONN_REJECT", [11] = "CONN_ACK",
	[12] = "DISCONNECT", [13] = "NO_MATCH" }
local levels = { "unreliable", "reliable delivery",
	[4] = "reliable reception" }
local proto = Proto("hvia", "HVIA-GE")
local F = weft.fields(proto, {
	{ "type", "Type", "u8", 0, 1, vals = types },
	{ "first", "First of its message", "bool", 1, 1, mask = 1 },
	{ "last", "Last of its message", "bool", 1, 1, mask = 2 },
	{ "immediate_valid", "Immediate data", "bool", 1, 1, mask = 4 },
	{ "vi", "Destination VI", "u16", 2, 2 },
	{ "source_vi", "Source VI", "u16", 4, 2 },
	{ "seq", "Sequence number", "u16", 6, 2 },
	{ "length", "Message length", "u32", 8, 4 },
	{ "offset", "Offset in the message", "u32", 12, 4 },
	{ "immediate", "Immediate data", "u32", 12, 4, hex = true },
	{ "send_immediate", "Immediate data", "u32", 16, 4, hex = true },
	{ "va", "Remote address", "u64", 16, 8, hex = true },
	{ "handle", "Remote handle", "u32", 24, 4 },
	{ "data", "Data", "bytes" },
	-- kernel agent
	{ "id", "Connection", "u64", 28, 8, hex = true },
	{ "max", "Maximum transfer size", "u32", 36, 4 },
	{ "level", "Reliability", "u16", 40, 2, vals = levels },
	{ "peer", "Peer to peer", "bool", 42, 1, mask = 1 },
	{ "rdma_write", "RDMA write", "bool", 42, 1, mask = 2 },
	{ "rdma_read", "RDMA read", "bool", 42, 1, mask = 4 },
	{ "from_len", "Length of the sender's discriminator", "u8", 43, 1 },
	{ "to_len", "Length of the receiver's", "u8", 44, 1 },
	{ "qos", "Quality of service", "u64", 46, 8, hex = true },
	{ "from", "Sender's discriminator", "bytes", 54, 16 },
	{ "to", "Receiver's discriminator", "bytes", 70, 16 },
	-- reliable VIPL
	{ "rel.seq", "Frame", "u32", 0, 4 },
	{ "rel.ack", "Next frame wanted", "u32", 4, 4 },
	{ "rel.flags", "Flags (first, last, immediate, RDMA)", "u16", 8, 2,
	  hex = true },
	{ "rel.bytes", "Bytes", "u16", 10, 2 },
	{ "rel.error", "Status of the other's send", "u32", 12, 4, hex = true },
	{ "rel.length", "Length of the message", "u32", 16, 4 },
	{ "rel.immediate", "Immediate data", "u32", 20, 4, hex = true },
	{ "rel.handle", "Remote handle", "u32", 24, 4 },
	{ "rel.va", "Remote address", "u64", 32, 8, hex = true },
	-- worked out
	{ "begun", "Message begins in frame", "frame" },
	{ "whole", "Message is whole in frame", "frame" },
	{ "number", "Packet of its message", "u32" },
	{ "request", "Request in frame", "frame" },
	{ "response", "Answer in frame", "frame" },
	{ "time", "Time since the request", "time" },
})
local X = weft.experts(proto, {
	{ "short", "Frame is too short", expert.group.PROTOCOL,
	  expert.severity.ERROR },
	{ "alone", "Answer to no request of this capture",
	  expert.group.SEQUENCE, expert.severity.NOTE },
	{ "gap", "Packets of this VI are missing", expert.group.SEQUENCE,
	  expert.severity.WARN },
})
local head = { "type", "first", "last", "immediate_valid", "vi", "source_vi",
	"seq", "length" }
local HEAD, BODY, REL = 28, 86, 40

local vis, level, seen
weft.on_reset(function()
	vis, level, seen = {}, {}, {}
end)
local conns = weft.pairing()

local function who(addr, vi)
	return tostring(addr) .. "." .. vi
end

-- ---- kernel agent ----

local body = { "id", "max", "level", "peer", "rdma_write", "rdma_read",
	"from_len", "to_len", "qos", "from", "to" }

local function conn_first(pinfo, v)
	if v.type == 8 or v.type == 9 then
		level[who(pinfo.dl_src, v.source_vi)] = v.level
	end
	if v.type == 8 then
		return conns.request(pinfo, v.id:tohex())
	end
	return conns.answer(pinfo, v.id:tohex(), "response")
end

local function agent(tvb, pinfo, tree, v)
	if tvb:len() < BODY and weft.behind(tvb) > 0 then
		weft.not_carried(tree, weft.behind(tvb))
		return
	elseif tvb:len() < BODY then
		tree:add_proto_expert_info(X.short)
		return
	end
	for k, x in pairs(weft.show(tree, tvb, 0, F, body, true)) do
		v[k] = x
	end
	weft.show_pair(tree, F, weft.once(seen, pinfo, function()
		return conn_first(pinfo, v)
	end), X.alone)
end

-- ---- messages ----

local function data_first(pinfo, v)
	local k = who(pinfo.dl_src, v.source_vi)
	local s = vis[k] or {}
	vis[k] = s
	local ahead = s.seq and (v.seq - s.seq) % 65536 or 1
	local out = { gap = ahead > 1 and ahead < 32768,
		again = ahead == 0 or ahead >= 32768 }
	if out.again then -- or on another line of a switch
		return s.by and s.by[v.seq] or out
	end
	s.seq = v.seq
	s.by = s.by or {}
	s.by[v.seq] = out
	if v.first == 1 or not s.open then
		s.open = { begun = pinfo.number, n = 0, at = 0 }
	end
	local m = s.open
	m.n = m.n + 1
	out.message, out.number = m, m.n
	out.at = v.offset or m.at
	m.at = out.at + v.have
	if v.last == 1 then
		m.whole, s.open = pinfo.number, nil
	end
	return out
end

local rel_names = { "rel.seq", "rel.ack", "rel.flags", "rel.bytes",
	"rel.error", "rel.length", "rel.immediate", "rel.handle", "rel.va" }

local function payload(tvb, pinfo, tree, v, n)
	local l = level[who(pinfo.dl_src, v.source_vi)]
	local at, here = HEAD, tvb:len() - HEAD
	if l and l > 1 and n >= REL and here >= REL then
		weft.show(tree, tvb, HEAD, F, rel_names, true)
		at, n, here = HEAD + REL, n - REL, here - REL
	end
	if n > here then
		weft.not_carried(tree, n - here)
		n = here
	end
	if n > 0 then
		tree:add(F.data.field, tvb(at, n))
	end
end

local function message(tvb, pinfo, tree, v)
	if v.type == 0 then
		v.offset = weft.show(tree, tvb, 0, F, { "offset" }, true).offset
		if v.immediate_valid == 1 then
			weft.show(tree, tvb, 0, F, { "send_immediate" }, true)
		end
	else
		weft.show(tree, tvb, 0, F, { "va", "handle" }, true)
		if v.immediate_valid == 1 then
			weft.show(tree, tvb, 0, F, { "immediate" }, true)
		end
	end
	v.have = tvb:len() + weft.behind(tvb) - HEAD
	local c = weft.once(seen, pinfo, function()
		return data_first(pinfo, v)
	end)
	local n = math.min(v.have, math.max(v.length - (c.at or 0), 0))
	payload(tvb, pinfo, tree, v, n)
	if c.gap then
		tree:add_proto_expert_info(X.gap)
	end
	local m = c.message
	if m then
		weft.add(tree, F.begun, m.begun)
		weft.add(tree, F.number, c.number)
		if m.whole then
			weft.add(tree, F.whole, m.whole)
		end
	end
	return c.at
end

function proto.dissector(tvb, pinfo, root)
	if not ours() then
		return 0
	end
	pinfo.cols.protocol = "HVIA"
	local whole = tvb:len() -- without FCS
	local tree = root:add(proto, tvb())
	if tvb:len() < HEAD and weft.behind(tvb) > 0 then
		weft.not_carried(tree, weft.behind(tvb))
		return whole
	elseif tvb:len() < HEAD then
		tree:add_proto_expert_info(X.short)
		return whole
	end
	local v = weft.show(tree, tvb, 0, F, head, true)
	local name = types[v.type] or "?"
	if v.type >= 8 then
		agent(tvb, pinfo, tree, v)
		pinfo.cols.info:set(string.format("%s VI %d > %d", name,
			v.source_vi, v.vi))
		return whole
	end
	local at = message(tvb, pinfo, tree, v)
	pinfo.cols.info:set(string.format("%s VI %d > %d, packet %d%s%s, %s of %d",
		name, v.source_vi, v.vi, v.seq, v.first == 1 and " first" or "",
		v.last == 1 and " last" or "", at or "?", v.length))
	return whole
end

-- ---- 0x88B6: M-VIA, or eth.gen ----

local mvia = Proto("mvia", "M-VIA")
local M = weft.fields(mvia, {
	{ "to", "Destination", "u16", 2, 2 },
	{ "from", "Source", "u16", 4, 2 },
	{ "length", "Bytes of the message here", "u32", 8, 4 },
	{ "first", "First byte", "u32", 12, 4 },
	{ "data", "Data", "bytes" },
})
local gen = Proto("eth_gen", "eth.gen")
local G = weft.fields(gen, {
	{ "source", "Source", "u32", 0, 4 },
	{ "number", "Number", "u32", 4, 4 },
	{ "sent", "Sent at (fs)", "u64", 8, 8 },
	{ "data", "Data", "bytes" },
})

-- The twelve reserved bytes and a length that fits.
local function is_mvia(tvb)
	return tvb:len() >= HEAD and tvb(0, 2):uint() == 0 and
		not tvb:raw(16, 12):find("[^%z]") and
		tvb(8, 4):le_uint() <= tvb:len() + weft.behind(tvb) - HEAD
end

function gen.dissector(tvb, pinfo, root)
	if not ours() or tvb:len() < 16 then
		return 0
	end
	local whole = tvb:len()
	if is_mvia(tvb) then
		local tree = root:add(mvia, tvb())
		local v = weft.show(tree, tvb, 0, M, { "to", "from", "length",
			"first" }, true)
		pinfo.cols.protocol = "M-VIA"
		pinfo.cols.info:set(string.format("%d > %d, %d bytes from %d",
			v.from, v.to, v.length, v.first))
		local n = math.min(v.length, tvb:len() - HEAD)
		if n > 0 then
			tree:add(M.data.field, tvb(HEAD, n))
		end
		if n < v.length then
			weft.not_carried(tree, v.length - n)
		end
		return whole
	end
	local tree = root:add(gen, tvb())
	local v = weft.show(tree, tvb, 0, G, { "source", "number", "sent" })
	pinfo.cols.protocol = "eth.gen"
	pinfo.cols.info:set(string.format("number %d of %d", v.number, v.source))
	if tvb:len() > 16 then
		tree:add(G.data.field, tvb(16))
	end
	return whole
end

register_postdissector(eth)
local by_type = DissectorTable.get("ethertype")
by_type:add(0x88b5, proto)
by_type:add(0x88b6, gen)
