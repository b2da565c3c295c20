import { Fault } from '../../kit/errors.ts';
import type { ModelMessage } from './history.ts';

/** How much of what was said before the question is left, at one refusal after the other. */
const shares = [1 / 2, 1 / 8, 1 / 32, 0];

/**
 * Asks, and where the model's context does not hold that, asks again: first without the questions that
 * were never answered, of which one may have been too long by itself, then with ever fewer of the oldest
 * messages, until only instructions and the question are left. Resolves with what the model was told
 * at last; rejects with all other refusals, and with the last one.
 */
export async function askFitting(
  messages: readonly ModelMessage[],
  ask: (messages: readonly ModelMessage[]) => Promise<void>,
): Promise<readonly ModelMessage[]> {
  const shorter = everShorter(messages);
  for (let told = messages; ;) {
    try {
      await ask(told);
      return told;
    } catch (error) {
      const next = isTooLong(error) ? shorter.next() : undefined;
      if (!next || next.done) throw error;
      told = next.value;
    }
  }
}

function* everShorter(messages: readonly ModelMessage[]) {
  const answered = leaveOutUnanswered(messages);
  if (answered.length < messages.length) yield answered;
  let { length } = answered;
  for (const share of shares) {
    const left = leaveOutOldest(answered, share);
    if (left.length < length) yield left;
    ({ length } = left);
  }
}

/** Too much was said, not too much wanted; and it is a refusal, behind which no answer was begun. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'invalid') return false;
  return error.reason === 'context_length_exceeded' && error.detail['param'] !== 'max_tokens';
}

/** Without the questions before the last one that no answer follows, and the rounds of tools behind them. */
function leaveOutUnanswered(messages: readonly ModelMessage[]): readonly ModelMessage[] {
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
function leaveOutOldest(messages: readonly ModelMessage[], share: number): readonly ModelMessage[] {
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
