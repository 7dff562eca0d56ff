-- Requests the paths of a file in turn.
local paths = {}
local index = 0

init = function(args)
  for line in io.lines(args[1]) do
    paths[#paths + 1] = line
  end
end

request = function()
  index = index % #paths + 1
  return wrk.format("GET", paths[index])
end
