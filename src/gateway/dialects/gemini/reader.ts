import type { ServerEvent } from '../../../kit/answers/sse.ts';
import type { AnswerEvent } from '../../conversation/answer.ts';
import type { AssistantPart } from '../../conversation/request.ts';
import type { AnswerReader } from '../dialect.ts';
import { listIn, parsePiece, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { expectResponse, isCounted, readFinish, readHead, readParts, readUsage } from './answer.ts';

/**
 * Reads the pieces of a streamed answer, of which there is one. Nothing follows the piece that says
 * why the answer ended, so that is the end; a stream without one was cut off.
 */
export class ContentReader implements AnswerReader {
  #calls = 0;
  #hasStarted = false;
  #hasEnded = false;

  read({ data }: ServerEvent): readonly AnswerEvent[] {
    const response = expectResponse(parsePiece(data, 'functionCall'));
    if (this.#hasEnded) return usageOf(response);
    const events: AnswerEvent[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      events.push({ type: 'start', ...readHead(response) });
    }
    const candidate = recordIn(listIn(response.candidates)[0]);
    for (const part of readParts(candidate)) events.push(this.#eventOf(part));
    const reason = textIn(candidate.finishReason);
    if (reason !== undefined) events.push(this.#finish(reason));
    events.push(...usageOf(response));
    if (reason !== undefined) events.push({ type: 'end' });
    return events;
  }

  #finish(reason: string): AnswerEvent {
    this.#hasEnded = true;
    return { type: 'finish', choice: 0, finish: readFinish(reason, this.#calls > 0) };
  }

  #eventOf(part: AssistantPart): AnswerEvent {
    if (part.type !== 'tool-call') return { choice: 0, ...part };
    const { id, name, signature } = part;
    const call = this.#calls;
    this.#calls += 1;
    return {
      type: 'tool-call',
      choice: 0,
      call,
      id,
      name,
      arguments: part.arguments,
      ...(signature === undefined ? {} : { signature }),
    };
  }
}

function usageOf(response: Json): AnswerEvent[] {
  if (!isCounted(response)) return [];
  return [{ type: 'usage', usage: readUsage(response) }];
}
