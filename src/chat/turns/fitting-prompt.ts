import { Fault } from '../../kit/errors.ts';
import type { ModelMessage } from './history.ts';

/** How much of what was said before the question is left, at one refusal after the other. */
const shares = [1 / 2, 1 / 8, 1 / 32, 0];

/**
 * Asks, and where the model's context does not hold that, asks again with ever fewer of the oldest
 * messages, until only instructions and the question are left. Resolves with what the model was told
 * at last; rejects with all other refusals, and with the last one.
 */
export async function askFitting(
  messages: readonly ModelMessage[],
  ask: (messages: readonly ModelMessage[]) => Promise<void>,
): Promise<readonly ModelMessage[]> {
  let told = messages;
  for (const share of shares) {
    try {
      await ask(told);
      return told;
    } catch (error) {
      const fewer = isTooLong(error) ? leaveOutOldest(messages, share) : told;
      if (fewer.length === told.length) throw error;
      told = fewer;
    }
  }
  await ask(told);
  return told;
}

/** Too much was said, not too much wanted; and it is a refusal, behind which no answer was begun. */
function isTooLong(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'invalid') return false;
  return error.reason === 'context_length_exceeded' && error.detail['param'] !== 'max_tokens';
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

function isInstruction({ role }: ModelMessage): boolean {
  return role === 'system' || role === 'developer';
}
