import { Fault } from '../../../kit/errors.ts';

export interface CallOpening {
  /** What shows that a call begins. */
  readonly trigger: string;
  /** What stands between the trigger and the name. */
  readonly beforeName: string;
}

/** How a model writes calls: opening, name, `afterName`, arguments, `ending`. */
export interface CallSyntax {
  readonly first: CallOpening;
  /** Of a call behind another one, and what stands before it; undefined when one call is all. */
  readonly next: (CallOpening & { readonly between: string }) | undefined;
  /** The trigger is no mark: it is text until the name of a tool stands behind it. */
  readonly isOrdinaryText?: boolean;
  readonly names: readonly string[];
  readonly afterName: (name: string) => string;
  readonly ending: (name: string) => string;
}

export interface ReadCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Reading {
  /** What is no part of a call, and certain. */
  readonly text: string;
  readonly call: ReadCall | undefined;
}

/** What may follow in an open call: one of these texts, the arguments of that tool, and an ending. */
export interface Continuation {
  readonly text: string;
  readonly name: string;
  readonly ending: string;
}

type State = 'text' | 'call' | 'after' | 'done';

/** Tells calls from text as it arrives, so that no piece of a call comes out as text. */
export class CallReader {
  readonly #syntax: CallSyntax;
  #state: State;
  #opening: CallOpening;
  #buffer = '';
  #lastName = '';

  /** `isInCall`: all up to the first name stands in the prompt already. */
  constructor(syntax: CallSyntax, isInCall: boolean) {
    this.#syntax = syntax;
    this.#opening = syntax.first;
    this.#state = isInCall ? 'call' : 'text';
    if (isInCall) this.#buffer = syntax.first.beforeName;
  }

  /** Whether nothing that follows is a part of the answer. */
  get isDone(): boolean {
    return this.#state === 'done';
  }

  get isInCall(): boolean {
    return this.#state === 'call';
  }

  /** How an open call may go on; empty when its arguments have begun, or when none is open. */
  get continuations(): readonly Continuation[] {
    if (this.#state !== 'call') return [];
    return this.#literals()
      .filter(({ text }) => text.startsWith(this.#buffer))
      .map((one) => ({ ...one, text: one.text.slice(this.#buffer.length) }));
  }

  /** At most one call comes out at a time; push '' until none does. Fault `upstream`: unreadable. */
  push(text: string): Reading {
    this.#buffer += text;
    if (this.#state === 'text') return this.#readText();
    if (this.#state === 'after') this.#readAfter();
    return { text: '', call: this.isInCall ? this.#readCall() : undefined };
  }

  /** The text that was held back because it might have become a call. */
  finish(): string {
    return this.#state === 'text' ? this.#buffer : '';
  }

  #readText(): Reading {
    const { trigger } = this.#opening;
    const index = this.#buffer.indexOf(trigger);
    if (index < 0) {
      const length = this.#buffer.length - undecidedLength(this.#buffer, trigger);
      return { text: this.#take(length), call: undefined };
    }
    const rest = this.#buffer.slice(index + trigger.length);
    if (!this.#isCall(rest)) {
      // Held back for as long as it may still become the name of a tool.
      const isUndecided = this.#literals().some((literal) => literal.text.startsWith(rest));
      if (isUndecided) return { text: this.#take(index), call: undefined };
      const skipped = this.#take(index + trigger.length);
      const { text, call } = this.#readText();
      return { text: skipped + text, call };
    }
    const text = this.#take(index);
    this.#take(trigger.length);
    this.#state = 'call';
    return { text, call: this.#readCall() };
  }

  #isCall(rest: string): boolean {
    const { isOrdinaryText = false, names } = this.#syntax;
    const { beforeName } = this.#opening;
    return !isOrdinaryText || names.some((name) => rest.startsWith(`${beforeName}${name}"`));
  }

  #readCall(): ReadCall | undefined {
    const literals = this.#literals();
    const begun = literals.find((literal) => this.#buffer.startsWith(literal.text));
    if (!begun) {
      if (literals.some(({ text }) => text.startsWith(this.#buffer))) return undefined;
      throw unreadable();
    }
    const end = findObjectEnd(this.#buffer, begun.text.length);
    if (end === undefined) return undefined;
    const call = { name: begun.name, arguments: parseObject(this.#buffer, begun.text.length, end) };
    this.#take(end);
    this.#lastName = begun.name;
    this.#state = this.#syntax.next ? 'after' : 'done';
    return call;
  }

  /** Only another call may follow a call: what a model adds is invented, the tool has not answered. */
  #readAfter(): void {
    const { next, ending } = this.#syntax;
    if (!next) return;
    const { between, trigger } = (this.#opening = next);
    const expected = squeeze(ending(this.#lastName) + between + trigger);
    const index = this.#buffer.indexOf(trigger);
    const upTo = index < 0 ? this.#buffer : this.#buffer.slice(0, index + trigger.length);
    if (!expected.startsWith(squeeze(upTo))) this.#state = 'done';
    else if (index >= 0) {
      this.#take(index + trigger.length);
      this.#state = 'call';
    }
  }

  #literals(): Continuation[] {
    const { names, afterName, ending } = this.#syntax;
    const { beforeName } = this.#opening;
    return names.map((name) => ({
      name,
      text: beforeName + name + afterName(name),
      ending: ending(name),
    }));
  }

  #take(length: number): string {
    const taken = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    return taken;
  }
}

/** Models are free in the white space between calls. */
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Length of the longest end of the text that the trigger may begin with. */
function undecidedLength(text: string, trigger: string): number {
  for (let length = Math.min(trigger.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(trigger.slice(0, length))) return length;
  }
  return 0;
}

/** The index behind the object that begins here; undefined while it is open. */
function findObjectEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text.charAt(i);
    if (isInString && character === '\\') i++;
    else if (character === '"') isInString = !isInString;
    if (isInString) continue;
    depth += depthChange(character);
    if (depth === 0 && character === '}') return i + 1;
    if (depth <= 0 && character.trim() !== '') throw unreadable();
  }
  return undefined;
}

function depthChange(character: string): number {
  if (character === '{' || character === '[') return 1;
  return character === '}' || character === ']' ? -1 : 0;
}

function parseObject(text: string, start: number, end: number): ReadCall['arguments'] {
  const parsed = parseJson(text.slice(start, end));
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw unreadable();
  return { ...parsed };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause?: unknown): Fault {
  const reason = 'unreadable_tool_call';
  return new Fault('upstream', 'the model wrote a tool call that cannot be read', {
    reason,
    cause,
  });
}
