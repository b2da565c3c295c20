import { UpstreamError } from '../dialects/upstream-error.ts';
import { AnswerStream } from '../upstream/answer-stream.ts';
import type { PreparedAsk } from './ask.ts';
import type { Asking } from './asking.ts';
import { startAttemptSpan, withinSpan, withTrace, type Attempt } from './attempt-span.ts';
import { passesThrough, writeOutgoing } from './outgoing.ts';
import type { Continuation } from './continuation.ts';
import { Passage, type Running, type StreamEdge } from './passage.ts';

/** Asks the candidates of a plan for a stream, and passes on the first that begins. */
export async function askStream(
  asked: PreparedAsk,
  asking: Asking,
  edge: StreamEdge,
): Promise<void> {
  const { course, plan, attempts } = asking;
  const won = await attempts.run(
    plan.candidates,
    asking.attemptOptions(asked),
    (target, trip, signal) => {
      course.ask(target);
      return begin(asked, { target, trip, signal }, asking);
    },
  );
  edge.tellHead(asking.provenance(won.target));
  edge.sink.begin();
  await new Passage(asked, asking, edge.sink).run({ ...won, stream: won.value }, (continuation) =>
    askForRest(continuation, asking),
  );
}

/** Whoever begins to go on with a broken answer, within the request's deadline. */
async function askForRest(
  { asked, candidates, adapt }: Continuation,
  asking: Asking,
): Promise<Running | undefined> {
  try {
    const { value, target, trip } = await asking.attempts.run(
      candidates,
      asking.attemptOptions(asked),
      (candidate, opened, signal) => {
        asking.course.ask(candidate);
        return begin(asked, { target: candidate, trip: opened, signal }, asking);
      },
    );
    return { stream: value, target, trip, adapt };
  } catch (error) {
    if (asked.signal.aborted) throw error;
    return undefined;
  }
}

/** Opens a stream and waits for its first piece. */
async function begin(asked: PreparedAsk, attempt: Attempt, asking: Asking): Promise<AnswerStream> {
  const { target, trip, signal } = attempt;
  const { upstreams, dialects, tracer } = asking.parts;
  const { timeouts, dialect: name } = target.provider;
  const dialect = dialects[name];
  const span = startAttemptSpan(tracer, asked.span, { ...target, operation: 'chat' });
  return withinSpan(span, async () => {
    const outgoing = withTrace(
      await writeOutgoing(asked, { target, key: trip.key }, dialect),
      span,
    );
    const isRaw = passesThrough(asked, target);
    const stream = AnswerStream.open(upstreams, outgoing, { dialect, isRaw, timeouts });
    const leave = () => stream.abort(UpstreamError.of('late', 'the caller gave up'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    await stream.beginning;
    trip.started();
    return stream;
  });
}
