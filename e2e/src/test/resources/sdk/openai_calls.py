"""Calls the gateway with the openai SDK and prints one JSON object: scenario -> what the program saw.

Usage: openai_calls.py BASE_URL API_KEY MODEL. Works with both majors of the SDK.
"""

import asyncio
import base64
import json
import sys

import openai

BASE_URL, API_KEY, MODEL = sys.argv[1:4]
SENT = []
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": 'Héllo "x" \u2028 😀'}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
IMAGES = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is on these?"},
            {"type": "image_url", "image_url": {"url": "https://images.example/cat.png", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        ],
    }
]


def record(request):
    SENT.append(base64.b64encode(request.read()).decode())


client = openai.OpenAI(
    base_url=BASE_URL,
    api_key=API_KEY,
    max_retries=0,
    timeout=60,
    http_client=openai.DefaultHttpxClient(event_hooks={"request": [record]}),
)


def chat():
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=MESSAGES, max_tokens=8)
    answer = raw.parse()
    return {
        "content": answer.choices[0].message.content,
        "finish": answer.choices[0].finish_reason,
        "usage": answer.usage.model_dump(),
        "bytes": base64.b64encode(raw.content).decode(),
        "request_id": answer._request_id,
        "decision": raw.headers.get("x-warmpath-decision"),
    }


def read_stream(**more):
    seen = {"content": "", "chunks": 0, "finish": None, "usage": [], "without_choices": 0}
    with client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=8, stream=True, **more) as stream:
        for chunk in stream:
            seen["chunks"] += 1
            if not chunk.choices:
                seen["without_choices"] += 1
            for choice in chunk.choices:
                seen["content"] += choice.delta.content or ""
                seen["finish"] = choice.finish_reason or seen["finish"]
            if chunk.usage is not None:
                seen["usage"].append(chunk.usage.model_dump())
    return seen


def chat_stream():
    return read_stream()


def chat_stream_usage():
    return read_stream(stream_options={"include_usage": True})


def chat_stream_bytes():
    with client.chat.completions.with_streaming_response.create(
        model=MODEL, messages=MESSAGES, max_tokens=8, stream=True
    ) as response:
        return {"bytes": base64.b64encode(b"".join(response.iter_bytes())).decode()}


def tools():
    answer = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "scenario-tools"}], tools=TOOLS, tool_choice="auto"
    )
    call = answer.choices[0].message.tool_calls[0]
    return {"name": call.function.name, "arguments": json.loads(call.function.arguments), "finish": answer.choices[0].finish_reason}


def tools_stream():
    name, arguments = "", ""
    for chunk in client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "scenario-tools"}], tools=TOOLS, stream=True
    ):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                name += call.function.name or ""
                arguments += call.function.arguments or ""
    return {"name": name, "arguments": json.loads(arguments)}


def images():
    return {"content": client.chat.completions.create(model=MODEL, messages=IMAGES).choices[0].message.content}


def completions():
    return {"text": client.completions.create(model=MODEL, prompt="one two three", max_tokens=4).choices[0].text}


def completions_stream():
    text = ""
    for chunk in client.completions.create(model=MODEL, prompt="one two three", max_tokens=4, stream=True):
        for choice in chunk.choices:
            text += choice.text
    return {"text": text}


def responses():
    answer = client.responses.create(model=MODEL, input="Say hello.")
    return {"text": answer.output_text, "input_tokens": answer.usage.input_tokens}


def responses_stream():
    types = [event.type for event in client.responses.create(model=MODEL, input="Say hello.", stream=True)]
    return {"first": types[0], "last": types[-1], "events": len(types)}


def embeddings():
    answer = client.embeddings.create(model=MODEL, input=["a", "b"])
    return {"vectors": [item.embedding for item in answer.data]}


def models():
    listed = [model.id for model in client.models.list()]
    return {"listed": listed, "one": client.models.retrieve(MODEL).id}


def async_stream():
    async def run():
        text = ""
        async with openai.AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0, timeout=60) as other:
            async for chunk in await other.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
        return {"content": text}

    return asyncio.run(run())


def unknown_model():
    client.chat.completions.create(model="no-such-model", messages=MESSAGES)


def unknown_model_stream():
    client.chat.completions.create(model="no-such-model", messages=MESSAGES, stream=True)


def unknown_model_retrieve():
    client.models.retrieve("no-such-model")


def bad_request():
    client.chat.completions.create(model=MODEL, messages="not a list")


def too_large():
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "x" * (65 << 20)}])


def upload_file():
    client.files.create(file=("a.jsonl", b"{}\n"), purpose="batch")


def transcription():
    client.audio.transcriptions.create(model=MODEL, file=("a.wav", b"RIFF"))


def multipart_chat():
    client.post("/chat/completions", cast_to=object, body={"model": MODEL}, files={"file": ("a.png", b"x")},
                options={"headers": {"Content-Type": "multipart/form-data"}})  # fmt: skip


def worker_400():
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "scenario-400"}])


def worker_429():
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "scenario-429"}])


def worker_500():
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "scenario-500"}])


def worker_503():
    client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "scenario-503"}])


def error_event():
    for _ in client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "scenario-error-event"}], stream=True
    ):
        pass


def truncated_stream():
    for _ in client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "scenario-truncated"}], stream=True
    ):
        pass


def exception(error):
    chain = [kind.__name__ for kind in type(error).__mro__]
    body = getattr(error, "body", None)
    return {
        "exception": type(error).__name__,
        "classes": chain,
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "type": getattr(error, "type", None),
        "param": getattr(error, "param", None),
        "request_id": getattr(error, "request_id", None),
        "message": str(error)[:500],
        "body": body if isinstance(body, (dict, str)) else None,
    }


def main():
    wanted = sys.argv[4:] or [
        "chat", "chat_stream", "chat_stream_usage", "chat_stream_bytes", "tools", "tools_stream", "images", "completions",
        "completions_stream", "responses", "responses_stream", "embeddings", "models", "async_stream", "unknown_model",
        "unknown_model_stream", "unknown_model_retrieve", "bad_request", "too_large", "upload_file", "transcription", "multipart_chat", "worker_400", "worker_429", "worker_500",
        "worker_503", "error_event", "truncated_stream",
    ]  # fmt: skip
    results = {"version": openai.__version__}
    for name in wanted:
        SENT.clear()
        try:
            results[name] = globals()[name]() or {"exception": None}
        except Exception as error:  # noqa: BLE001 - the exception is the result
            results[name] = exception(error)
        results[name]["sent"] = [body for body in SENT if len(body) < 100_000]
    json.dump(results, sys.stdout)


main()
