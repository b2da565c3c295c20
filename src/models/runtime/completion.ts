import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { Fault } from '../../kit/errors.ts';
import type { OpenModel } from './engine.ts';
import { preparePrompt, type PreparedPrompt } from './prompt.ts';
import type { GenerateEnd, Work } from './request.ts';
import { TextStream } from './text-stream.ts';

export interface CompletionOptions {
  readonly signal: AbortSignal;
  /** Reported as it is; measured by the caller. */
  readonly loadMs: number;
  readonly emit: (text: string) => void;
}

/**
 * Runs one request on a sequence of the model, beside the others in one batch, and gives the
 * sequence back in every case. Fault `invalid` when the prompt leaves no room in the context,
 * `cancelled` soon after the signal: between two tokens, or between two blocks of a long prompt.
 */
export async function complete(
  open: OpenModel,
  work: Work,
  options: CompletionOptions,
): Promise<GenerateEnd> {
  const prompt = preparePrompt(open.model, open.wrapper, work.prompt);
  const maxTokens = Math.min(work.maxTokens, measureRoom(open, prompt));
  const sequence = open.idle.pop();
  if (!sequence) throw new Fault('internal', 'no sequence is free');
  try {
    return await run({ ...options, open, work, prompt, maxTokens, sequence });
  } finally {
    open.idle.push(sequence);
  }
}

interface Run extends CompletionOptions {
  readonly open: OpenModel;
  readonly work: Work;
  readonly prompt: PreparedPrompt;
  readonly maxTokens: number;
  readonly sequence: LlamaContextSequence;
}

const blockTokens = 512;

/** Beyond this room the binding would drop the beginning of the prompt without a word. */
function measureRoom({ context }: OpenModel, prompt: PreparedPrompt): number {
  const room = context.contextSize - 1 - prompt.tokens.length;
  if (prompt.tokens.length === 0) throw new Fault('invalid', 'the prompt is empty');
  if (room >= 1) return room;
  const detail = { promptTokens: prompt.tokens.length, contextTokens: context.contextSize };
  const message = `the prompt has ${detail.promptTokens} tokens, the context ${detail.contextTokens}`;
  throw new Fault('invalid', message, { detail });
}

async function run(task: Run): Promise<GenerateEnd> {
  const { open, work, prompt, maxTokens, sequence, signal, loadMs, emit } = task;
  const startedAt = performance.now();
  let firstAt: number | undefined;
  let completionTokens = 0;
  let finishReason: GenerateEnd['finishReason'] = 'stop';
  const stream = new TextStream<Token>(
    (tokens, before) => open.model.detokenize(tokens, false, before),
    [...work.stop, ...prompt.stopTexts],
  );
  const lastBlock = await readPrompt(task);
  for await (const token of sequence.evaluate(lastBlock, work.sampling)) {
    firstAt ??= performance.now();
    signal.throwIfAborted();
    if (prompt.stopTokens.has(token)) break;
    completionTokens++;
    const text = stream.push(token);
    if (text !== '') emit(text);
    if (stream.isStopped) break;
    if (completionTokens === maxTokens) {
      finishReason = 'length';
      break;
    }
    if (open.gate.isClosed) await open.gate.opened();
  }
  const heldBack = stream.finish();
  if (heldBack !== '') emit(heldBack);
  const endedAt = performance.now();
  const promptMs = (firstAt ?? endedAt) - startedAt;
  return {
    type: 'end',
    finishReason,
    usage: { promptTokens: prompt.tokens.length, completionTokens },
    timings: { loadMs, promptMs, generateMs: endedAt - startedAt - promptMs },
  };
}

/** Evaluates all of the prompt but its last block, which the first token needs. */
async function readPrompt({ open, sequence, prompt, signal }: Run): Promise<Token[]> {
  const { tokens } = prompt;
  await open.gate.pass(() => sequence.clearHistory());
  let start = 0;
  for (; tokens.length - start > blockTokens; start += blockTokens) {
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, start + blockTokens));
    await nextTurn();
    await open.gate.opened();
    signal.throwIfAborted();
  }
  return tokens.slice(start);
}
