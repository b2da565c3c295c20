import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import type { GenerateEnd } from '../../inference/request.ts';
import type { Answer, AnswerEvent } from './answer.ts';
import { openAnswer } from './open-answer.ts';
import type { GenerativeModel } from './engine.ts';
import { preparePrompt, type PreparedPrompt } from './prompt.ts';
import { promptTexts } from './prompt-texts.ts';
import type { Penalties, Work } from '../request.ts';
import type { Place } from './sequence-pool.ts';
import { countBeyond } from './token-count.ts';

export interface CompletionOptions {
  readonly signal: AbortSignal;
  /** Who finds the prompt remembered at the next request. */
  readonly subject: string;
  /** Reported as it is; measured by the caller. */
  readonly loadMs: number;
  readonly emit: (event: AnswerEvent) => void;
}

/**
 * Runs one request on a sequence of the model, beside the others in one batch, and gives the
 * sequence back in every case. Fault `invalid` when the prompt leaves no room in the context,
 * `cancelled` soon after the signal: between two tokens, or between two blocks of a long prompt.
 */
export async function complete(
  open: GenerativeModel,
  work: Work,
  options: CompletionOptions,
): Promise<GenerateEnd> {
  await refuseLong(open, work, options.signal);
  const prompt = preparePrompt(open.model, open.wrapper, work);
  const maxTokens = Math.min(work.maxTokens, measureRoom(open, prompt));
  const answer = await openAnswer({ ...open, work, prompt, emit: options.emit });
  const owner = work.isReproducible ? undefined : options.subject;
  const place = open.pool.take(prompt.tokens, owner);
  try {
    return await run({ ...options, ...place, open, work, prompt, answer, maxTokens });
  } finally {
    const emptied = owner === undefined ? emptyLater(open, place) : undefined;
    open.pool.give(place, owner, emptied);
  }
}

interface Run extends CompletionOptions, Place {
  readonly open: GenerativeModel;
  readonly work: Work;
  readonly prompt: PreparedPrompt;
  readonly answer: Answer;
  readonly maxTokens: number;
}

const blockTokens = 512;

/** Before a text is read at once that is far too long. */
async function refuseLong(
  { model, context: { contextSize } }: GenerativeModel,
  work: Work,
  signal: AbortSignal,
): Promise<void> {
  const texts = promptTexts(work.prompt);
  const tokens = await countBeyond(model, texts, { tokensMax: contextSize, signal });
  if (tokens !== undefined) throw promptTooLong(tokens, contextSize, 'more than ');
}

/** Beyond this room the binding would drop the beginning of the prompt without a word. */
function measureRoom({ context }: GenerativeModel, prompt: PreparedPrompt): number {
  const room = context.contextSize - 1 - prompt.tokens.length;
  if (prompt.tokens.length === 0) throw new Fault('invalid', 'the prompt is empty');
  if (room >= 1) return room;
  throw promptTooLong(prompt.tokens.length, context.contextSize);
}

function promptTooLong(promptTokens: number, contextTokens: number, how = ''): Fault {
  const most = contextTokens - 2;
  const message =
    `the prompt has ${how}${promptTokens} tokens, the context ${contextTokens}, ` +
    `of which a prompt may take ${most}`;
  const detail = { promptTokens, contextTokens };
  return new Fault('invalid', message, { reason: 'context_length_exceeded', detail });
}

async function run(task: Run): Promise<GenerateEnd> {
  const { prompt, answer, loadMs } = task;
  const startedAt = performance.now();
  const { lastBlock, cachedPromptTokens } = await readPrompt(task);
  const { firstAt, completionTokens, isCut } = await write(task, lastBlock);
  answer.finish();
  const usage = { promptTokens: prompt.tokens.length, completionTokens, cachedPromptTokens };
  const endedAt = performance.now();
  const promptMs = (firstAt ?? endedAt) - startedAt;
  const timings = { loadMs, promptMs, generateMs: endedAt - startedAt - promptMs };
  return { type: 'end', finishReason: isCut ? 'length' : finishReasonOf(answer), usage, timings };
}

/** Reads the last block of the prompt and writes token by token, in step with the other requests. */
async function write(task: Run, lastBlock: Token[]) {
  const { open, prompt, answer, signal, maxTokens, sequence, number } = task;
  const recent = prompt.tokens.slice(-penalisedTokens);
  const beat = open.beat.join(number);
  let firstAt: number | undefined;
  let completionTokens = 0;
  try {
    for await (const token of sequence.evaluate(lastBlock, toEvaluateOptions(task, recent))) {
      firstAt ??= performance.now();
      signal.throwIfAborted();
      if (prompt.stopTokens.has(token)) break;
      completionTokens++;
      recent.push(token);
      const turning = answer.push(token);
      if (turning) {
        beat.rest();
        await turning;
      }
      if (answer.isDone) break;
      if (completionTokens === maxTokens) return { firstAt, completionTokens, isCut: true };
      await beat.step();
      if (open.gate.isClosed) await open.gate.opened();
    }
    return { firstAt, completionTokens, isCut: false };
  } finally {
    beat.rest();
  }
}

function finishReasonOf({ hasCalls }: Answer): GenerateEnd['finishReason'] {
  return hasCalls ? 'tool-calls' : 'stop';
}

const penalisedTokens = 64;

function toEvaluateOptions({ work, answer }: Run, recent: Token[]): SequenceEvaluateOptions {
  const repeatPenalty = work.penalties && toRepeatPenalty(work.penalties, recent);
  return {
    ...work.sampling,
    grammarEvaluationState: answer.grammar,
    ...(repeatPenalty && { repeatPenalty }),
  };
}

function toRepeatPenalty({ repeat, frequency, presence }: Penalties, recent: Token[]) {
  return {
    punishTokens: () => recent.slice(-penalisedTokens),
    maxPunishTokens: penalisedTokens,
    penalty: repeat,
    frequencyPenalty: frequency,
    presencePenalty: presence,
  };
}

/** Evaluates all of the prompt but its last block, which the first token needs. */
async function readPrompt(task: Run) {
  const { open, sequence, prompt, signal, isRemembered } = task;
  const { tokens } = prompt;
  const kept = await keepShared(task);
  let start = kept;
  for (; tokens.length - start > blockTokens; start += blockTokens) {
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, start + blockTokens));
    await nextTurn();
    await open.gate.opened();
    signal.throwIfAborted();
  }
  return { lastBlock: tokens.slice(start), cachedPromptTokens: isRemembered ? kept : 0 };
}

/** Takes out of the sequence what the prompt does not begin with; answers how much is left. */
async function keepShared({ open, sequence, sharedTokens, emptied }: Run): Promise<number> {
  await emptied;
  if (sequence.nextTokenIndex === sharedTokens) return sharedTokens;
  await open.gate.pass(() => forget(sequence, sharedTokens));
  return sequence.nextTokenIndex;
}

/** Leaves the begin mark alone, once the answer is on its way, so that the next prompt need not wait for it. */
async function emptyLater({ gate, pool }: GenerativeModel, { sequence }: Place): Promise<void> {
  await nextTurn();
  // Such models cannot go back to a token in the middle.
  const markTokens = sequence.needsCheckpoints ? 0 : pool.markTokens;
  if (sequence.nextTokenIndex <= markTokens) return;
  // What fails here, as when the model leaves, is tried again where the sequence is needed.
  await gate.pass(() => forget(sequence, markTokens)).catch(() => {});
}

async function forget(sequence: LlamaContextSequence, start: number): Promise<void> {
  if (start === 0) return sequence.clearHistory();
  return sequence.eraseContextTokenRanges([{ start, end: sequence.nextTokenIndex }]);
}
