import { Value } from 'typebox/value';
import { Fault } from '../../../kit/errors.ts';
import { readEvents } from '../../../kit/answers/sse.ts';
import type { Caller, Capability, ModelInfo, RunningModel } from '../inference.ts';
import type { Embeddings, GenerateEnd, GenerateEvent, GenerateRequest, Usage } from '../request.ts';
import { CallCollector } from './call-collector.ts';
import { signalOf } from './deadline.ts';
import type { ExternalRuntime } from './external-runtime.ts';
import { toOpenAiRequest } from './openai-request.ts';
import { Chunk, EmbeddingList, Models, type Card } from './openai-schemas.ts';
import type { Peer } from './peer.ts';
import { toVectors } from './vectors.ts';

/** A server of OpenAI's API: llama-server, vLLM, another Ennead, or a service. */
export class OpenAiRuntime implements ExternalRuntime {
  readonly name: string;
  readonly #peer: Peer;
  /** What the server calls a model that is a file's path here shown by its name. */
  #ids = new Map<string, string>();

  /** The peer's address includes `/v1`. */
  constructor(name: string, peer: Peer) {
    this.name = name;
    this.#peer = peer;
  }

  async list(signal: AbortSignal): Promise<readonly ModelInfo[]> {
    const answer = await this.#peer.ask('/models', signal);
    if (!Value.Check(Models, answer)) throw this.#peer.misunderstood();
    this.#ids = new Map(answer.data.map(({ id }) => [shownName(id), id]));
    return answer.data.map((card) => toModelInfo(card, this.name));
  }

  running(): Promise<readonly RunningModel[]> {
    return Promise.resolve([]);
  }

  async *generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncGenerator<GenerateEvent> {
    const { path, body } = toOpenAiRequest(this.#idOf(model), request);
    const bytes = this.#peer.stream(path, signalOf(caller, request.deadlineMs), body);
    const answer = new StreamedAnswer();
    for await (const chunk of this.#chunks(bytes)) {
      const { text, thought } = answer.add(chunk);
      if (thought !== '') yield { type: 'reasoning', text: thought };
      if (text !== '') yield { type: 'text', text };
    }
    const end = answer.end();
    if (!end) throw this.#peer.misunderstood(new Error('the stream ended without a reason'));
    for (const call of this.#takeCalls(answer)) yield { type: 'tool-call', call };
    yield end;
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    const startedAt = performance.now();
    const body = { model: this.#idOf(model), input: texts, encoding_format: 'float' };
    const answer = await this.#peer.ask('/embeddings', signalOf(caller), body);
    if (!Value.Check(EmbeddingList, answer)) throw this.#peer.misunderstood();
    const rows = answer.data.toSorted((a, b) => a.index - b.index);
    const vectors = toVectors(
      rows.map(({ embedding }) => embedding),
      texts.length,
    );
    if (!vectors) throw this.#peer.misunderstood();
    const evalMs = performance.now() - startedAt;
    const tokens = answer.usage?.prompt_tokens ?? 0;
    return { ...vectors, tokens, timings: { loadMs: 0, evalMs } };
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  unload(): Promise<void> {
    return Promise.resolve();
  }

  #idOf({ name }: ModelInfo): string {
    return this.#ids.get(name) ?? name;
  }

  #takeCalls(answer: StreamedAnswer) {
    try {
      return answer.calls.take();
    } catch (error) {
      throw this.#peer.misunderstood(error);
    }
  }

  async *#chunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk> {
    try {
      for await (const { data } of readEvents(bytes)) {
        if (data === '[DONE]') return;
        yield this.#parse(data);
      }
    } catch (error) {
      throw error instanceof Fault ? error : this.#peer.misunderstood(error);
    }
  }

  #parse(data: string): Chunk {
    const chunk: unknown = JSON.parse(data);
    if (Value.Check(Chunk, chunk)) return chunk;
    const { error } = (chunk ?? {}) as { readonly error?: { readonly message?: unknown } };
    const said = error?.message;
    if (typeof said === 'string') throw this.#peer.failed(said);
    throw this.#peer.misunderstood();
  }
}

/** What a stream has told so far. */
class StreamedAnswer {
  readonly calls = new CallCollector();
  readonly #startedAt = performance.now();
  #firstAt: number | undefined;
  #reason: string | undefined;
  #usage: Chunk['usage'];
  #timings: Chunk['timings'];

  /** Takes a chunk in and answers its words. */
  add({ choices, usage, timings }: Chunk): { readonly text: string; readonly thought: string } {
    this.#usage = usage ?? this.#usage;
    this.#timings = timings ?? this.#timings;
    const [choice] = choices;
    if (!choice) return { text: '', thought: '' };
    this.#firstAt ??= performance.now();
    this.#reason = choice.finish_reason ?? this.#reason;
    for (const delta of choice.delta?.tool_calls ?? []) this.calls.add(delta);
    return wordsOf(choice);
  }

  /** Undefined for a stream that broke off. */
  end(): GenerateEnd | undefined {
    if (this.#reason === undefined) return undefined;
    const now = performance.now();
    const firstAt = this.#firstAt ?? now;
    return {
      type: 'end',
      finishReason: finishReasonOf(this.#reason),
      usage: this.#usage ? toUsage(this.#usage) : toCounts(this.#timings ?? {}),
      timings: {
        loadMs: 0,
        promptMs: this.#timings?.prompt_ms ?? firstAt - this.#startedAt,
        generateMs: this.#timings?.predicted_ms ?? now - firstAt,
      },
    };
  }
}

function wordsOf({ delta, text }: Chunk['choices'][number]) {
  const thought = delta?.reasoning_content ?? delta?.reasoning;
  return { text: delta?.content ?? delta?.refusal ?? text ?? '', thought: thought ?? '' };
}

/** llama-server counts what it read anew apart from what it remembered. */
function toCounts({
  prompt_n: read = 0,
  predicted_n: written = 0,
  cache_n: cached,
}: Counts): Usage {
  return {
    promptTokens: read + (cached ?? 0),
    completionTokens: written,
    ...(cached !== undefined && { cachedPromptTokens: cached }),
  };
}

type Counts = Partial<NonNullable<Chunk['timings']>>;

function toUsage(usage: NonNullable<Chunk['usage']>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens;
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    ...(cached !== undefined && { cachedPromptTokens: cached }),
  };
}

function finishReasonOf(reason: string): GenerateEnd['finishReason'] {
  if (reason === 'tool_calls') return 'tool-calls';
  return reason === 'length' ? 'length' : 'stop';
}

function toModelInfo(card: Card, runtime: string): ModelInfo {
  const { id, created = 0, meta, context_length: contextLength } = card;
  return {
    name: shownName(id),
    runtime,
    bytes: meta?.size ?? 0,
    digest: undefined,
    modifiedAt: new Date(created * 1000),
    capabilities: capabilitiesOf(card),
    family: '',
    quantization: '',
    parameterCount: meta?.n_params,
    contextTokens: meta?.n_ctx_train ?? contextLength ?? undefined,
    embeddingDimensions: meta?.n_embd,
  };
}

/** Most servers do not tell; then the name decides, and all that the API knows is offered. */
function capabilitiesOf({ id, capabilities }: Card): readonly Capability[] {
  const all = ['completion', 'json', 'tools', 'embedding'] as const;
  if (capabilities) return all.filter((one) => capabilities.includes(one));
  return /embed|bge-|minilm|e5-/i.test(id) ? ['embedding'] : ['completion', 'json', 'tools'];
}

/** llama-server names a model by the path of its file. */
export function shownName(id: string): string {
  return /\.gguf$/i.test(id) ? (id.split('/').at(-1) ?? id).replace(/\.gguf$/i, '') : id;
}
