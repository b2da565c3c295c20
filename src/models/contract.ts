import { Type } from 'typebox';
import { healthRoute, type Contract } from '../kit/contract.ts';
import { modelsEnvelope } from './envelope.ts';
import { ollamaRoutes } from './ollama/contract.ts';
import { openAiRoutes } from './openai/contract.ts';
import { toolRoutes } from './tools/contract.ts';

/** What others may know of models. */
export const modelsContract = {
  name: 'models',
  title: 'Ennead Models',
  version: '1.0.0',
  description: 'Local inference at no cost.',
  error: modelsEnvelope.schema,
  routes: {
    ...toolRoutes,
    ...ollamaRoutes,
    ...openAiRoutes,
    health: healthRoute('/health', {
      models: Type.Integer({
        description: 'of this machine, the in-box embedder included; not those of other runtimes',
      }),
      loaded: Type.Array(Type.String(), { description: 'in memory now' }),
      runtime: Type.String({ description: '`idle`, `starting`, `ready` or `crashed`' }),
      embedder: Type.String({ description: 'what embeds where no model is named' }),
    }),
  },
} as const satisfies Contract;
