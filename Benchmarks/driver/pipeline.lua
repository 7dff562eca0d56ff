-- Sends sixteen requests in one write.
init = function(args)
  local requests = {}
  for number = 1, 16 do
    requests[number] = wrk.format("GET", wrk.path)
  end
  batch = table.concat(requests)
end

request = function()
  return batch
end
