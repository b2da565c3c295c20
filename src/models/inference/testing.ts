import { Fault } from '../../kit/errors.ts';
import type { Caller, Inference, ModelInfo, RunningModel } from './inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from './request.ts';

/** A model as a runtime would describe it; what is given here replaces the defaults. */
export function describeModel(name: string, fields: Partial<ModelInfo> = {}): ModelInfo {
  return {
    name,
    runtime: 'scripted',
    bytes: 1_234_567,
    digest: 'ab'.repeat(32),
    modifiedAt: new Date('2026-01-02T03:04:05.000Z'),
    capabilities: ['completion', 'json', 'tools'],
    family: 'llama',
    quantization: 'Q8_0',
    parameterCount: 1_500_000,
    contextTokens: 2048,
    embeddingDimensions: undefined,
    ...fields,
  };
}

/** The end of every scripted answer that names none. */
export const scriptedEnd = {
  type: 'end',
  finishReason: 'stop',
  usage: { promptTokens: 11, completionTokens: 7 },
  timings: { loadMs: 1.5, promptMs: 2.25, generateMs: 3.125 },
} as const satisfies GenerateEvent;

/** Models that answer what a test has written down, for tests of what stands before a runtime. */
export class ScriptedInference implements Inference {
  readonly models: readonly ModelInfo[];
  /** What was asked of it, in order. */
  readonly requests: GenerateRequest[] = [];
  /** `load <name> <keepAliveMs>` and `unload <name>`, in order. */
  readonly memory: string[] = [];
  caller: Caller | undefined;
  /** What each generation gives; a Fault is thrown where it stands. */
  events: readonly (GenerateEvent | Fault)[] = [scriptedEnd];
  /** How many generations were ended by whoever asked for them. */
  abandoned = 0;
  /** Keeps every generation open after its last event, until its caller has gone. */
  isEndless = false;
  /** Why no text becomes a vector. */
  embedFault: Fault | undefined;

  constructor(models: readonly ModelInfo[]) {
    this.models = models;
  }

  list(): Promise<readonly ModelInfo[]> {
    return Promise.resolve(this.models);
  }

  find(name: string | undefined): Promise<ModelInfo> {
    const found = name === undefined ? this.models[0] : this.models.find((m) => m.name === name);
    if (found) return Promise.resolve(found);
    const options = { reason: 'model_not_found', detail: { param: 'model' } };
    return Promise.reject(new Fault('not_found', `there is no model ${name}`, options));
  }

  defaultName(): Promise<string | undefined> {
    return Promise.resolve(this.models[0]?.name);
  }

  running(): Promise<readonly RunningModel[]> {
    const expiresAt = new Date('2026-01-02T03:09:05.000Z');
    const shared = { memoryBytes: 2_000_000, contextTokens: 1024 };
    const [first, second] = this.models;
    return Promise.resolve([
      ...(first ? [{ ...shared, model: first, expiresAt }] : []),
      ...(second ? [{ ...shared, model: second, expiresAt: undefined }] : []),
    ]);
  }

  async *generate(
    _model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncGenerator<GenerateEvent> {
    this.requests.push(request);
    this.caller = caller;
    let isOver = false;
    try {
      for (const event of this.events) {
        if (event instanceof Fault) throw event;
        yield event;
      }
      if (this.isEndless) await untilAborted(caller.signal);
      isOver = true;
    } finally {
      if (!isOver || caller.signal.aborted) this.abandoned += 1;
    }
  }

  /** Vectors whose numbers are the length of the text, its half, and so on. */
  embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    this.caller = caller;
    if (this.embedFault) return Promise.reject(this.embedFault);
    const dimensions = model.embeddingDimensions;
    if (dimensions === undefined) {
      return Promise.reject(new Fault('invalid', `${model.name} makes no embeddings`));
    }
    const vectorOf = (text: string) =>
      Float32Array.from({ length: dimensions }, (_, at) => text.length / 2 ** at);
    return Promise.resolve({
      vectors: texts.map(vectorOf),
      dimensions,
      isNormalised: false,
      tokens: texts.join('').length,
      timings: { loadMs: 0.5, evalMs: 1 },
    });
  }

  load(model: ModelInfo, _caller: Caller, keepAliveMs?: number): Promise<void> {
    this.memory.push(`load ${model.name} ${keepAliveMs}`);
    return Promise.resolve();
  }

  unload(model: ModelInfo): Promise<void> {
    this.memory.push(`unload ${model.name}`);
    return Promise.resolve();
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
