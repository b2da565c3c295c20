import { priceOf } from '../../kit/prices/pricing.ts';
import type { Answer, Usage } from '../conversation/answer.ts';
import { writeExact } from '../dialects/exact-json.ts';
import type { Target } from '../providers/provider.ts';
import type { PreparedAsk } from './ask.ts';

type Json = Readonly<Record<string, unknown>>;

/** An answer as the caller's face words it, after the guardrails. */
export function wordAnswer({ face, guard, request }: PreparedAsk, answer: Answer): Json {
  return face.writeAnswer(guard ? guard.inspectAnswer(answer) : answer, request);
}

/** The JSON that the caller gets, with the provider and the cost where its endpoint says them. */
export function writeBody({ isAnnotated }: PreparedAsk, said: Json, from: From): Buffer {
  if (!isAnnotated) return Buffer.from(writeExact(said));
  const { provider, model } = from.target;
  const usage = { ...(said['usage'] as Json | undefined), cost: priceOf(from.usage, model.prices) };
  return Buffer.from(writeExact({ ...said, provider: provider.name, usage }));
}

/** Where an answer came from, and what it took there. */
export interface From {
  readonly target: Target;
  readonly usage: Usage;
}
