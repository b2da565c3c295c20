import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { findNamed, isSameName } from '../library/model-name.ts';
import type { ExternalRuntime } from './external/external-runtime.ts';
import { Offers } from './external/offers.ts';
import { shownName } from './external/openai.ts';
import { DefaultChoice, type DefaultChoiceOptions } from './default-choice.ts';
import type { Caller, Inference, ModelInfo, RunningModel, Waiting } from './inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from './request.ts';

export interface BackendsOptions extends Omit<DefaultChoiceOptions, 'isOurs'> {
  readonly local: Inference;
  readonly externals: readonly ExternalRuntime[];
  /** The model for callers that name none; the first of the list when absent. */
  readonly defaultName?: string | undefined;
  readonly log: Log;
  /** Longest that a generation may take, waiting and loading included; a request may ask for less. */
  readonly deadlineMs?: number;
  /** For how long the list of an external runtime holds; five seconds when absent. */
  readonly freshMs?: number;
}

/** A model and who runs it under which name. */
interface Entry {
  readonly model: ModelInfo;
  readonly offer: ModelInfo;
  readonly runtime: ExternalRuntime;
}

interface Read {
  readonly local: readonly ModelInfo[];
  readonly entries: readonly Entry[];
}

type Ask = (offers: Offers) => Promise<readonly ModelInfo[]>;

const known: Ask = (offers) => offers.list();
const current: Ask = (offers) => offers.current();

const runningTimeoutMs = 2_000;

/**
 * The own runtime and the external ones as one. A model of an external runtime has the runtime's
 * name before its own when another has that name; both spellings find it always. A runtime that
 * does not answer has no models.
 */
export class Backends implements Inference {
  readonly #options: BackendsOptions;
  readonly #offers: readonly Offers[];
  readonly #defaults: DefaultChoice;

  constructor(options: BackendsOptions) {
    this.#options = options;
    this.#offers = options.externals.map((runtime) => new Offers(runtime, options));
    const isOurs = (model: ModelInfo) =>
      !this.#offers.some(({ runtime }) => runtime.name === model.runtime);
    this.#defaults = new DefaultChoice({ ...options, isOurs });
  }

  async list(): Promise<readonly ModelInfo[]> {
    const models = this.#arrange(await this.#read(known));
    const first = this.#options.defaultName === undefined && (await this.#defaults.first(models));
    return first ? [first, ...models.filter((model) => model !== first)] : models;
  }

  /** A name that is not known is looked up once more in what the runtimes say now. */
  async find(name: string | undefined, waiting?: Waiting): Promise<ModelInfo> {
    const startedAt = performance.now();
    const wanted = name ?? this.#options.defaultName;
    const bounded = waiting && { ...waiting, ...this.#boundOf(waiting) };
    for (const kind of [known, current]) {
      const found = await this.#seek(wanted, kind, bounded);
      if (!found) continue;
      return name === undefined ? this.#defaults.mark(found, performance.now() - startedAt) : found;
    }
    if (name === undefined && wanted !== undefined) {
      const message = `the default model ${wanted} is not there`;
      throw new Fault('unavailable', message, { reason: 'model_not_found', retryAfter: 1 });
    }
    throw this.#missing(wanted, await this.list());
  }

  async defaultName(): Promise<string | undefined> {
    const { defaultName } = this.#options;
    return (await this.#seek(defaultName, known))?.name ?? defaultName;
  }

  async running(): Promise<readonly RunningModel[]> {
    const { entries } = await this.#read(known);
    const external = this.#offers.map(async ({ runtime }) => {
      const signal = AbortSignal.timeout(runningTimeoutMs);
      const running = await runtime.running(signal).catch(() => []);
      return running.map((one) => ({ ...one, model: shownAs(one.model, entries) }));
    });
    return (await Promise.all([this.#options.local.running(), ...external])).flat();
  }

  async *generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncGenerator<GenerateEvent> {
    const entry = await this.#entryOf(model);
    const bounded = { ...request, ...this.#boundOf(request, this.#defaults.tookMs(model)) };
    if (entry) yield* entry.runtime.generate(entry.offer, bounded, caller);
    else yield* this.#blamingNobody(model, this.#options.local.generate(model, bounded, caller));
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    requireText(texts);
    const entry = await this.#entryOf(model);
    if (entry) return entry.runtime.embed(entry.offer, texts, this.#hurried(caller));
    return this.#options.local.embed(model, texts, caller);
  }

  async load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void> {
    const entry = await this.#entryOf(model);
    if (entry) return entry.runtime.load(entry.offer, this.#hurried(caller), keepAliveMs);
    try {
      await this.#options.local.load(model, caller, keepAliveMs);
    } catch (error) {
      throw this.#defaults.blame(model, error);
    }
  }

  async unload(model: ModelInfo): Promise<void> {
    const entry = await this.#entryOf(model);
    return entry ? entry.runtime.unload(entry.offer) : this.#options.local.unload(model);
  }

  /** The model of that name, or the first that callers who name none may get, where there is one. */
  async #seek(
    wanted: string | undefined,
    ask: Ask,
    waiting?: Waiting,
  ): Promise<ModelInfo | undefined> {
    const read = await this.#read(ask);
    const models = this.#arrange(read);
    if (wanted === undefined) return this.#defaults.first(models, waiting);
    return (
      findNamed(models, wanted) ??
      (await this.#findPulled(wanted)) ??
      findOffered(read.entries, wanted)?.model
    );
  }

  /** Files of our own are found by what they were pulled as, too. */
  async #findPulled(name: string): Promise<ModelInfo | undefined> {
    try {
      return await this.#options.local.find(name);
    } catch (error) {
      if (error instanceof Fault && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  async *#blamingNobody(
    model: ModelInfo,
    events: AsyncIterable<GenerateEvent>,
  ): AsyncGenerator<GenerateEvent> {
    try {
      yield* events;
    } catch (error) {
      throw this.#defaults.blame(model, error);
    }
  }

  /** For what has no deadline of its own at an external runtime. */
  #hurried(caller: Caller): Caller {
    const { deadlineMs } = this.#options;
    if (deadlineMs === undefined) return caller;
    const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(deadlineMs)]);
    return { ...caller, signal };
  }

  #boundOf(
    { deadlineMs: asked }: { readonly deadlineMs?: number | undefined },
    spentMs = 0,
  ): Pick<GenerateRequest, 'deadlineMs'> {
    const most = Math.min(asked ?? Infinity, this.#options.deadlineMs ?? Infinity);
    if (most === Infinity) return {};
    return { deadlineMs: Math.max(1, Math.round(most - spentMs)) };
  }

  /** Undefined for a model of the own runtime. */
  async #entryOf({ name, runtime }: ModelInfo): Promise<Entry | undefined> {
    if (!this.#offers.some((offers) => offers.runtime.name === runtime)) return undefined;
    const { entries } = await this.#read(known);
    const entry = entries.find((one) => one.runtime.name === runtime && one.model.name === name);
    if (entry) return entry;
    throw new Fault('unavailable', `${runtime} does not answer, or has ${name} no more`, {
      retryAfter: 5,
    });
  }

  async #read(ask: Ask): Promise<Read> {
    const { local } = this.#options;
    const [models, ...offers] = await Promise.all([local.list(), ...this.#offers.map(ask)]);
    const taken = models.map(({ name }) => name);
    const entries: Entry[] = [];
    for (const [index, { runtime }] of this.#offers.entries()) {
      const offered = offers[index] ?? [];
      const names = [...taken, ...offered.map(({ name }) => name)];
      for (const offer of offered) {
        if (isEcho(offer.name, { runtime: runtime.name, names })) continue;
        const isTaken = taken.some((name) => isSameName(name, offer.name));
        const name = isTaken ? `${runtime.name}/${offer.name}` : offer.name;
        taken.push(name);
        entries.push({ model: { ...offer, name }, offer, runtime });
      }
    }
    return { local: models, entries };
  }

  /** The default, ours, those of others, and what came with Ennead. */
  #arrange({ local, entries }: Read): readonly ModelInfo[] {
    const own = local.filter(({ isBuiltIn = false }) => !isBuiltIn);
    const last = local.filter(({ isBuiltIn = false }) => isBuiltIn);
    const models = [...own, ...entries.map(({ model }) => model), ...last];
    const { defaultName } = this.#options;
    if (defaultName === undefined) return models;
    const isFirst = ({ name }: ModelInfo) => isSameName(name, defaultName);
    return [...models.filter(isFirst), ...models.filter((model) => !isFirst(model))];
  }

  /** A name that a silent runtime had when it last spoke is no wrong name. */
  #missing(name: string | undefined, models: readonly ModelInfo[]): Fault {
    const silent = this.#offers.find((offers) => offers.isSilent && offers.hadModel(name ?? ''));
    if (silent) {
      return new Fault(
        'unavailable',
        `${silent.runtime.name}, which has ${name}, does not answer`,
        {
          retryAfter: 5,
        },
      );
    }
    return new Fault('not_found', `there is no model ${name ?? ''}`.trim(), {
      reason: 'model_not_found',
      detail: { param: 'model', installed: models.map((model) => model.name) },
    });
  }
}

/** There is no direction in nothing, so a vector of it would be near to nothing or to everything. */
function requireText(texts: readonly string[]): void {
  const blank = texts.findIndex((text) => text.trim() === '');
  if (blank < 0) return;
  throw new Fault('invalid', `input[${blank}] must be a text that is not blank`, {
    reason: 'validation_error',
    detail: { param: `input[${blank}]` },
  });
}

/** By the runtime's name before its own, or by the file that a server names it by. */
function findOffered(entries: readonly Entry[], name: string): Entry | undefined {
  const prefixed = ({ runtime, offer }: Entry) => `${runtime.name}/${offer.name}`;
  const file = shownName(name);
  return (
    entries.find((entry) => isSameName(prefixed(entry), name)) ??
    (file === name ? undefined : entries.find(({ offer }) => isSameName(offer.name, file)))
  );
}

/**
 * What an Ennead has from another that has it from the first is not offered a second time: it has
 * the runtime's name before that of a model that is here without it.
 */
function isEcho(name: string, { runtime, names }: { runtime: string; names: readonly string[] }) {
  const prefix = `${runtime}/`;
  if (!name.startsWith(prefix)) return false;
  return names.some((one) => isSameName(one, name.slice(prefix.length)));
}

function shownAs(model: ModelInfo, entries: readonly Entry[]): ModelInfo {
  const entry = entries.find(
    ({ offer, runtime }) => runtime.name === model.runtime && offer.name === model.name,
  );
  return entry?.model ?? model;
}
