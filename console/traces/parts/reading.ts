import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { requestOf } from '../../api/call.ts';
import type { Answer, InputOf, Operation } from '../../api/contracts.ts';
import { send } from '../../api/send.ts';
import type { AnswerOptions } from '../../api/answers.ts';

type Reading = Operation<'tracer'>;

/** Asks the tracer without leaving a trace: to look at traces must not make more of them. */
export async function ask<O extends Reading>(
  operation: O,
  input: InputOf<'tracer', O> = {},
): Promise<Response> {
  const plain = requestOf('tracer', operation, input);
  const headers = new Headers(plain.headers);
  headers.set('traceparent', unsampledParent());
  return send(new Request(plain, { headers }));
}

/** What the tracer answers, and no trace of it. */
export async function read<O extends Reading>(
  operation: O,
  input: InputOf<'tracer', O> = {},
): Promise<Answer<'tracer', O>> {
  const response = await ask(operation, input);
  // The tracer answers by its contract.
  return (await response.json()) as Answer<'tracer', O>;
}

/** As `useAnswer`, but leaves no trace. */
export function useReading<O extends Reading>(
  operation: O,
  { everyMs, isEnabled = true, ...input }: InputOf<'tracer', O> & AnswerOptions = {},
): UseQueryResult<Answer<'tracer', O>> {
  return useQuery({
    queryKey: ['tracer', operation, input],
    queryFn: () => read(operation, input as InputOf<'tracer', O>),
    enabled: isEnabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

/** A parent of W3C's trace context whose last flag says that nobody records it. */
function unsampledParent(): string {
  return `00-${randomHex(16)}-${randomHex(8)}-00`;
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return [...random].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
