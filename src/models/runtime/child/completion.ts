import type { Token } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import type { GenerateEnd } from '../../inference/request.ts';
import { Sampler } from '../llama/sampler.ts';
import type { Work } from '../request.ts';
import type { Answer, AnswerEvent } from './answer.ts';
import type { GenerativeModel } from './engine.ts';
import { openAnswer } from './open-answer.ts';
import { preparePrompt, type PreparedPrompt } from './prompt.ts';
import { promptTexts } from './prompt-texts.ts';
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
 * `cancelled` soon after the signal: between two batches.
 */
export async function complete(
  open: GenerativeModel,
  work: Work,
  options: CompletionOptions,
): Promise<GenerateEnd> {
  await refuseLong(open, work, options.signal);
  const prompt = preparePrompt(open.model.vocabulary, open.wrapper, work);
  const maxTokens = Math.min(work.maxTokens, measureRoom(open, prompt));
  using answer = openAnswer({ ...open, work, prompt, emit: options.emit });
  const owner = work.isReproducible ? undefined : options.subject;
  const place = open.pool.take(prompt.tokens, owner);
  try {
    return await run({ ...options, ...place, open, work, prompt, answer, maxTokens });
  } finally {
    open.pool.give(place.sequence, owner);
  }
}

interface Run extends CompletionOptions, Place {
  readonly open: GenerativeModel;
  readonly work: Work;
  readonly prompt: PreparedPrompt;
  readonly answer: Answer;
  readonly maxTokens: number;
}

/** Before a text is read at once that is far too long. */
async function refuseLong(
  { model, described: { contextTokens } }: GenerativeModel,
  work: Work,
  signal: AbortSignal,
): Promise<void> {
  const texts = promptTexts(work.prompt);
  const limit = { tokensMax: contextTokens, signal };
  const tokens = await countBeyond(model.vocabulary, texts, limit);
  if (tokens !== undefined) throw promptTooLong(tokens, contextTokens, 'more than ');
}

/** How many tokens an answer may have beside the prompt. */
function measureRoom(
  { described: { contextTokens } }: GenerativeModel,
  { tokens }: PreparedPrompt,
): number {
  const room = contextTokens - 1 - tokens.length;
  if (tokens.length === 0) throw new Fault('invalid', 'the prompt is empty');
  if (room >= 1) return room;
  throw promptTooLong(tokens.length, contextTokens);
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
  const { prompt, answer, loadMs, isRemembered, sharedTokens } = task;
  const startedAt = performance.now();
  const { firstAt, completionTokens, isCut } = await write(task);
  answer.finish();
  const cachedPromptTokens = isRemembered ? sharedTokens : 0;
  const usage = { promptTokens: prompt.tokens.length, completionTokens, cachedPromptTokens };
  const endedAt = performance.now();
  const promptMs = (firstAt ?? endedAt) - startedAt;
  const timings = { loadMs, promptMs, generateMs: endedAt - startedAt - promptMs };
  return { type: 'end', finishReason: isCut ? 'length' : finishReasonOf(answer), usage, timings };
}

/** Reads the prompt and writes token by token, in one batch with the other requests. */
async function write({ open, work, prompt, answer, maxTokens, ...task }: Run) {
  const { model, context, batcher } = open;
  const { sequence, sharedTokens, signal } = task;
  const { sampling, penalties } = work;
  using sampler = new Sampler(model, {
    sampling,
    penalties,
    said: prompt.tokens,
  });
  const written = { firstAt: undefined as number | undefined, completionTokens: 0, isCut: false };
  const take = (token: Token): boolean => {
    written.firstAt ??= performance.now();
    if (model.vocabulary.endsAnswer(token) || prompt.stopTokens.has(token)) return false;
    written.completionTokens++;
    answer.push(token);
    if (answer.isDone) return false;
    written.isCut = written.completionTokens === maxTokens;
    return !written.isCut;
  };
  await batcher.read({
    sequence,
    prompt: prompt.tokens,
    sharedTokens,
    signal,
    sample: (place) => sampler.sample(context, place, answer.grammar()),
    take,
  });
  return written;
}

function finishReasonOf({ hasCalls }: Answer): GenerateEnd['finishReason'] {
  return hasCalls ? 'tool-calls' : 'stop';
}
