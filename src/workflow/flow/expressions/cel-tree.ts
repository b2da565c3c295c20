import type { ASTNode } from '@marcbachmann/cel-js';
import { Fault } from '../../../kit/errors.ts';
import { loopAlias, matchesAlias, type Insertion } from './cel-text.ts';
import { compilePattern } from './patterns.ts';
import type { PathStep, ReferenceList } from './references.ts';

/** Marks where a condition says how much it has gone through. */
export const counterName = 'co_unt';

const macroNames = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const typeNames = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'dyn',
  'cel',
  'optional',
  'google',
]);
/** What ends the rounds at once where an error would not: these two go on behind one. */
const stops: Readonly<Record<string, string>> = { all: 'false', exists: 'true' };
const arithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);
const depthMax = 3;
const additionsMax = 32;

/** Names that CEL itself has, so that a node of that name is `nodes["…"]` only. */
export function isCelName(name: string): boolean {
  return typeNames.has(name);
}

/** Whether it reckons, so that it can be no yes or no. */
export function isArithmetic({ op }: ASTNode): boolean {
  return arithmetic.has(op);
}

/**
 * Walks a parsed condition: notes what it reads, and where its rounds are to be counted. Fault
 * `invalid` (`bad_expression`) for what could grow without bound.
 */
export class CelWalk {
  readonly insertions: Insertion[] = [];
  readonly #references: ReferenceList;
  readonly #text: string;
  #additions = 0;

  constructor(text: string, references: ReferenceList) {
    this.#text = text;
    this.#references = references;
  }

  visit(node: ASTNode, locals: ReadonlySet<string> = new Set(), depth = 0): void {
    if (node.op === 'id') return this.#addPath(node.args, [], locals);
    if (node.op === '.' || node.op === '[]') return this.#visitAccess(node, locals, depth);
    if (node.op === 'rcall') return this.#visitMethod(node, locals, depth);
    if (node.op === 'call') return this.#visitAll(node.args[1], locals, depth);
    if (node.op === 'value') return;
    if (node.op === '+') this.#countAddition();
    if (isArithmetic(node)) this.#openType(partsOf(node)[0]);
    this.#visitAll(partsOf(node), locals, depth);
  }

  #visitAll(nodes: readonly ASTNode[], locals: ReadonlySet<string>, depth: number): void {
    for (const node of nodes) this.visit(node, locals, depth);
  }

  #visitAccess(
    node: Extract<ASTNode, { op: '.' | '[]' }>,
    locals: ReadonlySet<string>,
    depth: number,
  ): void {
    const [owner, key] = node.args;
    if (typeof key === 'object') this.visit(key, locals, depth);
    if (owner.op === 'id') this.#addPath(owner.args, [stepOf(key)], locals);
    else this.visit(owner, locals, depth);
  }

  #addPath(name: string, rest: readonly PathStep[], locals: ReadonlySet<string>): void {
    if (locals.has(name) || typeNames.has(name)) return;
    this.#references.add(name === loopAlias ? 'loop' : name, rest[0], rest.length > 0);
  }

  #visitMethod(
    node: Extract<ASTNode, { op: 'rcall' }>,
    locals: ReadonlySet<string>,
    depth: number,
  ): void {
    const [name, owner, settings] = node.args;
    const [variable, ...bodies] = settings;
    if (name === 'bind') throw badCondition('cel.bind is not offered');
    if (name === matchesAlias && variable) checkPattern(variable);
    this.visit(owner, locals, depth);
    const isMacro = macroNames.has(name) && variable?.op === 'id' && bodies.length > 0;
    if (!isMacro) return this.#visitAll(settings, locals, depth);
    if (depth >= depthMax) throw badCondition(`at most ${depthMax} of all, map, … in each other`);
    this.#markBodies(bodies, { after: variable.end, end: node.end, stop: stops[name] ?? 'null' });
    this.#visitAll(bodies, new Set([...locals, variable.args]), depth + 1);
  }

  /** A body stands between commas, brackets around it included; its own places leave them out. */
  #markBodies(
    bodies: readonly ASTNode[],
    { after, end, stop }: { readonly after: number; readonly end: number; readonly stop: string },
  ): void {
    let before = after;
    for (const [index, body] of bodies.entries()) {
      const start = this.#text.indexOf(',', before) + 1;
      const next = bodies[index + 1];
      const close = next ? this.#text.lastIndexOf(',', next.start) : end - 1;
      const text = `${counterName}(${stop}, `;
      this.insertions.push({ place: start, text }, { place: close, text: ')' });
      before = body.end;
    }
  }

  /** Else `1 + node.count` would be taken for an int, though numbers of JSON are doubles. */
  #openType(left: ASTNode | undefined): void {
    const isInt = left?.op === 'call' || (left?.op === 'value' && typeof left.args === 'bigint');
    if (!left || !isInt) return;
    this.insertions.push({ place: left.start, text: 'dyn(' }, { place: left.end, text: ')' });
  }

  #countAddition(): void {
    this.#additions += 1;
    if (this.#additions > additionsMax) throw badCondition(`at most ${additionsMax} additions`);
  }
}

/** The fault of a condition that cannot be compiled. */
export function badCondition(message: string): Fault {
  return new Fault('invalid', message, { reason: 'bad_expression' });
}

/** A pattern that is written out is wrong already when the flow is saved. */
function checkPattern(pattern: ASTNode): void {
  if (pattern.op === 'value' && typeof pattern.args === 'string') compilePattern(pattern.args);
}

function partsOf(node: ASTNode): readonly ASTNode[] {
  const parts: readonly unknown[] = Array.isArray(node.args) ? node.args.flat() : [node.args];
  return parts.filter(isNode);
}

function isNode(part: unknown): part is ASTNode {
  return typeof part === 'object' && part !== null && 'op' in part;
}

function stepOf(key: ASTNode | string): PathStep {
  if (typeof key === 'string') return key;
  return key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
}
