import { join } from 'node:path';
import type { Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import type { ModelsConfig } from './config.ts';
import { Embedders } from './embedding/embedders.ts';
import { WithEmbedder } from './embedding/with-embedder.ts';
import { Backends } from './inference/backends.ts';
import { openRuntimes } from './inference/external/open-runtimes.ts';
import type { Inference } from './inference/inference.ts';
import { LocalInference } from './inference/local.ts';
import { builtInFolder } from './library/built-in.ts';
import { ModelLibrary } from './library/library.ts';
import { createPuller } from './library/pull/download-puller.ts';
import type { Puller } from './library/pull/puller.ts';
import type { Runtime } from './runtime/runtime.ts';
import { ChildRuntime } from './runtime/child-runtime.ts';

/** What the routes of models work with. */
export interface ModelsParts {
  readonly host: Host<ModelsConfig>;
  readonly library: ModelLibrary;
  /** Every model that can be asked: the installed files, external runtimes, the in-box embedder. */
  readonly inference: Inference;
  /** Those of `inference` that are of this machine. */
  readonly local: Inference;
  readonly puller: Puller;
  /** The own llama.cpp process, for what the health answer says of it. */
  readonly runtime: Runtime;
}

/** Within what a stop of the whole suite allows. */
const closeGraceMs = 2_000;

/** Opens all of it; the lifetime closes what was opened, in reverse. */
export async function openParts(
  host: Host<ModelsConfig>,
  lifetime: Lifetime,
): Promise<ModelsParts> {
  const { config, log } = host;
  const defaultName = config.defaultModel;
  const folder = join(host.dataFolder, 'models');
  const library = new ModelLibrary({ folder, builtInFolder, defaultName, log });
  lifetime.own('the model library', library);
  await library.prepare();
  const puller = lifetime.own('the puller', openPuller(host, library));
  const runtime = lifetime.own('the model process', openRuntime(host));
  const externals = lifetime.own('the external runtimes', openRuntimes(config));
  const files = new LocalInference(library, runtime);
  const local = new WithEmbedder(files, new Embedders());
  const inference = new Backends({
    local,
    externals: externals.runtimes,
    defaultName,
    flawOf: (model) => files.flawOf(model),
    prove: (model, waiting) => files.prove(model, waiting),
    deadlineMs: deadlineMsOf(config),
    log,
  });
  return { host, library, inference, local, puller, runtime };
}

function openPuller({ config, egress }: Host<ModelsConfig>, library: ModelLibrary): Puller {
  return createPuller({
    library,
    egress,
    allow: config.pullAllow,
    token: config.huggingFaceToken,
    huggingFaceUrl: config.huggingFaceUrl,
  });
}

function openRuntime({ config, log }: Host<ModelsConfig>): Runtime {
  const { parallel, queueMax, contextTokensMax, threads, memoryMb } = config;
  return new ChildRuntime({
    log,
    parallel,
    queueMax,
    contextTokensMax,
    ...(threads === undefined ? {} : { threads }),
    ...(memoryMb === undefined ? {} : { memoryBytes: memoryMb * 2 ** 20 }),
    idleUnloadMs: config.idleUnloadSeconds * 1000,
    stallMs: config.stallSeconds * 1000,
    deadlineMs: deadlineMsOf(config),
    closeGraceMs,
  });
}

function deadlineMsOf({ deadlineSeconds }: ModelsConfig): number {
  return Math.max(1, Math.round(deadlineSeconds * 1000));
}
