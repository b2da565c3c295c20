import type { DialectName } from '../dialects/dialect.ts';
import type { ProviderLimits } from '../providers/provider.ts';

/** A provider that is known by name: all that a key in the environment is enough for. */
export interface Preset {
  readonly name: string;
  readonly dialect: DialectName;
  /** Undefined: only where an operator says where it is. */
  readonly baseUrl?: string;
  /** Variables that hold its keys and its address; a key, or the address alone, brings it to life. */
  readonly keyEnv?: string;
  readonly urlEnv?: string;
  /** Its id in the price catalogue; absent where that knows no prices of it. */
  readonly priceId?: string;
  /** Runs on the operator's own machines: nobody asks for money. */
  readonly isFree?: true;
  /** Models that are offered until the provider itself has said which it has. */
  readonly models?: readonly string[];
  /** As its documentation has them, or its refusals where that says nothing. */
  readonly limits?: ProviderLimits;
}

const fourStops: ProviderLimits = { stopsMax: 4 };

const openaiModels = [
  'gpt-5.5',
  'gpt-5.4-mini',
  'gpt-5.4-nano',
  'gpt-4.1',
  'gpt-4o',
  'gpt-4o-mini',
];
const embeddings = ['text-embedding-3-large', 'text-embedding-3-small'];

/** OpenAI's dialect is spoken by most: such a provider is a line here, never code. */
export const presets: readonly Preset[] = [
  {
    ...hosted('openai', 'https://api.openai.com/v1'),
    models: [...openaiModels, ...embeddings],
    limits: fourStops,
  },
  {
    ...hosted('anthropic', 'https://api.anthropic.com/v1'),
    dialect: 'anthropic',
    models: ['claude-opus-5', 'claude-sonnet-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
  },
  {
    ...hosted('gemini', 'https://generativelanguage.googleapis.com/v1beta'),
    dialect: 'gemini',
    priceId: 'google',
    models: ['gemini-3.5-flash', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite'],
    // At its address that speaks OpenAI's dialect, too.
    limits: { stopsMax: 5, embeddingInputsMax: 100 },
  },
  {
    ...hosted('mistral', 'https://api.mistral.ai/v1'),
    models: ['mistral-large-latest', 'mistral-medium-latest', 'mistral-small-latest'],
    // "Too many inputs in request"; "Tool call id … must be a-z, A-Z, 0-9, with a length of 9".
    limits: { embeddingInputsMax: 512, callIdLength: 9 },
  },
  {
    ...hosted('groq', 'https://api.groq.com/openai/v1'),
    models: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b', 'llama-3.3-70b-versatile'],
    limits: fourStops,
  },
  {
    ...hosted('deepseek', 'https://api.deepseek.com/v1'),
    models: ['deepseek-chat', 'deepseek-reasoner'],
    limits: { stopsMax: 16 },
  },
  { ...hosted('openrouter', 'https://openrouter.ai/api/v1') },
  {
    ...hosted('xai', 'https://api.x.ai/v1'),
    priceId: 'x-ai',
    models: ['grok-4.5', 'grok-3-mini'],
    limits: fourStops,
  },
  { ...hosted('together', 'https://api.together.xyz/v1') },
  { ...hosted('fireworks', 'https://api.fireworks.ai/inference/v1'), limits: fourStops },
  {
    ...hosted('cerebras', 'https://api.cerebras.ai/v1'),
    models: ['gpt-oss-120b'],
    limits: fourStops,
  },
  { name: 'nvidia', ...openai('NVIDIA'), baseUrl: 'https://integrate.api.nvidia.com/v1' },
  {
    ...hosted('perplexity', 'https://api.perplexity.ai'),
    models: ['sonar', 'sonar-pro', 'sonar-reasoning-pro'],
  },
  {
    ...hosted('cohere', 'https://api.cohere.ai/compatibility/v1'),
    models: ['command-a-03-2025'],
    limits: { stopsMax: 5, embeddingInputsMax: 96 },
  },
  {
    ...hosted('moonshot', 'https://api.moonshot.ai/v1'),
    priceId: 'moonshotai',
    limits: { stopsMax: 5 },
  },
  { ...hosted('zai', 'https://api.z.ai/api/paas/v4') },
  { name: 'vllm', ...openai('VLLM'), isFree: true },
  { name: 'lm-studio', ...openai('LM_STUDIO'), isFree: true },
  { name: 'llama-cpp', ...openai('LLAMA_CPP'), isFree: true },
  {
    name: 'ollama',
    dialect: 'ollama',
    urlEnv: 'OLLAMA_URL',
    keyEnv: 'OLLAMA_API_KEY',
    isFree: true,
  },
];

/** Azure's address is the operator's own and its models are deployments, so it stands alone. */
export const azurePreset: Preset = {
  name: 'azure',
  dialect: 'openai',
  priceId: 'azure',
  limits: fourStops,
};

/** The preset that a name or, failing that, an address belongs to. */
export function findPreset(name: string, baseUrl: string): Preset | undefined {
  if (name === azurePreset.name) return azurePreset;
  const host = hostOf(baseUrl);
  if (/\.(openai\.azure|services\.ai\.azure|azure-api)\.(com|net)$/.test(host)) return azurePreset;
  const byHost = presets.find((preset) => preset.baseUrl && hostOf(preset.baseUrl) === host);
  // A known name at an address of its own, a recording proxy say, keeps its prices.
  return byHost ?? presets.find((preset) => preset.name === name);
}

function hosted(name: string, baseUrl: string) {
  return { name, ...openai(name.toUpperCase()), baseUrl, priceId: name } satisfies Preset;
}

function openai(prefix: string) {
  const keyEnv = `${prefix}_API_KEY`;
  return { dialect: 'openai' as DialectName, keyEnv, urlEnv: `${prefix}_BASE_URL` };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
