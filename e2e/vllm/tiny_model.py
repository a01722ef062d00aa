"""Writes a model folder that vLLM loads with random weights: one small layer, but the vocabulary, tokenizer and chat
template of a real model.

usage: tiny_model.py MODEL_FOLDER TOKENIZER_FOLDER

The wide feed-forward part and the single key-value head make a prompt cost about what its length says (some 0.15 ms
per token on one core, and a quadratic part that shows from 4,000 tokens), so that a prefix hit is worth routing for.
"""

import json
import pathlib
import shutil
import sys

END_OF_TURN, END_OF_TEXT, VOCABULARY = 151645, 151643, 151936

folder, tokenizer = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
config = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "intermediate_size": 4096,
    "max_position_embeddings": 40960,
    "rope_theta": 1000000.0,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "attention_bias": False,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
    "bos_token_id": END_OF_TEXT,
    "eos_token_id": END_OF_TURN,
}
generation = {"bos_token_id": END_OF_TEXT, "eos_token_id": [END_OF_TURN, END_OF_TEXT], "do_sample": False, "temperature": 0.0}
(folder / "config.json").write_text(json.dumps(config, indent=1))
(folder / "generation_config.json").write_text(json.dumps(generation))
for name in ("tokenizer.json", "tokenizer_config.json"):
    shutil.copy(tokenizer / name, folder / name)
