import { failSpan } from '../../kit/trace.ts';
import type { Fill } from '../cache/answer-cache.ts';
import type { Answer, Usage } from '../conversation/answer.ts';
import type { Target } from '../providers/provider.ts';
import { parseAnswer, requireSuccess } from '../upstream/failed-answer.ts';
import { fetchWhole } from '../upstream/whole-answer.ts';
import type { PreparedAsk } from './ask.ts';
import type { Asking } from './asking.ts';
import type { Won } from './attempts.ts';
import { startAttemptSpan, withTrace, type Attempt } from './attempt-span.ts';
import { isWhole, toCached } from './cached-answers.ts';
import { passesThrough, writeOutgoing } from './outgoing.ts';
import type { CompletedChat } from './parts.ts';
import { wordAnswer, writeBody } from './wording.ts';

/** An answer that a provider gave, and what was read of it. */
interface Received {
  readonly bytes: Buffer;
  readonly parsed: unknown;
  readonly usage: Usage;
  /** Absent where the bytes pass through unread. */
  readonly answer: Answer | undefined;
}

/** Asks the candidates of a plan for the whole answer at once. */
export async function askWhole(asked: PreparedAsk, asking: Asking): Promise<CompletedChat> {
  const { bill, course, parts, cached } = asking;
  const { value, target, trip } = await askInOrder(asked, asking);
  trip.succeeded(value.usage.outputTokens);
  parts.metrics.attempted(target.provider.name, 'success');
  const { cost, written } = bill.close({ target, usage: value.usage, outcome: 'complete' });
  course.count();
  const body = bodyOf(asked, value, target);
  if (cached.fill) keep(asked, { value, body, target, fill: cached.fill }, asking);
  await written;
  return { body, provenance: asking.provenance(target, cost) };
}

async function askInOrder(asked: PreparedAsk, asking: Asking): Promise<Won<Received>> {
  const { plan, course, attempts } = asking;
  try {
    return await attempts.run(
      plan.candidates,
      asking.attemptOptions(asked),
      (target, trip, cancellation) => {
        course.ask(target);
        return receive(asked, { target, trip, cancellation }, asking);
      },
    );
  } catch (error) {
    if (asked.cancellation.isCancelled) closeAborted(asking);
    throw error;
  }
}

/** A provider that was asked has read the prompt, whether anybody waits for its answer or not. */
function closeAborted({ bill, course, plan }: Asking): void {
  if (!course.target) return;
  const usage = { inputTokens: plan.inputTokens, outputTokens: 0, isEstimated: true };
  bill.close({ target: course.target, usage, outcome: 'aborted' });
  course.count();
}

async function receive(asked: PreparedAsk, attempt: Attempt, asking: Asking): Promise<Received> {
  const { target, trip, cancellation } = attempt;
  const { provider } = target;
  const { upstreams, dialects, tracer, headers: book } = asking.parts;
  const dialect = dialects[provider.dialect];
  const span = startAttemptSpan(tracer, asked.span, { target, operation: 'chat' });
  try {
    const known = book.of(provider, trip.key, dialect);
    const headers = known instanceof Promise ? await known : known;
    const outgoing = withTrace(writeOutgoing(asked, { target, headers }, dialect), span);
    const whole = await fetchWhole(upstreams, outgoing, {
      cancellation,
      timeoutMs: provider.timeouts.totalMs,
    });
    requireSuccess(dialect, whole);
    const parsed = parseAnswer(provider.name, whole.bytes);
    if (passesThrough(asked, target)) {
      return { bytes: whole.bytes, parsed, usage: dialect.readUsage(parsed), answer: undefined };
    }
    const answer = dialect.readAnswer(parsed);
    return { bytes: whole.bytes, parsed, usage: answer.usage, answer };
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** What the caller gets: the provider's bytes as they are, unless the words or the face differ. */
function bodyOf(asked: PreparedAsk, received: Received, target: Target): Buffer {
  const { bytes, parsed, answer, usage } = received;
  if (answer) return writeBody(asked, wordAnswer(asked, answer), { target, usage });
  if (!asked.isAnnotated) return bytes;
  return writeBody(asked, parsed as Readonly<Record<string, unknown>>, { target, usage });
}

interface Kept {
  readonly value: Received;
  readonly body: Buffer;
  readonly target: Target;
  readonly fill: Fill;
}

/** Lets others have the answer too, if it is whole. */
function keep(asked: PreparedAsk, kept: Kept, { parts: { dialects } }: Asking): void {
  const { value, body, target, fill } = kept;
  const answer = value.answer ?? dialects[target.provider.dialect].readAnswer(value.parsed);
  if (!isWhole(answer)) return fill.abandon();
  const stored = asked.face.dialect ? body : Buffer.from(JSON.stringify({ answer }));
  fill.store(toCached(stored, target, value.usage));
}
