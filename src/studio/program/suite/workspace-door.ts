import { Fault } from '../../../kit/errors.ts';
import type { SuiteAnswer, SuiteCalls } from './suite-calls.ts';
import { workspacePath } from './workspace-path.ts';

export interface WorkspaceDoorOptions {
  /** Of the studio. */
  readonly calls: SuiteCalls;
  readonly workspaceId: string;
  /** Whose hand it is in the log of changes. */
  readonly agentId: string;
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
}

/** A file that was written through the door: what it held before the first time, and holds now. */
export interface WrittenFile {
  readonly path: string;
  /** Undefined for a new file. */
  readonly before: string | undefined;
  readonly after: string;
  readonly hash: string;
}

/** `If-Match` failed, or another path stands in the way. */
const refusedBase: ReadonlySet<number> = new Set([409, 412]);
const textBytesMax = 1024 * 1024;
const pageSize = 1_000;
const listedMax = 20_000;

/**
 * The files of a workspace over the studio's own interface, so that versions and devices see every change.
 * It writes only what it has read: a file that somebody changed meanwhile is refused.
 */
export class WorkspaceDoor {
  readonly #calls: SuiteCalls;
  readonly #root: string;
  readonly #device: string;
  /** The hash that was read or written last; null where there was no file. */
  readonly #known = new Map<string, string | null>();
  readonly #written = new Map<string, WrittenFile>();
  readonly #texts = new Map<string, string>();

  constructor({ calls, workspaceId, agentId }: WorkspaceDoorOptions) {
    this.#calls = calls;
    this.#root = `/api/v1/workspaces/${encodeURIComponent(workspaceId)}`;
    this.#device = encodeURIComponent(agentId);
  }

  /** What the workspace's settings say; Fault where the agent may not see it. */
  async settings(): Promise<{ readonly testCommand?: readonly string[] }> {
    const answer = await this.#calls.json({ method: 'GET', path: this.#root });
    const { settings } = answer as { readonly settings?: { testCommand?: readonly string[] } };
    return settings ?? {};
  }

  /** By path, all that begin so; at most 20,000. */
  async list(prefix = ''): Promise<readonly ListedFile[]> {
    const found: ListedFile[] = [];
    let after: string | undefined;
    do {
      const query = new URLSearchParams({ limit: String(pageSize), prefix });
      if (after !== undefined) query.set('after', after);
      const page = (await this.#calls.json({
        method: 'GET',
        path: `${this.#root}/files?${query.toString()}`,
      })) as { readonly files: readonly ListedFile[]; readonly next?: string };
      found.push(...page.files.filter(({ path }) => isShown(path)));
      after = page.next;
    } while (after !== undefined && found.length < listedMax);
    return found;
  }

  /** The file as text; undefined when there is none, Fault `invalid` for what is no text or too large. */
  async read(given: string): Promise<string | undefined> {
    const path = workspacePath(given);
    const answer = await this.#fetch(path);
    if (!answer) {
      this.#known.set(path, null);
      return undefined;
    }
    const { bytes, headers } = answer;
    if (bytes.length > textBytesMax) throw unreadable(path, 'is larger than 1 MiB');
    const text = decode(path, bytes);
    this.#known.set(path, hashIn({ headers }));
    this.#texts.set(path, text);
    return text;
  }

  /** Whether what a file holds was seen, so that it may be written. */
  isKnown(given: string): boolean {
    return this.#known.has(workspacePath(given));
  }

  /**
   * Writes a file that was read, or a new one. Fault `conflict` where there is one that was not read, or
   * that changed since: read it, and write again.
   */
  async write(given: string, text: string): Promise<void> {
    const path = workspacePath(given);
    const base = this.#known.get(path) ?? null;
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length > textBytesMax) throw unreadable(path, 'would be larger than 1 MiB');
    const headers: Record<string, string> =
      base === null ? { 'if-none-match': '*' } : { 'if-match': `"${base}"` };
    const target = `${this.#pathOf(path)}?device=${this.#device}`;
    const call = { method: 'PUT', path: target, bytes, headers } as const;
    const answer = await this.#calls.json(call).catch(async (error: unknown) => {
      if (!(error instanceof Fault) || !refusedBase.has(error.status)) throw error;
      // A write is sent again where its answer got lost: it may have been done.
      const there = await this.#fetch(path);
      if (there?.bytes.equals(bytes)) return { file: { hash: hashIn(there) } };
      this.#known.delete(path);
      throw new Fault('conflict', `${path} holds something that was not read: read it first.`, {
        reason: 'file_changed',
        cause: error,
      });
    });
    const { file } = answer as { readonly file?: { readonly hash: string } };
    this.#note(path, { text, hash: file?.hash ?? '', isNew: base === null });
  }

  /** Each file once, in the order in which they were first written. */
  written(): readonly WrittenFile[] {
    return [...this.#written.values()];
  }

  #note(
    path: string,
    {
      text,
      hash,
      isNew,
    }: { readonly text: string; readonly hash: string; readonly isNew: boolean },
  ): void {
    const earlier = this.#written.get(path);
    const before = earlier ? earlier.before : isNew ? undefined : this.#texts.get(path);
    this.#written.set(path, { path, before, after: text, hash });
    this.#known.set(path, hash);
    this.#texts.set(path, text);
  }

  async #fetch(path: string) {
    try {
      return await this.#calls.send({ method: 'GET', path: this.#pathOf(path) });
    } catch (error) {
      if (error instanceof Fault && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  #pathOf(path: string): string {
    return `${this.#root}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
  }
}

function hashIn({ headers }: Pick<SuiteAnswer, 'headers'>): string {
  return (headers.get('etag') ?? '').replaceAll('"', '');
}

function isShown(path: string): boolean {
  try {
    return workspacePath(path) === path;
  } catch {
    return false;
  }
}

function decode(path: string, bytes: Buffer): string {
  try {
    const text = new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw unreadable(path, 'is no text');
}

function unreadable(path: string, why: string): Fault {
  return new Fault('invalid', `${path} ${why}.`, { reason: 'file_unreadable' });
}
