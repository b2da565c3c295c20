import { newId } from '../../../kit/ids.ts';
import { isJsonObject } from '../../../kit/json-object.ts';
import type { ToolCall } from '../request.ts';
import type { CallDelta } from './openai-schemas.ts';

interface Draft {
  id: string | undefined;
  name: string;
  fields: string;
}

/** Puts calls together that OpenAI's streams deliver in pieces. */
export class CallCollector {
  readonly #drafts = new Map<number, Draft>();

  add({ index = 0, id, function: part }: CallDelta): void {
    const draft = this.#drafts.get(index) ?? { id: undefined, name: '', fields: '' };
    this.#drafts.set(index, draft);
    draft.id ??= id ?? undefined;
    draft.name += part?.name ?? '';
    draft.fields += part?.arguments ?? '';
  }

  /** All calls, whole; throws SyntaxError when the arguments of one are no JSON object. */
  take(): ToolCall[] {
    const drafts = [...this.#drafts].toSorted(([a], [b]) => a - b);
    this.#drafts.clear();
    return drafts.map(([, { id, name, fields }]) => ({
      id: id ?? newId('call'),
      name,
      arguments: parseFields(fields),
    }));
  }
}

function parseFields(text: string): Readonly<Record<string, unknown>> {
  const fields: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (isJsonObject(fields)) return fields;
  throw new SyntaxError('the arguments of a call are no object');
}
