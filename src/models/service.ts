import { join } from 'node:path';
import type { Service } from '../kit/service.ts';
import { modelsSettings } from './config.ts';
import { modelsContract } from './contract.ts';
import { modelsEnvelope } from './envelope.ts';
import { ModelLibrary } from './library.ts';
import { modelsRoutes } from './routes.ts';
import { createRuntime } from './runtime/runtime.ts';

/** Within what a stop of the whole suite allows. */
const closeGraceMs = 2_000;

/** Models runs GGUF models in a child process of its own. */
export const models = {
  contract: modelsContract,
  envelope: modelsEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: modelsSettings,
  grants: [],
  start: async (host) => {
    const { parallel, queueMax, contextTokensMax, idleUnloadSeconds } = host.config;
    const library = new ModelLibrary(join(host.dataFolder, 'models'));
    await library.prepare();
    const runtime = createRuntime({
      log: host.log,
      parallel,
      queueMax,
      contextTokensMax,
      idleUnloadMs: idleUnloadSeconds * 1000,
      closeGraceMs,
    });
    host.http.serve(modelsContract, modelsRoutes(host, library, runtime));
    return runtime;
  },
} satisfies Service<typeof modelsContract, typeof modelsSettings>;
