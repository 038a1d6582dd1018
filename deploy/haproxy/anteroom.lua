-- Asks Anteroom's gate about each request before it is sent on. 200 lets it through; any
-- other answer is for the visitor. In the configuration:
--
--   http-request lua.anteroom <address of Anteroom> <closed or open while it is down>
--
-- The address is http://host:port. A name instead of an IP address needs a "resolvers
-- default" section, https:// a "httpclient.ssl.ca-file" in global.

-- Headers of an answer that belong to its connection.
local own = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true, ["keep-alive"] = true, ["upgrade"] = true,
}

-- What the gate reads of a visitor's request. Nothing else is passed on: HAProxy's client
-- does not survive more than about a hundred headers. The scheme is set by the configuration.
local reads = {
  ["cookie"] = true, ["accept"] = true, ["authorization"] = true, ["content-type"] = true, ["origin"] = true, ["referer"] = true,
  ["x-requested-with"] = true, ["sec-fetch-mode"] = true, ["sec-fetch-dest"] = true, ["sec-fetch-site"] = true,
  ["access-control-request-method"] = true, ["x-forwarded-proto"] = true,
}

local function question(txn)
  local headers = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    local lower = name:lower()
    if reads[lower] then
      local list = {}
      for i = 0, #values do list[#list + 1] = values[i] end
      -- However many lines a header has, it is one here.
      headers[lower] = { table.concat(list, lower == "cookie" and "; " or ", ") }
    end
  end
  headers["x-forwarded-method"] = { txn.sf:method() }
  headers["x-forwarded-host"] = { txn.sf:req_hdr("host") or "" }
  headers["x-forwarded-uri"] = { txn.sf:pathq() or txn.sf:path() or "/" }
  headers["x-forwarded-for"] = { txn.sf:src() }
  headers["anteroom-pass"] = { txn:get_var("txn.anteroom_pass") or "" }
  headers["host"] = { "anteroom" }
  return headers
end

-- answer passes on what the gate says to the visitor.
local function answer(txn, res)
  local reply = txn:reply()
  reply:set_status(res.status, res.reason)
  for name, values in pairs(res.headers) do
    local lower = name:lower()
    if not own[lower] and not lower:find("^anteroom%-") then
      for i = 0, #values do reply:add_header(name, values[i]) end
    end
  end
  -- Of a redirect the Location does; both would not fit into a buffer if they are long.
  if res.status < 300 or res.status > 399 then reply:set_body(res.body or "") end
  txn:done(reply)
end

local function down(txn, when_down)
  if when_down == "open" then return end
  local reply = txn:reply()
  reply:set_status(503, "Service Unavailable")
  reply:add_header("retry-after", "10")
  reply:add_header("cache-control", "no-store")
  reply:add_header("content-type", "text/plain")
  reply:set_body("The waiting room does not answer. Please try again in a moment.\n")
  txn:done(reply)
end

-- HAProxy asks four times before it gives up: 2 s in all. The gate answers in a few ms.
local timeout = 500

core.register_action("anteroom", { "http-req" }, function(txn, address, when_down)
  local ok, res = pcall(function()
    return core.httpclient():get{ url = address .. "/gate?for=haproxy", headers = question(txn), timeout = timeout }
  end)
  if not ok or not res or not res.status or res.status == 0 or res.status >= 500 then return down(txn, when_down) end
  if res.status ~= 200 then return answer(txn, res) end
  for _, name in ipairs({ "anteroom-visitor", "anteroom-room" }) do
    local values = res.headers[name]
    txn.http:req_set_header(name, values and values[0] or "")
  end
  local cookie = res.headers["set-cookie"]
  if cookie and cookie[0] then txn:set_var("txn.anteroom_cookie", cookie[0]) end
end, 2)
