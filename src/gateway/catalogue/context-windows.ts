import { bareName } from './model-names.ts';

interface Room {
  readonly contextWindow: number;
  readonly maxOutput?: number;
}

/**
 * Room of models, by name, as their makers document it: for names that the price catalogue gives no
 * window of, and for the length of one answer, which it does not know. The first pattern that fits
 * counts.
 */
export const roomTable: readonly (readonly [RegExp, Room])[] = [
  [/^gpt-(5\.[5-9]|6)/, { contextWindow: 1_000_000, maxOutput: 128_000 }],
  [/^gpt-5.*chat|^gpt-chat/, { contextWindow: 128_000, maxOutput: 16_384 }],
  [/^gpt-5/, { contextWindow: 400_000, maxOutput: 128_000 }],
  [/^gpt-4\.1/, { contextWindow: 1_047_576, maxOutput: 32_768 }],
  [/^(chatgpt-)?gpt-4o|^chatgpt-4o/, { contextWindow: 128_000, maxOutput: 16_384 }],
  [/^gpt-4-turbo/, { contextWindow: 128_000, maxOutput: 4096 }],
  [/^gpt-4-32k/, { contextWindow: 32_768, maxOutput: 8192 }],
  [/^gpt-4/, { contextWindow: 8192, maxOutput: 8192 }],
  [/^gpt-3\.5/, { contextWindow: 16_385, maxOutput: 4096 }],
  [/^gpt-oss/, { contextWindow: 131_072 }],
  [/^o1-(mini|preview)/, { contextWindow: 128_000, maxOutput: 32_768 }],
  [/^o\d/, { contextWindow: 200_000, maxOutput: 100_000 }],
  [/^claude-(opus-5|fable-5|sonnet-5)/, { contextWindow: 1_000_000, maxOutput: 128_000 }],
  [/^claude-(opus|sonnet)-4-?[6-9]/, { contextWindow: 1_000_000, maxOutput: 128_000 }],
  [
    /^claude-opus-4-?5|^claude-(sonnet|haiku)-4|^claude-3-7/,
    { contextWindow: 200_000, maxOutput: 64_000 },
  ],
  [/^claude-opus-4/, { contextWindow: 200_000, maxOutput: 32_000 }],
  [/^claude-3-5/, { contextWindow: 200_000, maxOutput: 8192 }],
  [/^claude/, { contextWindow: 200_000, maxOutput: 4096 }],
  [/^gemini-(2\.5|[3-9])/, { contextWindow: 1_048_576, maxOutput: 65_536 }],
  [/^gemini-1\.5-pro/, { contextWindow: 2_097_152, maxOutput: 8192 }],
  [/^gemini/, { contextWindow: 1_048_576, maxOutput: 8192 }],
  [/^gemma-?[34]/, { contextWindow: 131_072, maxOutput: 8192 }],
  [/^gemma/, { contextWindow: 8192 }],
  [/^grok-4.*fast/, { contextWindow: 2_000_000 }],
  [/^grok-(4|code|build)/, { contextWindow: 256_000 }],
  [/^grok/, { contextWindow: 131_072 }],
  [/^deepseek-v4/, { contextWindow: 1_000_000 }],
  [/^deepseek/, { contextWindow: 128_000 }],
  [/^(codestral|mistral-large-25|devstral)/, { contextWindow: 256_000 }],
  [/^(mistral-7b|mixtral-8x7b|mistral-tiny)/, { contextWindow: 32_768 }],
  [/^mixtral-8x22b/, { contextWindow: 65_536 }],
  [/^(mistral|ministral|magistral|pixtral|open-mistral)/, { contextWindow: 128_000 }],
  [/^qwen3/, { contextWindow: 131_072 }],
  [/^qwen/, { contextWindow: 32_768 }],
  [/^kimi/, { contextWindow: 256_000 }],
  [/^(glm|minimax)/, { contextWindow: 200_000 }],
  [/^(meta-)?llama-?4/, { contextWindow: 1_000_000 }],
  [/^(meta-)?llama-?3(\.|p)[1-9]/, { contextWindow: 131_072 }],
  [/^(meta-)?llama-?3/, { contextWindow: 8192 }],
  [/^(code)?llama/, { contextWindow: 4096 }],
  [/^command-a/, { contextWindow: 256_000, maxOutput: 8192 }],
  [/^command/, { contextWindow: 128_000, maxOutput: 4096 }],
  [/^sonar/, { contextWindow: 128_000 }],
  [/^phi-?4/, { contextWindow: 16_384 }],
  [/embed/, { contextWindow: 8192 }],
  [/^(smollm|tinyllama|stories|tinystories)/, { contextWindow: 2048 }],
];

/** Of a model whose name says nothing. */
export const defaultContextWindow = 128_000;

/** The table's word on a model; undefined when its name says nothing. */
export function roomOf(model: string): Room | undefined {
  const name = bareName(model);
  return roomTable.find(([pattern]) => pattern.test(name))?.[1];
}
