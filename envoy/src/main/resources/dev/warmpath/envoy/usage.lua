-- Reads token usage, the end marker and in-band errors from responses into dynamic metadata warmpath.usage, and removes the
-- usage chunk of a stream when only the gateway asked for it (metadata warmpath.strip_usage).
--
-- Works on bytes and on lines: a `data:` line of a server-sent event is complete at its newline. Chunks may end anywhere.
-- Without strip_usage no byte is held or changed. With it, only an unfinished line is held, at most MAX_LINE bytes of it.
-- Runs once for each chunk, so that plain finds decide before any pattern runs.

local MAX_LINE = 65536 -- a longer line is no usage chunk; it is passed on unread but for its tail
local TAIL = 8192      -- of a long line or a JSON body; usage stands at the end of both
local NAMESPACE = "warmpath.usage"

local find, sub, match, byte = string.find, string.sub, string.match, string.byte

-- Anthropic error types and their HTTP status; unknown ones count as 500.
local ERROR_STATUS = {
  invalid_request_error = 400, authentication_error = 401, permission_error = 403, not_found_error = 404,
  request_too_large = 413, rate_limit_error = 429, api_error = 500, timeout_error = 504, overloaded_error = 529,
}

local function number(object, key)
  return tonumber(match(object, '"' .. key .. '"%s*:%s*(%d+)'))
end

-- The last object under the key "usage" of a text. Inside a JSON string the quotes would be escaped, so it is a key.
local function last_usage(text)
  local from, found = 1, nil
  while true do
    local at, stop = find(text, '"usage"', from, true)
    if not at then return found end
    local object = match(text, "^%s*:%s*(%b{})", stop + 1)
    if object and find(object, "_tokens\"%s*:%s*%d") then found = object end
    from = stop + 1
  end
end

-- Metadata objects do not outlive a yield, so each write asks for one.
local function put(reported, key, value)
  if value ~= reported[key] then
    reported[key] = value
    reported.handle:streamInfo():dynamicMetadata():set(NAMESPACE, key, value)
  end
end

-- A later report replaces the fields that it carries, except that a zero says nothing new.
local function report(reported, key, value)
  if value and (value > 0 or not reported[key]) then put(reported, key, value) end
end

-- OpenAI's counts include cached tokens. Anthropic's input_tokens exclude what cache_read_input_tokens and
-- cache_creation_input_tokens count, where these are given.
local function report_usage(reported, object)
  local prompt = number(object, "prompt_tokens")
  local completion = number(object, "completion_tokens") or number(object, "output_tokens")
  local cached = number(object, "cached_tokens")
  if not prompt then
    prompt = number(object, "input_tokens")
    local read = number(object, "cache_read_input_tokens")
    if prompt then
      prompt = prompt + (read or 0) + (number(object, "cache_creation_input_tokens") or 0)
    end
    cached = cached or read
  end
  report(reported, "prompt_tokens", prompt)
  report(reported, "cached_tokens", cached)
  report(reported, "completion_tokens", completion)
end

local function error_code(line)
  local object = match(line, '"error"%s*:%s*(%b{})') or line
  -- vLLM's Messages API tells of a full queue by the error that it had in reading its own: 'code': 503.
  return number(object, "code") or ERROR_STATUS[match(object, '"type"%s*:%s*"([a-z_]+)"') or ""]
    or tonumber(match(object, "'code': ([1-5]%d%d)%D") or 500)
end

-- One line of an event stream, or the head and tail of a long one. True if it is a usage chunk of an OpenAI stream.
local function read_line(reported, line)
  local usage_chunk = false
  if find(line, '"usage"', 1, true) then
    local object = last_usage(line)
    if object then
      report_usage(reported, object)
      usage_chunk = find(line, '^data:%s*{') ~= nil and find(line, '"choices"%s*:%s*%[%s*%]') ~= nil
    end
  end
  if find(line, '"error"', 1, true)
    and (find(line, '"error"%s*:%s*{') or find(line, '^data:%s*{%s*"[a-z]+"%s*:%s*"error"')) then
    put(reported, "error_code", error_code(line))
  end
  if find(line, "^data:%s*%[DONE%]") or find(line, '^data:%s*{%s*"type"%s*:%s*"message_stop"')
    or find(line, '^data:%s*{%s*"type"%s*:%s*"response%.completed"')
    or find(line, '^data:%s*{%s*"type"%s*:%s*"response%.incomplete"') then
    put(reported, "done", true)
  end
  return usage_chunk
end

-- Anything in these bytes that read_line could want? Plain finds only, for the many chunks that hold one token each.
local function interesting(text)
  return find(text, '"usage"', 1, true) or find(text, "[DONE]", 1, true) or find(text, '"error"', 1, true)
    or find(text, "message_stop", 1, true) or find(text, "response.com", 1, true) or find(text, "response.inc", 1, true)
end

-- Does this text, which ends with a newline, end with a blank line?
local function ends_blank(text)
  local before = byte(text, -2)
  return before == nil or before == 10 or (before == 13 and (#text == 2 or byte(text, -3) == 10))
end

local function last_newline(text)
  if byte(text, -1) == 10 then return #text end
  local at, from = 0, 1
  while true do
    local next_at = find(text, "\n", from, true)
    if not next_at then return at end
    at, from = next_at, next_at + 1
  end
end

local function read_stream(handle, reported, strip)
  local held = ""       -- unfinished line; not forwarded yet if strip
  local long = false    -- inside a line of more than MAX_LINE bytes: held is its tail, all of it is forwarded
  local head = ""       -- first bytes of such a line
  local first = true    -- the next line is the first of its event
  local eat = false     -- the line after a removed one: the blank line that ends its event goes too
  local last

  for chunk in handle:bodyChunks() do
    last = chunk
    local length = chunk:length()
    if length > 0 then
      local text = chunk:getBytes(0, length)
      local all = held == "" and text or held .. text
      if held == "" and not long and not eat and byte(all, -1) == 10 and not interesting(all) then
        -- The common case: whole lines, nothing to read.
        first = ends_blank(all)
      else
        local stop = last_newline(all)
        local out = strip and {} or nil
        local from = 1
        while from <= stop do
          local at = find(all, "\n", from, true)
          local line = sub(all, from, at)
          local blank = line == "\n" or line == "\r\n"
          if long then
            read_line(reported, head .. " " .. line)
            long, head = false, ""
            if out then out[#out + 1] = sub(line, #held + 1) end -- its held part is out already
          elseif eat and blank then
            -- Ends the removed event.
          elseif not blank and read_line(reported, line) and strip then
            eat = first
            first = false
            line = nil
          elseif out then
            out[#out + 1] = line
          end
          if line then
            eat = false
            first = blank
          end
          held = ""
          from = at + 1
        end
        local rest = sub(all, from)
        if strip and long then
          out[#out + 1] = sub(rest, #held + 1)
        end
        if long then
          held = #rest > TAIL and sub(rest, -TAIL) or rest
        elseif #rest > MAX_LINE then
          if out then out[#out + 1] = rest end
          long, head, held = true, sub(rest, 1, 64), sub(rest, -TAIL)
        else
          held = rest
        end
        if out then
          local bytes = table.concat(out)
          if bytes ~= text then chunk:setBytes(bytes) end
        end
      end
    end
  end

  -- A last line without newline. The chunk that ended the stream is still writable, unless trailers ended it.
  if held ~= "" then
    local usage_chunk = read_line(reported, long and head .. " " .. held or held)
    if strip and not long and not usage_chunk and last then
      pcall(function()
        local length = last:length()
        last:setBytes((length > 0 and last:getBytes(0, length) or "") .. held)
      end)
    end
  end
end

local function read_body(handle, reported)
  local tail = ""
  for chunk in handle:bodyChunks() do
    local length = chunk:length()
    if length >= TAIL then
      tail = chunk:getBytes(length - TAIL, TAIL)
    elseif length > 0 then
      tail = sub(tail .. chunk:getBytes(0, length), -TAIL)
    end
  end
  local object = last_usage(tail)
  if object then report_usage(reported, object) end
  put(reported, "done", true)
end

function envoy_on_response(handle)
  local headers = handle:headers()
  if headers:get(":status") ~= "200" then return end
  local encoding = headers:get("content-encoding")
  if encoding and encoding ~= "identity" then return end
  local content_type = headers:get("content-type") or ""
  local reported = { handle = handle } -- and what was reported last under each key
  if find(content_type, "text/event-stream", 1, true) then
    local decision = handle:streamInfo():dynamicMetadata():get("warmpath")
    local strip = decision ~= nil and decision["strip_usage"] == true
    if strip then headers:remove("content-length") end
    read_stream(handle, reported, strip)
  elseif find(content_type, "application/json", 1, true) then
    read_body(handle, reported)
  end
end
