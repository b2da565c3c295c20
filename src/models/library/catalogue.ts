import type { Capability } from '../inference/inference.ts';
import { isSameName } from './model-name.ts';

/** A model that is known to be good for its size. */
export interface CatalogueEntry {
  readonly name: string;
  readonly title: string;
  /** On Hugging Face. */
  readonly repository: string;
  readonly file: string;
  /** About: the source's own figure holds when it is pulled. */
  readonly bytes: number;
  readonly licence: string;
  /** What it takes with four contexts of 4,096 tokens, as the runtime has by default; in bytes. */
  readonly memoryBytes: number;
  readonly capabilities: readonly Capability[];
  readonly contextTokens: number;
}

const mb = 1_000_000;
const chat = ['completion', 'json'] as const;
const chatWithTools = ['completion', 'json', 'tools'] as const;
const embedding = ['embedding'] as const;

/** Small open models, the smallest first. Digests come from the source when a model is pulled. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: 'all-minilm',
    title: 'all-MiniLM-L6-v2, sentence embeddings of 384 dimensions',
    repository: 'second-state/All-MiniLM-L6-v2-Embedding-GGUF',
    file: 'all-MiniLM-L6-v2-Q8_0.gguf',
    bytes: 25 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 100 * mb,
    capabilities: embedding,
    contextTokens: 512,
  },
  {
    name: 'bge-small-en',
    title: 'BGE small English v1.5, embeddings of 384 dimensions',
    repository: 'CompendiumLabs/bge-small-en-v1.5-gguf',
    file: 'bge-small-en-v1.5-q8_0.gguf',
    bytes: 37 * mb,
    licence: 'MIT',
    memoryBytes: 120 * mb,
    capabilities: embedding,
    contextTokens: 512,
  },
  {
    name: 'nomic-embed-text',
    title: 'Nomic Embed Text v1.5, embeddings of 768 dimensions',
    repository: 'nomic-ai/nomic-embed-text-v1.5-GGUF',
    file: 'nomic-embed-text-v1.5.Q8_0.gguf',
    bytes: 146 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 300 * mb,
    capabilities: embedding,
    contextTokens: 2048,
  },
  {
    name: 'smollm2:360m',
    title: 'SmolLM2 360M Instruct',
    repository: 'bartowski/SmolLM2-360M-Instruct-GGUF',
    file: 'SmolLM2-360M-Instruct-Q8_0.gguf',
    bytes: 386 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 1180 * mb,
    capabilities: chat,
    contextTokens: 8192,
  },
  {
    name: 'qwen3:0.6b',
    title: 'Qwen3 0.6B',
    repository: 'Qwen/Qwen3-0.6B-GGUF',
    file: 'Qwen3-0.6B-Q8_0.gguf',
    bytes: 639 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 2850 * mb,
    capabilities: chatWithTools,
    contextTokens: 40_960,
  },
  {
    name: 'gemma3:1b',
    title: 'Gemma 3 1B Instruct',
    repository: 'unsloth/gemma-3-1b-it-GGUF',
    file: 'gemma-3-1b-it-Q4_K_M.gguf',
    bytes: 806 * mb,
    licence: 'Gemma terms of use',
    memoryBytes: 1800 * mb,
    capabilities: chat,
    contextTokens: 32_768,
  },
  {
    name: 'llama3.2:1b',
    title: 'Llama 3.2 1B Instruct',
    repository: 'bartowski/Llama-3.2-1B-Instruct-GGUF',
    file: 'Llama-3.2-1B-Instruct-Q4_K_M.gguf',
    bytes: 808 * mb,
    licence: 'Llama 3.2 Community License',
    memoryBytes: 1630 * mb,
    capabilities: chatWithTools,
    contextTokens: 131_072,
  },
  {
    name: 'smollm2:1.7b',
    title: 'SmolLM2 1.7B Instruct',
    repository: 'bartowski/SmolLM2-1.7B-Instruct-GGUF',
    file: 'SmolLM2-1.7B-Instruct-Q4_K_M.gguf',
    bytes: 1056 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 4400 * mb,
    capabilities: chat,
    contextTokens: 8192,
  },
  {
    name: 'qwen3:1.7b',
    title: 'Qwen3 1.7B',
    repository: 'unsloth/Qwen3-1.7B-GGUF',
    file: 'Qwen3-1.7B-Q4_K_M.gguf',
    bytes: 1107 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 3320 * mb,
    capabilities: chatWithTools,
    contextTokens: 40_960,
  },
  {
    name: 'llama3.2:3b',
    title: 'Llama 3.2 3B Instruct',
    repository: 'bartowski/Llama-3.2-3B-Instruct-GGUF',
    file: 'Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    bytes: 2019 * mb,
    licence: 'Llama 3.2 Community License',
    memoryBytes: 4180 * mb,
    capabilities: chatWithTools,
    contextTokens: 131_072,
  },
  {
    name: 'gemma3:4b',
    title: 'Gemma 3 4B Instruct',
    repository: 'ggml-org/gemma-3-4b-it-GGUF',
    file: 'gemma-3-4b-it-Q4_K_M.gguf',
    bytes: 2490 * mb,
    licence: 'Gemma terms of use',
    memoryBytes: 5330 * mb,
    capabilities: chat,
    contextTokens: 131_072,
  },
  {
    name: 'phi4-mini',
    title: 'Phi-4-mini Instruct',
    repository: 'unsloth/Phi-4-mini-instruct-GGUF',
    file: 'Phi-4-mini-instruct-Q4_K_M.gguf',
    bytes: 2492 * mb,
    licence: 'MIT',
    memoryBytes: 5070 * mb,
    capabilities: chatWithTools,
    contextTokens: 131_072,
  },
  {
    name: 'qwen3:4b',
    title: 'Qwen3 4B',
    repository: 'Qwen/Qwen3-4B-GGUF',
    file: 'Qwen3-4B-Q4_K_M.gguf',
    bytes: 2497 * mb,
    licence: 'Apache-2.0',
    memoryBytes: 5250 * mb,
    capabilities: chatWithTools,
    contextTokens: 40_960,
  },
];

/** The entry of that name. */
export function findInCatalogue(name: string): CatalogueEntry | undefined {
  return catalogue.find((entry) => isSameName(entry.name, name));
}

/** Of a free licence, the best one first. */
const recommended = ['qwen3:4b', 'qwen3:1.7b', 'qwen3:0.6b', 'smollm2:360m'];

/** The best chat model of a free licence that fits into so many bytes; undefined when none does. */
export function recommendFor(budgetBytes: number): CatalogueEntry | undefined {
  const candidates = recommended.map((name) => findInCatalogue(name));
  return candidates.find((entry) => entry && entry.memoryBytes <= budgetBytes);
}
