import type { Service } from '../kit/service.ts';
import { modelsSettings } from './config.ts';
import { modelsContract } from './contract.ts';
import { modelsEnvelope } from './envelope.ts';

/** Models runs GGUF models in a child process of its own, and speaks for external runtimes. */
export const models = {
  contract: modelsContract,
  envelope: modelsEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: modelsSettings,
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof modelsContract, typeof modelsSettings>;
