import type { ServerEvent } from '../../../kit/answers/sse.ts';
import type { AnswerEvent } from '../../conversation/answer.ts';
import type { AssistantPart } from '../../conversation/request.ts';
import type { AnswerReader } from '../dialect.ts';
import { parsePiece } from '../untrusted.ts';
import {
  expectResponse,
  isCounted,
  readFinish,
  readHead,
  readMessage,
  readUsage,
} from './answer.ts';

/** Reads the lines of a streamed answer; the one that is `done` is its end. */
export class LineReader implements AnswerReader {
  #calls = 0;
  #hasStarted = false;

  read({ data }: ServerEvent): readonly AnswerEvent[] {
    const line = expectResponse(parsePiece(data, 'tool_calls'));
    const events: AnswerEvent[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      events.push({ type: 'start', ...readHead(line) });
    }
    for (const part of readMessage(line)) events.push(this.#eventOf(part));
    if (line.done !== true) return events;
    const finish = readFinish(line, this.#calls > 0);
    events.push({ type: 'finish', choice: 0, finish });
    if (isCounted(line)) events.push({ type: 'usage', usage: readUsage(line) });
    events.push({ type: 'end' });
    return events;
  }

  #eventOf(part: AssistantPart): AnswerEvent {
    if (part.type !== 'tool-call') return { choice: 0, ...part };
    const call = this.#calls;
    this.#calls += 1;
    const { id, name } = part;
    return { type: 'tool-call', choice: 0, call, id, name, arguments: part.arguments };
  }
}
