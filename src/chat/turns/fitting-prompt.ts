import { Fault } from '../../kit/errors.ts';
import type { ModelMessage } from './history.ts';

/** How much of what was said before the question is left, at one refusal after the other. */
const shares = [1 / 2, 1 / 8, 1 / 32, 0];

type Prompt = readonly ModelMessage[];

/**
 * Asks, and where the question is refused for what was said before it, asks again with less of that.
 * Where the model's context does not hold it: first without the questions that were never answered, of
 * which one may have been too long by itself, then with ever fewer of the oldest messages, until only
 * instructions and the question are left. Where it is refused as wrong: without the unanswered
 * questions, of which one may be what is wrong, then with nothing but text of the answered ones, for
 * what one model took another may not, and what an address led to may be gone. Resolves with what the
 * model was told at last; rejects with all other refusals, and with the last one.
 */
export async function askFitting(
  messages: Prompt,
  ask: (messages: Prompt) => Promise<void>,
): Promise<Prompt> {
  const askShorter = (plain: Prompt) =>
    askAgain(everShorter(plain), isTooLong, async (told) => {
      await ask(told);
      return told;
    });
  return askAgain(everPlainer(messages), isWrong, askShorter);
}

/** Asks with one prompt after the other as long as it is refused so; there is one at least. */
async function askAgain(
  prompts: Iterable<Prompt>,
  isRefusedSo: (error: unknown) => boolean,
  ask: (messages: Prompt) => Promise<Prompt>,
): Promise<Prompt> {
  let refusal: unknown;
  for (const prompt of prompts) {
    try {
      return await ask(prompt);
    } catch (error) {
      if (!isRefusedSo(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** The messages, then ever fewer of them; what nobody asks for is not measured. */
function* everShorter(messages: Prompt): Generator<Prompt> {
  yield messages;
  const answered = leaveOutUnanswered(messages);
  if (answered.length < messages.length) yield answered;
  let { length } = answered;
  for (const share of shares) {
    const left = leaveOutOldest(answered, share);
    if (left.length < length) yield left;
    ({ length } = left);
  }
}

function* everPlainer(messages: Prompt): Generator<Prompt> {
  yield messages;
  const answered = leaveOutUnanswered(messages);
  if (answered.length < messages.length) yield answered;
  const question = answered.findLastIndex(isQuestion);
  const plain = answered.map((one, at) => (at < question ? asText(one) : one));
  if (plain.some((one, at) => one !== answered[at])) yield plain;
}

/** Too much was said, not too much wanted; and it is a refusal, behind which no answer was begun. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'invalid') return false;
  return error.reason === 'context_length_exceeded' && error.detail['param'] !== 'max_tokens';
}

/** Also a refusal. */
function isWrong(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'invalid') return false;
  return error.reason !== 'context_length_exceeded';
}

/** A message with a word in place of each part that is no text. */
function asText(message: ModelMessage): ModelMessage {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const parts = content as readonly { readonly type: string }[];
  if (parts.every(({ type }) => type === 'text')) return message;
  const texts = parts.map((part) =>
    part.type === 'text' ? part : { type: 'text', text: `(left out: ${part.type})` },
  );
  return { ...message, content: texts };
}

/** Without the questions before the last one that no answer follows, and the rounds of tools behind them. */
function leaveOutUnanswered(messages: Prompt): Prompt {
  const question = Math.max(0, messages.findLastIndex(isQuestion));
  let isLast = true;
  let isAnswered = true;
  const left = messages
    .slice(0, question)
    .toReversed()
    .filter((message) => {
      if (isInstruction(message)) return true;
      if (isLast) isAnswered = isAnswer(message);
      isLast = isQuestion(message);
      return isAnswered;
    });
  return [...left.toReversed(), ...messages.slice(question)];
}

/**
 * Without the oldest of what was said before the question, so that about this share of it is left. What
 * is left begins with a question, so that no answer and no result of a tool stands without its own.
 */
function leaveOutOldest(messages: Prompt, share: number): Prompt {
  const question = messages.findLastIndex(isQuestion);
  const past = messages.slice(0, Math.max(0, question)).filter((one) => !isInstruction(one));
  const room = share * past.reduce((sum, one) => sum + sizeOf(one), 0);
  let size = 0;
  let first: ModelMessage | undefined;
  for (const message of past.toReversed()) {
    size += sizeOf(message);
    if (size > room) break;
    if (isQuestion(message)) first = message;
  }
  const left = new Set(first ? past.slice(past.indexOf(first)) : []);
  return messages.filter((one, at) => at >= question || isInstruction(one) || left.has(one));
}

function sizeOf(message: ModelMessage): number {
  return JSON.stringify(message).length;
}

function isQuestion({ role }: ModelMessage): boolean {
  return role === 'user';
}

function isAnswer({ role, tool_calls: calls }: ModelMessage): boolean {
  return role === 'assistant' && calls === undefined;
}

function isInstruction({ role }: ModelMessage): boolean {
  return role === 'system' || role === 'developer';
}
