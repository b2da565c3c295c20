import type { ServerResponse } from 'node:http';
import { once } from 'node:events';

/** One server-sent event (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
}

const heartbeatMs = 15_000;

/**
 * A handler's answer that is sent as server-sent events. Nothing is sent before the first event is
 * there, so a source that fails at once still gives an ordinary refusal.
 */
export class EventStream {
  readonly events: AsyncIterable<ServerEvent>;

  constructor(events: AsyncIterable<ServerEvent>) {
    this.events = events;
  }
}

export interface WriteOptions {
  /** Aborted when the reader has gone or the server stops. */
  readonly signal: AbortSignal;
  /** The last event of a stream whose source failed half-way. */
  readonly eventOf: (error: unknown) => ServerEvent;
}

/** Opens the source: its first event, and the iterator that goes on from there. Rejects if it fails at once. */
export async function openEvents(stream: EventStream) {
  const iterator = stream.events[Symbol.asyncIterator]();
  return { iterator, first: await iterator.next() };
}

/**
 * Writes events to a response whose head is sent already. A slow reader slows the source down; a
 * reader that has gone ends it. Comments keep idle connections open.
 */
export async function writeEvents(
  response: ServerResponse,
  opened: Awaited<ReturnType<typeof openEvents>>,
  { signal, eventOf }: WriteOptions,
): Promise<void> {
  const { iterator } = opened;
  const heartbeat = setInterval(() => response.write(': keep-alive\n\n'), heartbeatMs);
  try {
    let result = opened.first;
    while (!result.done && !signal.aborted) {
      await write(response, formatEvent(result.value), signal);
      result = await iterator.next();
    }
  } catch (error) {
    if (!response.destroyed) response.write(formatEvent(eventOf(error)));
  } finally {
    clearInterval(heartbeat);
    response.end();
    // A source that fails or hangs while it ends must not hold the reader.
    iterator.return?.()?.catch(() => {});
  }
}

/** The wire form of an event; line breaks in the data become several `data:` lines. */
export function formatEvent({ data, id, event }: ServerEvent): string {
  const head = (event ? `event: ${event}\n` : '') + (id ? `id: ${id}\n` : '');
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return `${head}data: ${lines}\n\n`;
}

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text)) return;
  await once(response, 'drain', { signal }).catch(() => {});
}

const eventMax = 1024 * 1024;

/**
 * Reads server-sent events from bytes as they come. Throws when one event exceeds 1 MiB. Comments and
 * fields other than data, id and event are skipped.
 */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    if (rest.length > eventMax) throw new RangeError('a server-sent event exceeds 1 MiB');
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields: { data?: string; id?: string; event?: string } = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(data|id|event): ?(.*)$/.exec(line) ?? [];
    if (name === 'data')
      fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`;
    else if (name === 'id' || name === 'event') fields[name] = value;
  }
  return fields.data === undefined ? undefined : { ...fields, data: fields.data };
}
