import { failSpan } from '../../kit/trace/trace.ts';
import { WrittenJson, type WrittenBytes } from '../../kit/answers/written-json.ts';
import type { Fill } from '../cache/answer-cache.ts';
import type { Answer, Usage } from '../conversation/answer.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { parseExact } from '../dialects/exact-json.ts';
import { readHead } from '../dialects/openai/head.ts';
import { isTokenCount, recordIn } from '../dialects/untrusted.ts';
import type { Json } from '../dialects/json.ts';
import type { Target } from '../providers/provider.ts';
import { parseAnswer, requireSuccess } from '../upstream/failed-answer.ts';
import { fetchWhole } from '../upstream/whole-answer.ts';
import type { PreparedAsk } from './ask.ts';
import type { Asking } from './asking.ts';
import type { Won } from './attempts/attempts.ts';
import type { Closed } from './bill.ts';
import { startAttemptSpan, withOrigin, type Attempt } from './attempts/attempt-span.ts';
import { isWhole, toCached } from './cached-answers.ts';
import { usageOfPrompt, withPrompt } from './attempts/estimated-usage.ts';
import { billLost } from './attempts/lost-attempts.ts';
import { passesThrough, writeOutgoing } from './outgoing.ts';
import type { TellHead } from './parts.ts';
import { wordAnswer, writeBody, type From } from './wording.ts';

/** An answer that a provider gave, and what was read of it. */
interface Received {
  readonly bytes: Buffer;
  readonly parsed: unknown;
  readonly usage: Usage;
  /** Absent where the bytes pass through unread. */
  readonly answer: Answer | undefined;
  /** The answer in the words of the caller's face, where the provider's bytes are not. */
  readonly said: Json | undefined;
}

/** Asks the candidates of a plan for the whole answer at once. */
export async function askWhole(
  asked: PreparedAsk,
  asking: Asking,
  tellHead: TellHead,
): Promise<WrittenBytes> {
  const { plan, attempts, cached } = asking;
  const won = await attempts.run(plan.candidates, asking.firstAttempts(asked), {
    ask: (target, trip, cancellation) => receive(asked, { target, trip, cancellation }, asking),
    onSurplus: ({ target, value }) => asking.billSurplus(target, value.usage),
  });
  const { value, target } = won;
  const { cost, written } = close(won, asking);
  const body = bodyOf(asked, value, target);
  if (cached.fill) keep(asked, { value, body, target, fill: cached.fill }, asking);
  await written;
  tellHead(asking.provenance(target, cost));
  return new WrittenJson(body);
}

/** Writes down that the answer is complete, and what it took. */
function close({ value, target, trip }: Won<Received>, { bill, course, parts }: Asking): Closed {
  const { usage } = value;
  trip.succeeded(usage.outputTokens);
  parts.metrics.attempted(target.provider.name, 'success');
  const closed = bill.close({ target, usage, outcome: 'complete' });
  course.count();
  return closed;
}

async function receive(asked: PreparedAsk, attempt: Attempt, asking: Asking): Promise<Received> {
  const { target, trip, cancellation } = attempt;
  const { provider } = target;
  const { upstreams, dialects, tracer, headers: book } = asking.parts;
  asking.course.ask(target);
  const dialect = dialects[provider.dialect];
  const known = book.of(provider, trip.key, dialect);
  const { headers, secrets } = known instanceof Promise ? await known : known;
  const span = startAttemptSpan(tracer, asked.span, { target, operation: 'chat' });
  let isSent = false;
  let parsed: unknown;
  try {
    const { payer } = asked;
    const written = writeOutgoing(asked, { target, headers }, dialect);
    const outgoing = withOrigin(written, { span, payer });
    const whole = await fetchWhole(upstreams, outgoing, {
      cancellation,
      timeoutMs: provider.timeouts.totalMs,
      onSent: () => {
        isSent = true;
      },
    });
    asking.parts.remoteLimits.note(provider, whole.headers);
    requireSuccess(dialect, whole);
    const passes = passesThrough(asked, target);
    const parse = passes && !asked.isAnnotated ? JSON.parse : parseExact;
    parsed = parseAnswer(provider.name, whole.bytes, parse);
    if (passes) {
      const usage = withPrompt(dialect.readUsage(parsed), asking.plan.inputTokens);
      return { bytes: whole.bytes, parsed, usage, answer: undefined, said: undefined };
    }
    const read = dialect.readAnswer(parsed);
    const model = read.model || target.model.name;
    const answer = { ...read, model, usage: withPrompt(read.usage, asking.plan.inputTokens) };
    // Here, where somebody else can still be asked when it cannot be worded.
    const said = wordAnswer(asked, answer);
    return { bytes: whole.bytes, parsed, usage: answer.usage, answer, said };
  } catch (error) {
    const usage = usageOfPrompt(asking.plan.inputTokens, countedIn(parsed, dialect));
    if (isSent) billLost(asking, asked.cancellation, { attempt, error, usage });
    const shown = secrets.hideIn(error);
    failSpan(span, shown);
    throw shown;
  } finally {
    span.end();
  }
}

/** What an answer that is no good took, where it says so all the same. */
function countedIn(parsed: unknown, dialect: Dialect): Usage | undefined {
  try {
    return parsed === undefined ? undefined : dialect.readUsage(parsed);
  } catch {
    return undefined;
  }
}

/** What the caller gets: the provider's bytes as they are, unless the words or the face differ. */
function bodyOf(asked: PreparedAsk, received: Received, target: Target): Buffer {
  const { bytes, parsed, said, usage } = received;
  if (said) return writeBody(asked, said, { target, usage });
  if (!asked.isAnnotated) return bytes;
  return writeBody(asked, completed(parsed as Json, { target, usage }), { target, usage });
}

/** The interface's answer always says what it is and its tokens, whatever its provider leaves out. */
function completed(said: Json, { target, usage }: From): Json {
  const { id, model, createdAt } = readHead(said);
  return {
    ...said,
    id,
    object: 'chat.completion',
    created: createdAt,
    model: model || target.model.name,
    usage: withCounts(recordIn(said['usage']), usage),
  };
}

function withCounts(given: Json, { inputTokens, outputTokens }: Usage): Json {
  const { prompt_tokens: prompt, completion_tokens: written, total_tokens: total } = given;
  if ([prompt, written, total].every(isTokenCount)) return given;
  return {
    ...given,
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

interface Kept {
  readonly value: Received;
  readonly body: Buffer;
  readonly target: Target;
  readonly fill: Fill;
}

/** What passed through, in our words; undefined where they have none for it, such as for pictures. */
function readable({ parsed }: Received, dialect: Dialect): Answer | undefined {
  try {
    return dialect.readAnswer(parsed);
  } catch {
    return undefined;
  }
}

/** Lets others have the answer too, if it is whole. */
function keep(asked: PreparedAsk, kept: Kept, { parts }: Asking): void {
  const { value, body, target, fill } = kept;
  const answer = value.answer ?? readable(value, parts.dialects[target.provider.dialect]);
  if (!answer || !isWhole(answer)) return fill.decline();
  const stored = asked.face.dialect ? body : Buffer.from(JSON.stringify({ answer }));
  fill.store(toCached(stored, { target, usage: value.usage }, parts.sources));
}
