import type { AssistantPart } from '../conversation/request.ts';

/**
 * The names of the tools that were called, for dialects whose results say them: a result knows only the
 * id of its call. Calls of one turn that share an id are answered in their order.
 */
export class CallNames {
  readonly #names = new Map<string, string[]>();

  /** Takes in the calls of a turn; the same ids of earlier turns mean these from now on. */
  note(turn: readonly AssistantPart[]): void {
    const called = new Map<string, string[]>();
    for (const part of turn) {
      if (part.type !== 'tool-call') continue;
      const { id, name } = part;
      called.set(id, [...(called.get(id) ?? []), name]);
    }
    for (const [id, names] of called) this.#names.set(id, names);
  }

  /** The name of the call that the next result with this id answers; the id where nobody called. */
  take(callId: string): string {
    const names = this.#names.get(callId) ?? [];
    const [first = callId] = names;
    // The last one stays: a result that comes again is of the same call.
    if (names.length > 1) names.shift();
    return first;
  }
}
