import type { Answer, AnswerEvent, Choice } from './answer.ts';
import type { AssistantPart } from './request.ts';

/** The pieces of a whole answer, as a stream of it would have had them; text comes in a few. */
export function replayAnswer({ id, model, createdAt, choices, usage }: Answer): AnswerEvent[] {
  const events: AnswerEvent[] = [{ type: 'start', id, model, createdAt }];
  for (const choice of choices) replayChoice(choice, events);
  events.push({ type: 'usage', usage }, { type: 'end' });
  return events;
}

function replayChoice(choice: Choice, events: AnswerEvent[]): void {
  let calls = 0;
  if (choice.logprobs !== undefined) {
    events.push({ type: 'text', choice: choice.index, text: '', logprobs: choice.logprobs });
  }
  for (const part of choice.parts) {
    events.push(...piecesOf(part, { choice: choice.index, call: calls }));
    if (part.type === 'tool-call') calls += 1;
  }
  events.push({
    type: 'finish',
    choice: choice.index,
    finish: choice.finish,
    ...(choice.stopSequence !== undefined && { stopSequence: choice.stopSequence }),
  });
}

function piecesOf(
  part: AssistantPart,
  { choice, call }: { readonly choice: number; readonly call: number },
): AnswerEvent[] {
  if (part.type === 'text' || part.type === 'refusal') {
    const pieces: AnswerEvent[] = cut(part.text).map((text) => ({ type: part.type, choice, text }));
    if (part.type === 'text' && part.citations) {
      pieces.push({ type: 'text', choice, text: '', citations: part.citations });
    }
    return pieces;
  }
  if (part.type === 'reasoning') return [{ ...part, choice }];
  const { id, name, signature } = part;
  const said = signature === undefined ? undefined : { signature };
  return [
    { type: 'tool-call', choice, call, id, name, arguments: '', ...said },
    { type: 'tool-call', choice, call, arguments: part.arguments },
  ];
}

const pieceCharsMin = 48;
const piecesMax = 8;

/** Cuts before a space, so that neither a word nor a character of two units is torn. */
function cut(text: string): string[] {
  const size = Math.max(pieceCharsMin, Math.ceil(text.length / piecesMax));
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    const space = text.indexOf(' ', start + size);
    const end = space < 0 ? text.length : space;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
