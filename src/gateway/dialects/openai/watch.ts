import type { Usage } from '../../conversation/answer.ts';
import type { StreamWatch } from '../dialect.ts';
import { finishOf } from './finish.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';
import { parseChunk, refuseErrorEvent } from './reader.ts';
import { thoughtsIn } from './reasoning.ts';
import { usageIn } from './usage.ts';

/**
 * What may matter once an answer has begun: an error, an end, token counts, and any line of data
 * that does not start a JSON object. Inside a JSON text a quote is escaped, so an answer that speaks
 * of `"usage":{` does not match.
 */
const telling = /"(?:error"|usage"\s*:\s*\{|finish_reason"\s*:\s*")|^(?:event|data:(?! ?\{))/m;

/** Watches a stream of chat completion chunks; after the start it parses only what may matter. */
export class OpenAiWatch implements StreamWatch {
  readonly #unfinished = new Set<number>();
  readonly #finished = new Set<number>();
  isStarted = false;
  isEnded = false;
  usage: Usage | undefined;

  get isComplete(): boolean {
    return this.#finished.size > 0 && this.#unfinished.size === 0;
  }

  see(events: Buffer): void {
    if (this.#mayPass && !telling.test(events.toString('latin1'))) return;
    let event: string | undefined;
    let data = '';
    for (const line of events.toString().split(/\r\n|\n|\r/)) {
      if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) data += `${line.slice(5)}\n`;
      else if (line === '') {
        if (data !== '') this.#seeEvent(data, event);
        event = undefined;
        data = '';
      }
    }
    if (data !== '') this.#seeEvent(data, event);
  }

  /** Once a choice has ended everything is read, since another choice may only begin now. */
  get #mayPass(): boolean {
    return this.isStarted && this.#finished.size === 0;
  }

  #seeEvent(data: string, event: string | undefined): void {
    const isDull =
      this.#mayPass && event === undefined && /^ ?\{/.test(data) && !telling.test(data);
    if (!isDull) this.#seeData(data, event);
  }

  #seeData(data: string, event: string | undefined): void {
    const chunk = parseChunk(data);
    if (!chunk) {
      if (data.trim() !== '') this.isEnded = true;
      return;
    }
    refuseErrorEvent(event, chunk);
    for (const choice of listIn(chunk['choices'])) if (isRecord(choice)) this.#seeChoice(choice);
    this.usage = usageIn(chunk) ?? this.usage;
  }

  #seeChoice(choice: Json): void {
    const index = countIn(choice['index']) ?? 0;
    const reason = textIn(choice['finish_reason']);
    if (reason !== undefined) {
      finishOf(reason, false);
      this.#unfinished.delete(index);
      this.#finished.add(index);
    } else if (!this.#finished.has(index)) this.#unfinished.add(index);
    if (!this.isStarted) this.isStarted = reason !== undefined || saysSomething(choice);
  }
}

function saysSomething(choice: Json): boolean {
  const delta = recordIn(choice['delta'] ?? choice['message']);
  const { content } = delta;
  return (
    textIn(content) !== undefined ||
    listIn(content).length > 0 ||
    textIn(delta['refusal']) !== undefined ||
    listIn(delta['tool_calls']).length > 0 ||
    thoughtsIn(delta).length > 0
  );
}
