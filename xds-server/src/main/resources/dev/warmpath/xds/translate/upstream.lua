-- Runs once for every attempt, in the cluster that the attempt goes to. An attempt starts with what
-- the attempt before it made of the headers, so each cluster puts back or replaces what another
-- cluster may have changed. CLUSTER, MODE, HOST, SCHEME, BASE, REPLACES_VERSION and the names of
-- the metadata are set by the lines before this one.

-- The body always starts as the processor answered it, with the model name that the first cluster
-- wants; another cluster has an entry in `models` if it wants another name.
local function model(handle, metadata)
  local decision = metadata:get(DECISION)
  local models = decision and decision[MODELS]
  local wanted = models and models[CLUSTER]
  if wanted == nil then
    return
  end
  local body = handle:body()
  local from, to = decision[MODEL_START], decision[MODEL_END]
  if body == nil or from == nil or to == nil then
    return
  end
  local length = body:length()
  if from < 0 or from >= to or to > length then
    handle:logErr("the model name's place is outside the body")
    return
  end
  local size = body:setBytes(
    body:getBytes(0, from) .. wanted .. (to < length and body:getBytes(to, length - to) or ""))
  handle:headers():replace("content-length", tostring(size))
end

local function provider(headers, metadata)
  local original = metadata:get(ORIGINAL)
  if original == nil then
    original = {
      path = headers:get(":path"),
      authority = headers:get(":authority"),
      scheme = headers:get(":scheme"),
    }
    for key, value in pairs(original) do
      metadata:set(ORIGINAL, key, value)
    end
  end
  local path = original.path
  if REPLACES_VERSION then
    path = path:gsub("^/v1/", "/", 1)
  end
  headers:replace(":path", BASE .. path)
  headers:replace(":authority", HOST)
  headers:replace(":scheme", SCHEME)
end

local function pool(headers, metadata)
  local original = metadata:get(ORIGINAL)
  if original == nil then
    return
  end
  headers:replace(":path", original.path)
  headers:replace(":authority", original.authority)
  headers:replace(":scheme", original.scheme)
end

function envoy_on_request(handle)
  local metadata = handle:streamInfo():dynamicMetadata()
  if MODE == "provider" then
    provider(handle:headers(), metadata)
  else
    pool(handle:headers(), metadata)
  end
  model(handle, metadata)
end
