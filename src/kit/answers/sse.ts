import type { ServerResponse } from 'node:http';
import { writeSource, type OpenedSource } from './streamed-answer.ts';

/** One server-sent event (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
}

const heartbeatMs = 15_000;

/**
 * A handler's answer that is sent as server-sent events. Nothing is sent before the first event is
 * there, so a source that fails at once still gives an ordinary refusal; `isLive`: the head is sent at
 * once, as its reader waits for what is yet to happen.
 */
export class EventStream {
  readonly events: AsyncIterable<ServerEvent>;
  readonly isLive: boolean;

  constructor(events: AsyncIterable<ServerEvent>, { isLive = false } = {}) {
    this.events = events;
    this.isLive = isLive;
  }
}

export interface WriteOptions {
  /** Aborted when the reader has gone or the server stops. */
  readonly signal: AbortSignal;
  /** The last event of a stream whose source failed half-way. */
  readonly eventOf: (error: unknown) => ServerEvent;
}

/** Writes events as `writeSource` does; comments keep idle connections open. */
export async function writeEvents(
  response: ServerResponse,
  opened: OpenedSource<ServerEvent>,
  { signal, eventOf }: WriteOptions,
): Promise<void> {
  const heartbeat = setInterval(() => response.write(': keep-alive\n\n'), heartbeatMs);
  const formatFailure = (error: unknown) => formatEvent(eventOf(error));
  try {
    await writeSource(response, opened, { signal, format: formatEvent, formatFailure });
  } finally {
    clearInterval(heartbeat);
  }
}

/** The wire form of an event; line breaks in the data become several `data:` lines. */
export function formatEvent({ data, id, event }: ServerEvent): string {
  const head = (event ? `event: ${event}\n` : '') + (id ? `id: ${id}\n` : '');
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return `${head}data: ${lines}\n\n`;
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

/** The events of a text that ends with a whole one. */
export function parseEvents(text: string): ServerEvent[] {
  const events: ServerEvent[] = [];
  for (const block of text.split(/(?:\r\n|\n|\r(?!\n)){2}/)) {
    const event = parseEvent(block);
    if (event) events.push(event);
  }
  return events;
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields: { data?: string; id?: string; event?: string } = {};
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^(data|id|event): ?(.*)$/s.exec(line) ?? [];
    if (name === 'data')
      fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`;
    else if (name === 'id' || name === 'event') fields[name] = value;
  }
  return fields.data === undefined ? undefined : { ...fields, data: fields.data };
}
