import type { TSchema, Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import { newId } from '../../../kit/ids.ts';
import type { Caller, ModelInfo, RunningModel } from '../inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from '../request.ts';
import { signalOf } from './deadline.ts';
import type { ExternalRuntime } from './external-runtime.ts';
import { readJsonLines } from './lines.ts';
import { dateOf, toModelInfo } from './ollama-models.ts';
import { toKeepAlive, toOllamaRequest } from './ollama-request.ts';
import { Embedded, Line, Running, Shown, Tags, type Tag } from './ollama-schemas.ts';
import type { Peer } from './peer.ts';
import { toVectors } from './vectors.ts';

const nsPerMs = 1e6;
const unloadTimeoutMs = 10_000;

/** An Ollama, by its own API. */
export class OllamaRuntime implements ExternalRuntime {
  readonly name = 'ollama';
  readonly #peer: Peer;
  /** By name and digest: what `/api/show` says changes with the model only. */
  #shown = new Map<string, Shown | undefined>();

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  async list(signal: AbortSignal): Promise<readonly ModelInfo[]> {
    const { models } = this.#check(Tags, await this.#peer.ask('/api/tags', signal));
    const shown = await Promise.all(models.map((tag) => this.#show(tag, signal)));
    this.#shown = new Map(models.map((tag, index) => [keyOf(tag), shown[index]]));
    return models.map((tag, index) => toModelInfo(tag, shown[index], this.name));
  }

  async running(signal: AbortSignal): Promise<readonly RunningModel[]> {
    const { models } = this.#check(Running, await this.#peer.ask('/api/ps', signal));
    const known = new Map((await this.list(signal)).map((model) => [model.name, model]));
    return models.flatMap(({ name, size, expires_at: expiresAt, context_length: context }) => {
      const model = known.get(name.replace(/:latest$/, ''));
      if (!model) return [];
      const contextTokens = context ?? model.contextTokens ?? 0;
      return [{ model, memoryBytes: size, contextTokens, expiresAt: dateOf(expiresAt) }];
    });
  }

  async *generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncGenerator<GenerateEvent> {
    const { path, body } = toOllamaRequest(model, request);
    const bytes = this.#peer.stream(path, signalOf(caller, request.deadlineMs), body);
    let hasCalled = false;
    for await (const value of this.#lines(bytes)) {
      const line = this.#check(Line, value);
      const { text, thought } = wordsOf(line);
      if (thought !== '') yield { type: 'reasoning', text: thought };
      if (text !== '') yield { type: 'text', text };
      for (const { id, function: called } of line.message?.tool_calls ?? []) {
        hasCalled = true;
        const fields = called.arguments ?? {};
        const call = { id: id ?? newId('call'), name: called.name, arguments: fields };
        yield { type: 'tool-call', call };
      }
      if (line.done) return yield toEnd(line, hasCalled);
    }
    throw this.#peer.misunderstood(new Error('the stream ended without its last line'));
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    const body = { model: model.name, input: texts, truncate: false };
    const answer = await this.#peer.ask('/api/embed', signalOf(caller), body);
    const embedded = this.#check(Embedded, answer);
    const vectors = toVectors(embedded.embeddings, texts.length);
    if (!vectors) throw this.#peer.misunderstood();
    const { load_duration: load = 0, total_duration: total = 0 } = embedded;
    return {
      ...vectors,
      tokens: embedded.prompt_eval_count ?? 0,
      timings: { loadMs: load / nsPerMs, evalMs: Math.max(0, total - load) / nsPerMs },
    };
  }

  async load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void> {
    const keepAlive = keepAliveMs === undefined ? {} : { keep_alive: toKeepAlive(keepAliveMs) };
    const body = { model: model.name, stream: false, ...keepAlive };
    await this.#peer.ask('/api/generate', signalOf(caller), body);
  }

  async unload(model: ModelInfo): Promise<void> {
    const body = { model: model.name, stream: false, keep_alive: 0 };
    await this.#peer.ask('/api/generate', AbortSignal.timeout(unloadTimeoutMs), body);
  }

  async *#lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator {
    try {
      yield* readJsonLines(bytes);
    } catch (error) {
      throw error instanceof Fault ? error : this.#peer.misunderstood(error);
    }
  }

  async #show(tag: Tag, signal: AbortSignal): Promise<Shown | undefined> {
    const key = keyOf(tag);
    if (this.#shown.has(key)) return this.#shown.get(key);
    const answer = await this.#peer.ask('/api/show', signal, { model: tag.name }).catch(() => {});
    return Value.Check(Shown, answer) ? answer : undefined;
  }

  #check<T extends TSchema>(schema: T, value: unknown): Static<T> {
    if (Value.Check(schema, value)) return value;
    const { error } = (value ?? {}) as { readonly error?: unknown };
    if (typeof error === 'string') throw this.#peer.failed(error);
    throw this.#peer.misunderstood();
  }
}

function keyOf({ name, digest = '', modified_at: modifiedAt }: Tag): string {
  return [name, digest, modifiedAt].join('|');
}

/** Those of `/api/chat` stand in a message, those of `/api/generate` beside it. */
function wordsOf({ message, response = '', thinking = '' }: Line) {
  return { text: message?.content ?? response, thought: message?.thinking ?? thinking };
}

function toEnd(line: Line, hasCalled: boolean): GenerateEvent {
  const plain = line.done_reason === 'length' ? 'length' : 'stop';
  return {
    type: 'end',
    finishReason: hasCalled ? 'tool-calls' : plain,
    usage: {
      promptTokens: line.prompt_eval_count ?? 0,
      completionTokens: line.eval_count ?? 0,
    },
    timings: {
      loadMs: (line.load_duration ?? 0) / nsPerMs,
      promptMs: (line.prompt_eval_duration ?? 0) / nsPerMs,
      generateMs: (line.eval_duration ?? 0) / nsPerMs,
      ...(line.total_duration !== undefined && { totalMs: line.total_duration / nsPerMs }),
    },
  };
}
