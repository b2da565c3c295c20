import { failSpan } from '../../../kit/trace/trace.ts';
import { AnswerStream } from '../../upstream/answer-stream.ts';
import type { AnswerHeaders } from '../../upstream/upstreams.ts';
import type { PreparedAsk } from '../ask.ts';
import type { Asking } from '../asking.ts';
import type { Quest } from '../attempts/attempts.ts';
import { startAttemptSpan, withOrigin, type Attempt } from '../attempts/attempt-span.ts';
import { passesThrough, writeOutgoing } from '../outgoing.ts';
import type { Continuation } from './continuation.ts';
import { usageOfPrompt } from '../attempts/estimated-usage.ts';
import { billLost } from '../attempts/lost-attempts.ts';
import { Passage, type Running, type StreamEdge } from './passage.ts';

/** Asks the candidates of a plan for a stream, and passes on the first that begins. */
export async function askStream(
  asked: PreparedAsk,
  asking: Asking,
  edge: StreamEdge,
): Promise<void> {
  const { plan, attempts } = asking;
  const quest = questFor(asked, asking);
  const won = await attempts.run(plan.candidates, asking.firstAttempts(asked), quest);
  edge.tellHead(asking.provenance(won.target));
  edge.sink.begin();
  const { value: stream, target, trip } = won;
  await new Passage(asked, asking, edge.sink).run({ stream, target, trip }, (continuation) =>
    askForRest(continuation, asking),
  );
}

/** Whoever begins to go on with a broken answer, within the request's deadline. */
async function askForRest(
  { asked, candidates, rest }: Continuation,
  asking: Asking,
): Promise<Running | undefined> {
  try {
    const options = asking.attemptOptions(asked);
    const won = await asking.attempts.run(candidates, options, questFor(asked, asking));
    const { value, target, trip } = won;
    return { stream: value, target, trip, rest };
  } catch (error) {
    if (asked.cancellation.isCancelled) throw error;
    return undefined;
  }
}

function questFor(asked: PreparedAsk, asking: Asking): Quest<AnswerStream> {
  return {
    ask: (target, trip, cancellation) => {
      asking.course.ask(target);
      return begin(asked, { target, trip, cancellation }, asking);
    },
    onSurplus: ({ target, value }) => asking.billSurplus(target, value.usage),
  };
}

/** Opens a stream and waits for its first piece. */
async function begin(asked: PreparedAsk, attempt: Attempt, asking: Asking): Promise<AnswerStream> {
  const { target, trip, cancellation } = attempt;
  const { provider } = target;
  const { upstreams, dialects, tracer, headers: book } = asking.parts;
  const dialect = dialects[provider.dialect];
  const known = book.of(provider, trip.key, dialect);
  const { headers, secrets } = known instanceof Promise ? await known : known;
  const span = startAttemptSpan(tracer, asked.span, { target, operation: 'chat' });
  let stream: AnswerStream | undefined;
  try {
    const { payer } = asked;
    const written = writeOutgoing(asked, { target, headers }, dialect);
    const outgoing = withOrigin(written, { span, payer });
    const isRaw = passesThrough(asked, target);
    const { timeouts } = provider;
    const onHead = (head: AnswerHeaders) => asking.parts.remoteLimits.note(provider, head);
    const options = { dialect, isRaw, timeouts, secrets, onHead };
    stream = AnswerStream.open(upstreams, outgoing, options);
    stream.abortWith(cancellation);
    await stream.beginning;
    trip.started();
    return stream;
  } catch (error) {
    if (stream?.isSent) {
      const usage = usageOfPrompt(asking.plan.inputTokens, stream.usage);
      billLost(asking, asked.cancellation, { attempt, error, usage });
    }
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}
