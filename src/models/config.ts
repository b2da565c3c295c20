import { Type } from 'typebox';
import { secretSetting, setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';
import { allowedHostsDefault } from './library/pull/allow-list.ts';

const HttpUrl = Type.String({ pattern: '^https?://[^\\s/]+[^\\s]*$' });

/** The settings of models. */
export const modelsSettings = {
  defaultModel: setting(
    'MODELS_DEFAULT',
    Type.String({ minLength: 1, maxLength: 256 }),
    'the model for requests that name none; without it a trained one, by name, before the built-in one',
  ),
  memoryMb: setting(
    'MODELS_MEMORY_MB',
    Type.Integer({ minimum: 64 }),
    'how many MiB the models may take together; beyond that unused ones leave, and then requests ' +
      'wait; without it 60 % of the memory of the machine or of its container',
  ),
  threads: setting(
    'MODELS_THREADS',
    Type.Integer({ minimum: 1, maximum: 512 }),
    'threads of the model process; without it one less than the cores',
  ),
  parallel: settingOr(
    'MODELS_PARALLEL',
    { schema: Type.Integer({ minimum: 1, maximum: 64 }), or: 4 },
    'completions that one model works on at once; further ones wait',
  ),
  queueMax: settingOr(
    'MODELS_QUEUE_MAX',
    { schema: Type.Integer({ minimum: 0, maximum: 10_000 }), or: 64 },
    'completions that may wait for one model; beyond that callers get 429',
  ),
  contextTokensMax: settingOr(
    'MODELS_CONTEXT_TOKENS_MAX',
    { schema: Type.Integer({ minimum: 64, maximum: 1_048_576 }), or: 4096 },
    'largest context a model is loaded with, in tokens a completion',
  ),
  idleUnloadSeconds: settingOr(
    'MODELS_IDLE_UNLOAD_SECONDS',
    { schema: Type.Integer({ minimum: 1 }), or: 300 },
    'after how many seconds without a request the models leave the memory',
  ),
  deadlineSeconds: settingOr(
    'MODELS_DEADLINE_SECONDS',
    { schema: Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }), or: 600 },
    'how long a request to a model may take, waiting and loading included; then it is answered 504',
  ),
  stallSeconds: settingOr(
    'MODELS_STALL_SECONDS',
    { schema: Type.Integer({ minimum: 5, maximum: 86_400 }), or: 30 },
    'after how many seconds without a sign of work the model process counts as hung and is replaced; ' +
      'while it takes CPU time but does not answer, after ten times as many',
  ),
  pullAllow: settingOr(
    'MODELS_PULL_ALLOW',
    { schema: Type.String(), or: allowedHostsDefault },
    'hosts that models may be pulled from, separated by commas; `*.host` takes its subdomains, ' +
      '`host:port` one port',
  ),
  huggingFaceToken: secretSetting(
    'HF_TOKEN',
    'token for Hugging Face, needed for models behind a licence; sent nowhere else',
  ),
  huggingFaceUrl: setting(
    'HF_ENDPOINT',
    Type.String({ pattern: '^https?://[^/]+$' }),
    'a mirror of Hugging Face to pull from instead; its host must stand in `MODELS_PULL_ALLOW`',
  ),
  ollamaUrl: setting(
    'OLLAMA_URL',
    HttpUrl,
    'an Ollama whose models are offered beside the own ones, e.g. `http://127.0.0.1:11434`',
  ),
  ollamaApiKey: secretSetting(
    'OLLAMA_API_KEY',
    'bearer token for `OLLAMA_URL`, where it wants one',
  ),
  llamaServerUrl: setting(
    'LLAMA_SERVER_URL',
    HttpUrl,
    'a `llama-server` of llama.cpp whose model is offered beside the own ones',
  ),
  llamaServerApiKey: secretSetting(
    'LLAMA_API_KEY',
    'API key for `LLAMA_SERVER_URL`, where it wants one',
  ),
  openAiUrl: setting(
    'MODELS_OPENAI_URL',
    HttpUrl,
    'any server that speaks the API of OpenAI, with its `/v1`; its models are offered beside the own',
  ),
  openAiApiKey: secretSetting('MODELS_OPENAI_API_KEY', 'API key for `MODELS_OPENAI_URL`'),
} satisfies Settings;

export type ModelsConfig = ConfigOf<typeof modelsSettings>;
