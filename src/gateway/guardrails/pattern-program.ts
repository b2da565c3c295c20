import { parsePattern, type EdgeKind, type Pattern } from '../../kit/pattern-syntax.ts';

/** Whether a place of a pattern stands for a character. */
type Acceptor = (character: string) => boolean;

/** One step of a program that looks for several patterns at once (Thompson, 1968). */
export type Step =
  | { readonly op: 'character'; readonly accepts: Acceptor }
  | { readonly op: 'split'; readonly to: number[] }
  | { readonly op: 'edge'; readonly edge: EdgeKind }
  | { readonly op: 'found'; readonly pattern: number };

const stepsMax = 20_000;

/** Thrown when patterns repeat so much that the program becomes too long. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/** The program that finds any of the patterns; it starts at step 0. Throws `SyntaxError`. */
export function compilePatterns(patterns: readonly string[]): readonly Step[] {
  const compiler = new Compiler();
  const start: number[] = [];
  compiler.add({ op: 'split', to: start });
  for (const [at, pattern] of patterns.entries()) {
    start.push(compiler.next);
    compiler.emit(parsePattern(pattern));
    compiler.add({ op: 'found', pattern: at });
  }
  return compiler.steps;
}

/** Upper and lower case are alike. At most one character is looked at, whatever the set is. */
function createAcceptor(source: string): Acceptor {
  const expression = new RegExp(`^(?:${source})$`, 'isu');
  return (character) => expression.test(character);
}

class Compiler {
  readonly steps: Step[] = [];
  /** By what they accept, as it is written: a repetition is many steps with one of them. */
  readonly #acceptors = new Map<string, Acceptor>();

  get next(): number {
    return this.steps.length;
  }

  add(step: Step): void {
    if (this.steps.length >= stepsMax) throw new TooLongError('the patterns repeat too much');
    this.steps.push(step);
  }

  emit(pattern: Pattern): void {
    switch (pattern.kind) {
      case 'character':
        return this.add({ op: 'character', accepts: this.#acceptorOf(pattern.source) });
      case 'edge':
        return this.add({ op: 'edge', edge: pattern.edge });
      case 'sequence':
        for (const item of pattern.items) this.emit(item);
        return;
      case 'choice':
        return this.#emitChoice(pattern.items);
      case 'repetition':
        return this.#emitRepetition(pattern);
    }
  }

  #acceptorOf(source: string): Acceptor {
    const acceptor = this.#acceptors.get(source) ?? createAcceptor(source);
    this.#acceptors.set(source, acceptor);
    return acceptor;
  }

  #emitChoice(items: readonly Pattern[]): void {
    const branches: number[] = [];
    const ends: number[][] = [];
    this.add({ op: 'split', to: branches });
    for (const item of items) {
      branches.push(this.next);
      this.emit(item);
      ends.push(this.#addJump());
    }
    for (const end of ends) end.push(this.next);
  }

  #emitRepetition({ item, min, max }: Pattern & { readonly kind: 'repetition' }): void {
    for (let times = 0; times < min; times += 1) this.emit(item);
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.next;
      const ways = this.#addJump();
      ways.push(this.next);
      this.emit(item);
      this.#addJump().push(loop);
      ways.push(this.next);
      return;
    }
    const exits: number[][] = [];
    for (let times = min; times < max; times += 1) {
      const ways = this.#addJump();
      ways.push(this.next);
      exits.push(ways);
      this.emit(item);
    }
    for (const exit of exits) exit.push(this.next);
  }

  #addJump(): number[] {
    const to: number[] = [];
    this.add({ op: 'split', to });
    return to;
  }
}
