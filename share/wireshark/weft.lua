-- SPDX-License-Identifier: Apache-2.0
-- Lines of Weft in Wireshark (docs/captures.md): the head of each record, what
-- the dissectors of the wire formats share, and the wire formats themselves:
-- dissector*.lua in the folder of each system, installed beside this file under
-- names that begin with weft_.  They do nothing when loaded alone.
--
--     tshark -X lua_script:share/wireshark/weft.lua -r x.pcapng
local weft = { wires = {}, uppers = {}, resets = {} }
local bits = bit32 or bit -- Lua 5.2, or what Wireshark brings to later ones
local band, bxor, rshift, lshift = bits.band, bits.bxor, bits.rshift, bits.lshift

local function u32(x)
	return x % 4294967296
end

-- ---- CRCs over Lua strings ----

-- Byte tables; msb: most significant bit first.
local function crc_table(width, poly, msb)
	local t, top = {}, 2 ^ (width - 1)
	for i = 0, 255 do
		local c = msb and lshift(i, width - 8) or i
		for _ = 1, 8 do
			if msb then
				c = u32(c)
				local carry = c >= top
				c = c * 2 % (top * 2)
				c = carry and bxor(c, poly) or c
			else
				c = band(c, 1) == 1 and bxor(rshift(c, 1), poly)
					or rshift(c, 1)
			end
		end
		t[i] = u32(c)
	end
	return t
end

local t8 = crc_table(8, 0x07, true)
local t16 = crc_table(16, 0x1021, true)
local t32 = crc_table(32, 0x04c11db7, true)
local t32r = crc_table(32, 0xedb88320, false)

function weft.crc8(s)
	local c = 0
	for i = 1, #s do
		c = t8[bxor(c, s:byte(i))]
	end
	return c
end

function weft.crc16(s)
	local c = 0xffff
	for i = 1, #s do
		c = bxor(c * 256 % 65536, t16[bxor(rshift(c, 8), s:byte(i))])
	end
	return c
end

function weft.crc32(s) -- CRC-32/MPEG-2
	local c = 0xffffffff
	for i = 1, #s do
		c = u32(bxor(c * 256 % 4294967296,
			t32[bxor(rshift(c, 24), s:byte(i))]))
	end
	return c
end

function weft.crc32r(s) -- as Ethernet
	local c = 0xffffffff
	for i = 1, #s do
		c = bxor(rshift(c, 8), t32r[band(bxor(c, s:byte(i)), 255)])
	end
	return u32(bits.bnot(c))
end

function weft.parity(x)
	local p = 0
	while x > 0 do
		p, x = bxor(p, x % 2), math.floor(x / 2)
	end
	return p
end

-- ---- fields by tables ----

local kinds = {
	u8 = ftypes.UINT8, u16 = ftypes.UINT16, u24 = ftypes.UINT24,
	u32 = ftypes.UINT32, u64 = ftypes.UINT64, bool = ftypes.BOOLEAN,
	bytes = ftypes.BYTES, str = ftypes.STRING, frame = ftypes.FRAMENUM,
	i32 = ftypes.INT32, time = ftypes.RELATIVE_TIME,
}

-- Rows { name, title, kind, offset, bytes, mask =, vals =, hex = }: a layout;
-- rows without an offset are for weft.add.  One call for each protocol.
function weft.fields(proto, rows)
	local all, by_name = {}, {}
	for _, r in ipairs(rows) do
		local base = r.hex and base.HEX or base.DEC
		local kind = r[3]
		if kind == "bool" then
			base = r.mask and r[5] * 8 or 0
		elseif kind == "bytes" or kind == "str" or kind == "frame" or
			kind == "time" then
			base = 0
		end
		r.field = ProtoField.new(r[2], proto.name:lower() .. "." .. r[1],
			kinds[kind], r.vals, base, r.mask)
		all[#all + 1] = r.field
		by_name[r[1]] = r
	end
	proto.fields = all
	return by_name
end

-- Experts { name, text, group, severity }; returns name -> ProtoExpert.
function weft.experts(proto, rows)
	local all, by_name = {}, {}
	for _, r in ipairs(rows) do
		local e = ProtoExpert.new(proto.name:lower() .. ".expert." .. r[1],
			r[2], r[3], r[4])
		all[#all + 1] = e
		by_name[r[1]] = e
	end
	proto.experts = all
	return by_name
end

local function masked(v, mask)
	if not mask then
		return v
	end
	v = band(v, mask)
	while mask % 2 == 0 do
		v, mask = rshift(v, 1), mask / 2
	end
	return v
end

-- Shows the named rows of a layout that begins at tvb(at); returns values by
-- name (64 bit: UInt64).
function weft.show(tree, tvb, at, by_name, names, le)
	local out = {}
	for _, name in ipairs(names) do
		local r = by_name[name]
		local range = tvb(at + r[4], r[5])
		if le then
			tree:add_le(r.field, range)
		else
			tree:add(r.field, range)
		end
		if r[3] == "u64" then
			out[name] = le and range:le_uint64() or range:uint64()
		elseif r[3] ~= "bytes" and r[5] <= 4 then
			out[name] = masked(le and range:le_uint() or range:uint(),
				r.mask)
		end
	end
	return out
end

-- A field that is worked out, not read.
function weft.add(tree, row, value)
	return tree:add(row.field, value):set_generated()
end

-- ---- state: what was worked out in the first pass, by frame ----

function weft.on_reset(f)
	weft.resets[#weft.resets + 1] = f
	f()
end

-- Calls first() when the frame is seen for the first time, and remembers what
-- it gave for the times after that.
function weft.once(store, pinfo, first)
	if not pinfo.visited or store[pinfo.number] == nil then
		store[pinfo.number] = first() or false
	end
	return store[pinfo.number]
end

-- A function that gives the state of a line by its number, made by new() when
-- it is first asked for.
function weft.by_line(new)
	local lines
	weft.on_reset(function()
		lines = {}
	end)
	return function(line)
		lines[line] = lines[line] or new()
		return lines[line]
	end
end

-- Requests that wait for an answer, by a key.  A packet passes several lines:
-- the pair is the first sight of each.
function weft.pairing()
	local open, p = {}, {}
	weft.on_reset(function()
		open = {}
	end)
	-- new: what is open under that key is another one
	function p.request(pinfo, key, new)
		local r = open[key]
		if not r or r.response or r.acked or new and r.what ~= new then
			r = { frame = pinfo.number, ts = pinfo.rel_ts, what = new }
			open[key] = r
		end
		return { pair = r }
	end
	-- how: "response" or "acked"; also: where further parts will be awaited
	function p.answer(pinfo, key, how, also)
		local r = open[key]
		if not r then
			return { alone = true }
		end
		r[how] = r[how] or pinfo.number
		if also then
			open[also] = r
		end
		return { pair = r, time = pinfo.rel_ts - r.ts }
	end
	return p
end

-- Shows what request or answer gave; F has request, response, time, acked.
function weft.show_pair(tree, F, t, alone)
	if t.alone then
		tree:add_proto_expert_info(alone)
	elseif t.time then
		weft.add(tree, F.request, t.pair.frame)
		weft.add(tree, F.time, weft.time(t.time))
	else
		for _, how in ipairs({ "response", "acked" }) do
			if t.pair[how] then
				weft.add(tree, F[how], t.pair[how])
			end
		end
	end
end

function weft.time(seconds)
	return NSTime(0, math.floor(seconds * 1e9 + 0.5))
end

-- What is not on the wire at that place: a buffer of its own.
function weft.buffer(s, name)
	return ByteArray.new(s, true):tvb(name)
end

-- ---- records ----

local proto = Proto("weft", "Weft line")
local fields = weft.fields(proto, {
	{ "version", "Version", "u8", 0, 1 },
	{ "wire", "Wire format", "u8", 1, 1,
	  vals = { "FORTH", "EXTOLL", "ATOLL" } },
	{ "damaged", "Damaged by a fault on the line", "bool", 2, 1, mask = 1 },
	{ "invalid", "Invalid codes are marked", "bool", 2, 1, mask = 2 },
	{ "cut", "Cut in front of a payload that the run does not carry", "bool",
	  2, 1, mask = 4 },
	{ "more", "More", "u8", 3, 1, hex = true },
	{ "symbols", "Symbols", "u32", 4, 4 },
	{ "words", "Words on the line", "u32", 8, 4 },
	{ "word_ps", "Time of a word (ps)", "u32", 12, 4 },
	{ "number", "Line", "u32", 16, 4 },
	{ "line", "Ends", "str" },
	{ "missing", "Bytes not carried by this run", "u32" },
})
local errors = weft.experts(proto, {
	{ "record", "Not a record of this version", expert.group.UNDECODED,
	  expert.severity.WARN },
})
local iface_name = Field.new("frame.interface_name")
local names -- by line; a first pass without a tree does not know them
weft.on_reset(function()
	names = {}
end)
local HEAD, VERSION = 20, 2

-- n bytes were on the line, and nobody knows them: no CRC can be checked.
function weft.not_carried(tree, n)
	weft.add(tree, fields.missing, n)
end

-- Bytes of tvb that were on the line and are not in the file.
function weft.behind(tvb)
	return tvb:reported_len() - tvb:len()
end

local function bit_at(map)
	return function(i)
		local b = map:byte(math.floor(i / 8) + 1)
		return b ~= nil and band(b, lshift(1, i % 8)) ~= 0
	end
end

local function never()
	return false
end

-- Control symbols of a record that is cut: those it begins with, by wire.
local function begins(wire)
	local n = wire == 1 and 2 or 1
	return function(i)
		return i < n
	end
end

-- Symbols that are there (n) and that were on the line (all).
local function record(tvb)
	local all, flags = tvb(4, 4):le_uint(), tvb(2, 1):uint()
	local invalid, cut = band(flags, 2) ~= 0, band(flags, 4) ~= 0
	local maps = cut and 0 or math.floor((all + 7) / 8)
	local n = cut and tvb:len() - HEAD or all
	if tvb:len() ~= HEAD + n + maps * (invalid and 2 or 1) or n == 0 or
		cut and (invalid or n >= all) then
		return nil
	end
	local line, info = tvb(16, 4):le_uint(), iface_name()
	names[line] = info and info.value or names[line]
	local a, b = (names[line] or ""):match("^(.-) > (.*)$")
	return {
		n = n, all = all, cut = cut,
		more = tvb(3, 1):uint(),
		damaged = band(flags, 1) ~= 0,
		tvb = tvb(HEAD, n):tvb(), -- the symbols
		s = tvb:raw(HEAD, n),
		is_k = cut and begins(tvb(1, 1):uint()) or
			bit_at(tvb:raw(HEAD + n, maps)),
		is_bad = invalid and bit_at(tvb:raw(HEAD + n + maps, maps)) or never,
		invalid = invalid,
		line = line, from = a, to = b,
		back = line % 2 == 0 and line + 1 or line - 1,
	}
end

function proto.dissector(tvb, pinfo, root)
	pinfo.cols.protocol = "Weft"
	local tree = root:add(proto, tvb())
	local rec = tvb:len() > HEAD and tvb(0, 1):uint() == VERSION and
		record(tvb)
	local wire = rec and weft.wires[tvb(1, 1):uint()]
	if not wire then
		tree:add_proto_expert_info(errors.record)
		return
	end
	weft.show(tree, tvb, 0, fields, { "version", "wire", "damaged",
		"invalid", "cut", "more", "symbols", "words", "word_ps", "number" }, true)
	if rec.from then
		weft.add(tree, fields.line, rec.from .. " > " .. rec.to)
		pinfo.cols.src:set(rec.from)
		pinfo.cols.dst:set(rec.to)
	end
	wire(rec, pinfo, root)
end

function proto.init()
	for _, f in ipairs(weft.resets) do
		f()
	end
end

local here = debug.getinfo(1, "S").source:match("^@?(.*[/\\])") or ""
local parts = {}

local function look(folder, pattern)
	for name in Dir.open(folder) do
		if name:match(pattern) then
			parts[#parts + 1] = folder .. name
		end
	end
end

look(here == "" and "./" or here, "^weft_.*%.lua$")
if #parts == 0 then
	local systems = here .. "../../src/systems/"
	for name in Dir.open(systems) do
		if Dir.exists(systems .. name) then
			look(systems .. name .. "/", "^dissector.*%.lua$")
		end
	end
end
table.sort(parts)
for _, file in ipairs(parts) do
	assert(loadfile(file))(weft)
end
DissectorTable.get("wtap_encap"):add(wtap.USER0, proto)
