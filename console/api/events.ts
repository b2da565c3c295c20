import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream';
import type { InputOf, Operation, ServiceName } from './contracts.ts';
import { requestOf, type CallOptions } from './call.ts';
import { send } from './send.ts';

/** Reads an operation's answer as server-sent events; ends with the stream or the signal. */
export async function* readEvents<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  input: InputOf<S, O> & CallOptions,
): AsyncGenerator<EventSourceMessage> {
  const headers = { accept: 'text/event-stream', ...input.headers };
  const { body } = await send(requestOf(service, operation, { ...input, headers }));
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
