import type { Finish } from '../../conversation/answer.ts';
import { UpstreamError } from '../upstream-error.ts';

const finishes: Readonly<Record<string, Finish | undefined>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  sensitive: 'content-filter',
};

/** Ends that are none: the provider gave up half-way. */
const breakdowns = new Set(['error', 'abort', 'network_error', 'insufficient_system_resource']);

/**
 * Why an answer ended, in any provider's word; an unknown word is a `stop`. With calls in it, an
 * answer that stopped did so for them: several servers say `stop` there. Throws `broken` where the
 * provider gave up.
 */
export function finishOf(reason: string, hasCalls: boolean): Finish {
  if (breakdowns.has(reason)) {
    throw UpstreamError.of('broken', `the provider gave up the answer: ${reason}`);
  }
  const finish = finishes[reason] ?? 'stop';
  return finish === 'stop' && hasCalls ? 'tool-calls' : finish;
}
