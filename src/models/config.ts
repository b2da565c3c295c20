import { Type } from 'typebox';
import { settingOr, type Settings } from '../kit/config.ts';

/** The settings of models. */
export const modelsSettings = {
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
} satisfies Settings;
