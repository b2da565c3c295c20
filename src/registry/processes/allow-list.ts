import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { Fault } from '../../kit/errors.ts';
import { matchArguments, readEntries, type AllowEntry } from './allow-entries.ts';

/** A command that may be run: the file, found when the list was read. */
export interface Program {
  /** As it was found; a link keeps its own name, which some programs go by. */
  readonly path: string;
  /** What the path led to then. */
  readonly realPath: string;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

interface Listed extends AllowEntry {
  /** Absent when no such program was found. */
  readonly program: Program | undefined;
}

/**
 * The commands that the operator allows, `REGISTRY_STDIO_ALLOW`. Programs are looked up once, when
 * the list is read: a program that appears earlier on PATH afterwards is never run in its place.
 */
export class AllowList {
  readonly #entries: readonly Listed[];

  /** Throws Fault `invalid` (`bad_setting`) for an entry that says nothing clear. */
  constructor(text: string, searchPath: string) {
    this.#entries = readEntries(text).map((entry) => ({
      ...entry,
      program: findProgram(entry.command, searchPath),
    }));
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The commands on the list that this host does not have. */
  get missing(): string[] {
    const missing = this.#entries.filter(({ program }) => program === undefined);
    return [...new Set(missing.map(({ command }) => command))];
  }

  /** One sentence on why it is not run, safe for the caller; undefined when it may run. */
  explainRefusal(command: Command): string | undefined {
    const found = this.#decide(command);
    return typeof found === 'string' ? found : undefined;
  }

  /**
   * The program to run. Throws Fault `forbidden` (`command_not_allowed`), also when the file behind
   * the program's name is another one than when the list was read.
   */
  resolve(command: Command): Program {
    const found = this.#decide(command);
    if (typeof found === 'string') throw notAllowed(found);
    if (realPathOf(found.path) !== found.realPath) {
      throw notAllowed('the program behind this command has changed since the registry started');
    }
    return found;
  }

  #decide({ command, args }: Command): Program | string {
    if ([command, ...args].some((text) => unprintable.test(text))) return messages.unprintable;
    if (this.#entries.length === 0) return messages.empty;
    const named = this.#entries.filter((entry) => isNamedBy(entry, command));
    if (named.length === 0) return messages.unknown;
    const fitting = named.filter(({ patterns }) => matchArguments(patterns, args));
    if (fitting.length === 0) return messages.args;
    return fitting.find(({ program }) => program)?.program ?? messages.missing;
  }
}

const unprintable = /[\0\r\n]/;

const messages = {
  unprintable: 'a command and its arguments hold no line break and no NUL',
  empty: 'this registry runs no commands: the operator has allowed none (REGISTRY_STDIO_ALLOW)',
  unknown: 'the command is not among those that the operator allows (REGISTRY_STDIO_ALLOW)',
  args: 'the operator allows this command, but not with these arguments (REGISTRY_STDIO_ALLOW)',
  missing: 'the operator allows this command, but this host had no such program at the start',
};

function notAllowed(message: string): Fault {
  return new Fault('forbidden', message, { reason: 'command_not_allowed' });
}

/** As given, or by the path at which the given name was found; never by a part of either. */
function isNamedBy({ command, program }: Listed, asked: string): boolean {
  return asked === command || asked === program?.path;
}

function findProgram(command: string, searchPath: string): Program | undefined {
  const candidates = isAbsolute(command)
    ? [command]
    : // An empty or relative part of PATH means the folder one happens to be in.
      searchPath
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, command));
  for (const path of candidates) {
    const realPath = realPathOf(path);
    if (realPath !== undefined && isExecutable(realPath)) return { path, realPath };
  }
  return undefined;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
