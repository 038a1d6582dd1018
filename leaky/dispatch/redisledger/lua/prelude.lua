-- Shared by every step; each step's file is appended to this one.
-- Numbers are integers below 2^53; those above 2^31 travel as strings made by int().
local function int(n) return string.format('%.0f', n) end
local t = redis.call('TIME')
local now_us = tonumber(t[1]) * 1000000 + tonumber(t[2])
local now = math.floor(now_us / 1000)
