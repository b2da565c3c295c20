import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { healthRoute, type Contract } from '../kit/contract.ts';
import { Fault } from '../kit/errors.ts';
import { peerPermission } from '../kit/permissions.ts';
import type { Service } from '../kit/service.ts';
import { listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { modelsEnvelope } from './envelope.ts';
import type { ScriptedInference } from './inference/testing.ts';
import { ModelLibrary } from './library/library.ts';
import type { Puller, PullProgress } from './library/pull/puller.ts';
import { openAiRoutes } from './openai/contract.ts';
import { openAiHandlers } from './openai/routes.ts';
import { ollamaRoutes } from './ollama/contract.ts';
import { ollamaHandlers } from './ollama/routes.ts';

const contract = {
  name: 'models',
  title: 'Models',
  version: '1.0.0',
  description: 'Both dialects before scripted models.',
  error: modelsEnvelope.schema,
  routes: { ...openAiRoutes, ...ollamaRoutes, health: healthRoute('/health', {}) },
} as const satisfies Contract;

/** What a scripted pull gives; a Fault is thrown where it stands. */
export interface ScriptedPuller extends Puller {
  events: readonly (PullProgress | Fault)[];
  readonly names: string[];
}

/** Serves both dialects before scripted models, and signs tokens for their clients. */
export async function startDialects(inference: ScriptedInference) {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-dialects-'));
  const library = new ModelLibrary({ folder, log: silentLog });
  const puller = scriptPuller();
  const service = {
    contract,
    envelope: modelsEnvelope,
    rate: { perMinute: 1000, burst: 1500 },
    settings: {},
    grants: [],
    load: async () => ({
      start: async (host) => {
        host.http.serve(contract, {
          ...openAiHandlers({ inference, contextTokensMax: 1024 }),
          ...ollamaHandlers({ host, inference, library, puller }),
          health: () => host.health(),
        });
        return library;
      },
    }),
  } satisfies Service<typeof contract>;
  const started = await startService(service);
  const url = await listenAnywhere(started.host.http);
  const token = await started.issuer.sign();
  return {
    url,
    library,
    puller,
    token,
    /** Sends a body as it stands, for what the clients' types would not let through. */
    post: (path: string, body: unknown) => post(`${url}${path}`, token, body),
    /** Of one of the suite's own services. */
    peerToken: await started.issuer.sign({ sub: 'gateway', permissions: [peerPermission] }),
    managerToken: await started.issuer.sign({ permissions: ['models:manage'] }),
    [Symbol.asyncDispose]: async () => {
      await started[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function post(url: string, token: string, body: unknown) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const content = (await answer.json()) as { error: { message: string; param: string | null } };
  return { status: answer.status, ...content };
}

/** Everything that a stream gives. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

function scriptPuller(): ScriptedPuller {
  const puller: ScriptedPuller = {
    events: [],
    names: [],
    pull: async function* (name) {
      puller.names.push(name);
      for (const event of puller.events) {
        if (event instanceof Fault) throw event;
        yield event;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return puller;
}
