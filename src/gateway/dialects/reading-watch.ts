import type { ServerEvent } from '../../kit/answers/sse.ts';
import type { AnswerEvent, Usage } from '../conversation/answer.ts';
import type { AnswerReader, Dialect, StreamWatch } from './dialect.ts';

const firstPieces: ReadonlySet<AnswerEvent['type']> = new Set([
  'text',
  'refusal',
  'reasoning',
  'tool-call',
  'finish',
]);

/** A watch that reads every event; for dialects whose streams hardly ever pass through. */
export class ReadingWatch implements StreamWatch {
  readonly #reader: AnswerReader;
  readonly #framing: Dialect['framing'];
  #isStarted = false;
  #isEnded = false;
  #usage: Usage | undefined;

  constructor(reader: AnswerReader, framing: Dialect['framing']) {
    this.#reader = reader;
    this.#framing = framing;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isComplete(): boolean {
    return this.#isEnded;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  see(events: Buffer): void {
    const text = events.toString();
    const pieces = this.#framing === 'events' ? eventsIn(text) : linesIn(text);
    for (const piece of pieces) {
      for (const event of this.#reader.read(piece)) this.#note(event);
    }
  }

  #note(event: AnswerEvent): void {
    if (firstPieces.has(event.type)) this.#isStarted = true;
    if (event.type === 'end') this.#isEnded = true;
    if (event.type === 'usage') this.#usage = event.usage;
  }
}

/** The data of whole server-sent events; comments and other fields are skipped. */
export function eventsIn(text: string): ServerEvent[] {
  const found: ServerEvent[] = [];
  for (const block of text.split(/\r\n\r\n|\n\n|\r\r/)) {
    const data = block
      .split(/\r\n|\n|\r/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(line.startsWith('data: ') ? 6 : 5));
    if (data.length > 0) found.push({ data: data.join('\n') });
  }
  return found;
}

function linesIn(text: string): ServerEvent[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((data) => ({ data }));
}
