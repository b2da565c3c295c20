import type { Caller, Inference, ModelInfo } from '../inference/inference.ts';
import type { GenerateEnd, GenerateRequest, ToolCall } from '../inference/request.ts';

/** A model, how to ask it, and when the request came (`performance.now()`). */
export interface Asked {
  readonly inference: Inference;
  readonly model: ModelInfo;
  readonly caller: Caller;
  readonly startedAt: number;
}

/** What one event of a generation adds to a line. */
export interface Wording<Piece> {
  text(text: string): Piece;
  thought(text: string): Piece;
  call(call: ToolCall, index: number): Piece;
}

type Head = ReturnType<typeof headOf>;
type Ending = ReturnType<typeof endingOf> | { readonly done_reason: 'load' | 'unload' };
type Line<Piece> = Head & Piece & { readonly done: boolean } & Partial<Ending>;

/** A generation line by line; the last one is done and has the counts and the timings. */
export async function* generateLines<Piece extends object>(
  request: GenerateRequest,
  asked: Asked,
  wording: Wording<Piece>,
): AsyncGenerator<Line<Piece>> {
  const { inference, model, caller, startedAt } = asked;
  let calls = 0;
  for await (const event of inference.generate(model, request, caller)) {
    const head = headOf(model);
    if (event.type === 'text') yield { ...head, ...wording.text(event.text), done: false };
    else if (event.type === 'reasoning') {
      yield { ...head, ...wording.thought(event.text), done: false };
    } else if (event.type === 'tool-call') {
      yield { ...head, ...wording.call(event.call, calls), done: false };
      calls += 1;
    } else yield { ...head, ...wording.text(''), done: true, ...endingOf(event, startedAt) };
  }
}

/** What a request that asks nothing is for: the model comes into memory, or leaves it. */
export async function* loadLines<Piece extends object>(
  keepAliveMs: number | undefined,
  { inference, model, caller }: Asked,
  wording: Wording<Piece>,
): AsyncGenerator<Line<Piece>> {
  const isUnload = keepAliveMs === 0;
  if (isUnload) await inference.unload(model);
  else await inference.load(model, caller, keepAliveMs);
  const reason = isUnload ? 'unload' : 'load';
  yield { ...headOf(model), ...wording.text(''), done: true, done_reason: reason };
}

/** Milliseconds as whole nanoseconds, the unit of Ollama's timings. */
export function toNanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

function headOf({ name }: ModelInfo) {
  return { model: name, created_at: new Date().toISOString() };
}

function endingOf({ finishReason, usage, timings }: GenerateEnd, startedAt: number) {
  return {
    done_reason: finishReason === 'length' ? 'length' : 'stop',
    total_duration: toNanoseconds(timings.totalMs ?? performance.now() - startedAt),
    load_duration: toNanoseconds(timings.loadMs),
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: toNanoseconds(timings.promptMs),
    eval_count: usage.completionTokens,
    eval_duration: toNanoseconds(timings.generateMs),
  } as const;
}
