import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';
import type { InputOf, Operation, ServiceName } from './contracts.ts';
import { requestOf } from './call.ts';
import { send } from './send.ts';

/** Reads an operation's answer as server-sent events; ends with the stream or the signal. */
export async function* readEvents<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  { signal, ...input }: InputOf<S, O> & { readonly signal?: AbortSignal },
): AsyncGenerator<EventSourceMessage> {
  const plain = requestOf(service, operation, input as InputOf<S, O>);
  const request = new Request(plain, {
    headers: { ...Object.fromEntries(plain.headers), accept: 'text/event-stream' },
    ...(signal ? { signal } : {}),
  });
  const { body } = await send(request);
  if (!body) return;
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** A socket of a service, with the session. The caller closes it. */
export function openSocket(service: ServiceName, path: string): WebSocket {
  const { protocol, host } = window.location;
  return new WebSocket(
    `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/services/${service}${path}`,
  );
}
