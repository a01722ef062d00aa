"""Calls the gateway with the anthropic SDK and prints one JSON object: scenario -> what the program saw.

Usage: anthropic_calls.py BASE_URL API_KEY MODEL
"""

import base64
import json
import sys

import anthropic

BASE_URL, API_KEY, MODEL = sys.argv[1:4]
SENT = []
MESSAGES = [{"role": "user", "content": 'Héllo "x" \u2028 😀'}]
TOOLS = [
    {
        "name": "get_weather",
        "description": "Weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
IMAGES = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is on these?"},
            {"type": "image", "source": {"type": "url", "url": "https://images.example/cat.png"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        ],
    }
]


def record(request):
    SENT.append(base64.b64encode(request.content).decode())


client = anthropic.Anthropic(
    base_url=BASE_URL,
    api_key=API_KEY,
    max_retries=0,
    timeout=60,
    http_client=anthropic.DefaultHttpxClient(event_hooks={"request": [record]}),
)


def messages():
    raw = client.messages.with_raw_response.create(model=MODEL, max_tokens=8, system="Be short.", messages=MESSAGES)
    answer = raw.parse()
    return {
        "content": answer.content[0].text,
        "stop": answer.stop_reason,
        "usage": answer.usage.model_dump(),
        "bytes": base64.b64encode(raw.http_response.content).decode(),
        "request_id": raw.headers.get("request-id"),
        "decision": raw.headers.get("x-warmpath-decision"),
    }


def messages_stream():
    with client.messages.stream(model=MODEL, max_tokens=8, messages=MESSAGES) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    return {"content": text, "stop": final.stop_reason, "usage": final.usage.model_dump()}


def messages_stream_bytes():
    with client.messages.with_streaming_response.create(model=MODEL, max_tokens=8, messages=MESSAGES, stream=True) as response:
        return {"bytes": base64.b64encode(b"".join(response.iter_bytes())).decode()}


def tools():
    answer = client.messages.create(
        model=MODEL, max_tokens=64, messages=[{"role": "user", "content": "scenario-tools"}], tools=TOOLS
    )
    call = next(block for block in answer.content if block.type == "tool_use")
    return {"name": call.name, "arguments": call.input, "stop": answer.stop_reason}


def images():
    return {"content": client.messages.create(model=MODEL, max_tokens=8, messages=IMAGES).content[0].text}


def count_tokens():
    return {"input_tokens": client.messages.count_tokens(model=MODEL, messages=MESSAGES).input_tokens}


def models():
    return {"listed": [model.id for model in client.models.list()]}


def unknown_model():
    client.messages.create(model="no-such-model", max_tokens=8, messages=MESSAGES)


def bad_request():
    client.messages.create(model=MODEL, max_tokens=8, messages="not a list")


def too_large():
    client.messages.create(model=MODEL, max_tokens=8, messages=[{"role": "user", "content": "x" * (65 << 20)}])


def worker_400():
    client.messages.create(model=MODEL, max_tokens=8, messages=[{"role": "user", "content": "scenario-400"}])


def worker_429():
    client.messages.create(model=MODEL, max_tokens=8, messages=[{"role": "user", "content": "scenario-429"}])


def worker_503():
    client.messages.create(model=MODEL, max_tokens=8, messages=[{"role": "user", "content": "scenario-503"}])


def error_event():
    with client.messages.stream(
        model=MODEL, max_tokens=8, messages=[{"role": "user", "content": "scenario-error-event"}]
    ) as stream:
        stream.until_done()


def exception(error):
    body = getattr(error, "body", None)
    return {
        "exception": type(error).__name__,
        "classes": [kind.__name__ for kind in type(error).__mro__],
        "status": getattr(error, "status_code", None),
        "request_id": getattr(error, "request_id", None),
        "message": str(error)[:500],
        "body": body if isinstance(body, (dict, str)) else None,
    }


def main():
    wanted = sys.argv[4:] or [
        "messages", "messages_stream", "messages_stream_bytes", "tools", "images", "count_tokens", "models", "unknown_model",
        "bad_request", "too_large", "worker_400", "worker_429", "worker_503", "error_event",
    ]  # fmt: skip
    results = {"version": anthropic.__version__}
    for name in wanted:
        SENT.clear()
        try:
            results[name] = globals()[name]() or {"exception": None}
        except Exception as error:  # noqa: BLE001 - the exception is the result
            results[name] = exception(error)
        results[name]["sent"] = [body for body in SENT if len(body) < 100_000]
    json.dump(results, sys.stdout)


main()
