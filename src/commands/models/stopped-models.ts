import { join } from 'node:path';
import { lockDataFolder } from '../../kit/database/data-folder.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { processEnvironment, readConfig } from '../../kit/config.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createLog } from '../../kit/log.ts';
import { modelsSettings } from '../../models/config.ts';
import { Embedders } from '../../models/embedding/embedders.ts';
import { inBoxEmbedderName } from '../../models/embedding/static-embedder.ts';
import { describeEmbedder } from '../../models/embedding/with-embedder.ts';
import { builtInFolder } from '../../models/library/built-in.ts';
import { ModelLibrary } from '../../models/library/library.ts';
import { isSameName } from '../../models/library/model-name.ts';
import { createPuller } from '../../models/library/pull/download-puller.ts';
import type { PullProgress } from '../../models/library/pull/puller.ts';
import { toShown as describe, toTag } from '../../models/ollama/models.ts';
import type { ModelAccess, ModelPlace } from './model-access.ts';
import { toListed, toShown } from './model-listing.ts';
import { printRemark } from '../output.ts';

const log = createLog({ level: 'silent', isPretty: false });

/**
 * The models of a suite that does not run, by its folder. What changes the folder locks it, so that
 * no suite starts in between; Fault `conflict` when another process has it.
 */
export function openStoppedModels(place: ModelPlace): ModelAccess {
  const library = openLibrary(place);
  printRemark(`the suite is not running: working in ${library.folder}`);
  return {
    list: async () => {
      const models = [...(await library.list()), await describeEmbedder(new Embedders())];
      return models.map((model) => toListed(toTag(model)));
    },
    show: async (name) => {
      if (isSameName(name, inBoxEmbedderName)) {
        const embedder = await describeEmbedder(new Embedders());
        return toShown(toTag(embedder), describe(embedder, undefined));
      }
      const model = await library.find(name);
      return toShown(toTag(model), describe(model, model));
    },
    delete: async (name) => {
      await using lifetime = new Lifetime(log);
      lifetime.own('the lock', await lockDataFolder(place.dataFolder));
      await library.delete(name);
    },
    pull: (name) => pull(place, library, name),
    [Symbol.asyncDispose]: () => library[Symbol.asyncDispose](),
  };
}

/** The library in the folder of a suite that is on this machine, running or not. */
export function openLibrary({ dataFolder }: ModelPlace): ModelLibrary {
  return new ModelLibrary({ folder: join(dataFolder, 'models'), builtInFolder, log });
}

async function* pull(
  { suite, dataFolder }: ModelPlace,
  library: ModelLibrary,
  name: string,
): AsyncGenerator<PullProgress> {
  const { models } = readConfig({ models: modelsSettings }, processEnvironment());
  await using lifetime = new Lifetime(log);
  lifetime.own('the lock', await lockDataFolder(dataFolder));
  await library.prepare();
  const allow = suite.egressAllow.split(',').map((range) => range.trim());
  const policy = { allow: allow.filter((range) => range !== ''), isLoopbackAllowed: true };
  const egress = lifetime.own('egress', createEgress(policy));
  const puller = createPuller({
    library,
    egress,
    allow: models.pullAllow,
    token: models.huggingFaceToken,
    huggingFaceUrl: models.huggingFaceUrl,
  });
  lifetime.own('the puller', puller);
  yield* puller.pull(name, { signal: new AbortController().signal });
}
