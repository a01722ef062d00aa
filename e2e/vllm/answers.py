"""The same calls with the vendors' SDKs, to a worker or through the gateway; what differs from call to call is left out."""

import anthropic
import openai
from gateway import MODEL

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which rivers are long? Ünï 😀"}]
FIXED = {"model": MODEL, "temperature": 0, "seed": 1}


def ask(url):
    chat = openai.OpenAI(base_url=url + "/v1", api_key="any", max_retries=0, timeout=300)
    claude = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0, timeout=300)
    calls = {
        "chat": lambda: whole(chat.chat.completions.create(messages=CHAT, max_tokens=12, **FIXED)),
        "chat, stream": lambda: streamed(chat.chat.completions.create(messages=CHAT, max_tokens=12, stream=True, **FIXED)),
        "chat, stream with usage": lambda: streamed(
            chat.chat.completions.create(
                messages=CHAT, max_tokens=12, stream=True, stream_options={"include_usage": True}, **FIXED
            )
        ),
        "tools": lambda: tool_call(chat.chat.completions.create(messages=CHAT, max_tokens=24, tools=[TOOL], **FIXED)),
        "tools, stream": lambda: streamed(
            chat.chat.completions.create(messages=CHAT, max_tokens=24, tools=[TOOL], stream=True, **FIXED)
        ),
        "completions": lambda: completion(chat.completions.create(prompt="Once upon a time", max_tokens=12, **FIXED)),
        "completions, stream": lambda: "".join(
            chunk.choices[0].text
            for chunk in chat.completions.create(prompt="Once upon a time", max_tokens=12, stream=True, **FIXED)
            if chunk.choices
        ),
        "responses": lambda: response(
            chat.responses.create(model=MODEL, input="Which rivers are long?", max_output_tokens=12, temperature=0)
        ),
        "responses, stream": lambda: [
            event.delta
            for event in chat.responses.create(
                model=MODEL, input="Which rivers are long?", max_output_tokens=12, temperature=0, stream=True
            )
            if event.type == "response.output_text.delta"
        ],
        "messages": lambda: message(
            claude.messages.create(model=MODEL, max_tokens=12, messages=CHAT[1:], system="Be brief.", extra_body={"temperature": 0})
        ),
        "messages, stream": lambda: streamed_message(claude),
    }
    for call in calls.values():
        call()  # afterwards every prompt is cached, whoever asks
    return {name: call() for name, call in calls.items()}


def usage(given):
    return None if given is None else given.model_dump()


def whole(answer):
    choice = answer.choices[0]
    return [choice.message.content, choice.finish_reason, usage(answer.usage)]


def tool_call(answer):
    choice = answer.choices[0]
    return [choice.message.content, [c.function.model_dump() for c in choice.message.tool_calls or []], choice.finish_reason]


def streamed(stream):
    content, finish, counted = "", None, None
    for chunk in stream:
        counted = usage(chunk.usage) or counted
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
    return [content, finish, counted]


def completion(answer):
    return [answer.choices[0].text, answer.choices[0].finish_reason, usage(answer.usage)]


def response(answer):
    return [answer.output_text, answer.status, usage(answer.usage)]


def message(answer):
    return [[block.model_dump() for block in answer.content], answer.stop_reason, usage(answer.usage)]


def streamed_message(client):
    with client.messages.stream(
        model=MODEL, max_tokens=12, messages=CHAT[1:], system="Be brief.", extra_body={"temperature": 0}
    ) as stream:
        return message(stream.get_final_message())
