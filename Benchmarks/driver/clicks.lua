-- Clicks on one link, each with a different viewer, so that each click counts. Names are random; with the argument "ordered" they ascend.
local path, clicks, isOrdered, fields = nil, 0, false, ""
local name = tostring(os.time()) .. "-" .. tostring({}):sub(8)

init = function(args)
  path = wrk.path
  isOrdered = args[1] == "ordered"
  -- Fields that wrk received. A click without a user agent does not count.
  for field, value in pairs(wrk.headers) do fields = fields .. field .. ": " .. value .. "\r\n" end
  if not wrk.headers["User-Agent"] then fields = fields .. "User-Agent: wrk\r\n" end
  math.randomseed(os.time() + tonumber(tostring({}):sub(10), 16) % 1000000)
end

request = function()
  clicks = clicks + 1
  local viewer = isOrdered and name .. clicks or string.format("%07x%s%d", math.random(0, 0xfffffff), name, clicks)
  return "GET " .. path .. " HTTP/1.1\r\n" .. fields .. "X-Viewer-ID: " .. viewer .. "\r\n\r\n"
end
