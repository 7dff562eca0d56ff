-- Clicks on one link, each as another viewer, so that each of them counts.
local path, clicks = nil, 0
local name = tostring(os.time()) .. "-" .. tostring({}):sub(8)

init = function(args)
  path = wrk.path
end

request = function()
  clicks = clicks + 1
  return "GET " .. path .. " HTTP/1.1\r\nHost: test\r\nUser-Agent: wrk\r\nX-Viewer-ID: " .. name .. clicks .. "\r\n\r\n"
end
