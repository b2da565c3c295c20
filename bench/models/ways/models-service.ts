import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listenAnywhere, startService } from '../../../src/kit/testing.ts';
import { models } from '../../../src/models/service.ts';
import { contextTokens, sequences, threads } from './way.ts';

/** The name under which the service has the model. */
export const modelName = 'bench';

/** Where a service of models is asked, and with what. */
export interface ServiceAddress {
  readonly url: string;
  readonly authorization: string;
}

/** Starts the service of models in this process; it lives as long as the process. */
export async function startModelsService(modelPath: string): Promise<ServiceAddress> {
  const service = await startService(models, {
    environment: {
      MODELS_PARALLEL: String(sequences),
      MODELS_THREADS: String(threads),
      MODELS_CONTEXT_TOKENS_MAX: String(contextTokens),
    },
  });
  await copyFile(modelPath, join(service.host.dataFolder, 'models', `${modelName}.gguf`));
  const url = await listenAnywhere(service.host.http);
  return { url, authorization: `Bearer ${await service.issuer.sign()}` };
}
