import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrorCode } from '../errors.ts';

/** How long after its last touch a lock of another host or container still counts as held. */
const foreignLockMaxAgeMs = 30_000;
const lookEveryMs = 500;

/** Who holds a lock, as its file says. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** In which numbers of processes are counted: containers may share a host's name. Linux only. */
  readonly pidNamespace: string | undefined;
  /** When the process started, in the kernel's clock; tells a reused pid. Linux only. */
  readonly processStart: string | undefined;
  readonly lockedAt: string;
  /** Different for every lock ever taken. */
  readonly token: string;
}

/** Thrown inside this folder when a live process holds the lock. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
  readonly holder: LockHolder;

  constructor(holder: LockHolder) {
    super(`held by process ${holder.pid}`);
    this.holder = holder;
  }
}

/**
 * Creates the lock file, or throws `LockedError`. A lock whose process is dead is replaced, and of
 * any number of processes that try at once exactly one wins: only who holds the lock on removing
 * that very lock (its token names the file) may remove it. Returns the token.
 */
export async function acquireLockFile(path: string): Promise<string> {
  const own = describeSelf();
  for (;;) {
    if (await create(path, own)) return own.token;
    const holder = await readHolder(path);
    if (!holder) continue; // released in between
    if (await isHeld(path, holder)) throw new LockedError(holder);
    const removal = `${path}.${holder.token}`;
    const token = await acquireLockFile(removal);
    await releaseLockFile(path, holder.token);
    await releaseLockFile(removal, token);
  }
}

export interface LockWait {
  /** Called once, when it begins to wait. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
  /** Ends the wait, which then rejects with an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * As `acquireLockFile`, but waits where the life of the holder can be told by the lock's touches alone, as
 * that of a container that was killed: throws at the next touch, and has the lock 30 s after the last.
 */
export async function awaitLockFile(
  path: string,
  { onWait, signal }: LockWait = {},
): Promise<string> {
  let seen: string | undefined;
  for (;;) {
    try {
      return await acquireLockFile(path);
    } catch (error) {
      if (!(error instanceof LockedError) || isNeighbour(error.holder)) throw error;
      const file = await stat(path).catch(ignoreMissing);
      const sight = file && `${error.holder.token} ${file.mtimeMs}`;
      if (seen !== undefined && sight !== undefined && sight !== seen) throw error;
      if (seen === undefined) onWait?.(error.holder);
      seen = sight;
    }
    await sleep(lookEveryMs, undefined, { signal });
  }
}

/** Removes the lock file if it is still the one of this token. */
export async function releaseLockFile(path: string, token: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder?.token === token) await unlink(path).catch(ignoreMissing);
}

/** Shows other hosts that the holder lives. */
export async function touchLockFile(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}

function describeSelf(): LockHolder {
  return {
    pid: process.pid,
    host: hostname(),
    pidNamespace: readNamespace(),
    processStart: readProcess(process.pid)?.start,
    lockedAt: new Date().toISOString(),
    token: randomUUID(),
  };
}

/** Writes the file aside and links it, so that nobody ever reads half of it. */
async function create(path: string, holder: LockHolder): Promise<boolean> {
  const draft = `${path}.${holder.token}.new`;
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    return parseHolder(JSON.parse(text));
  } catch {
    return unknownHolder;
  }
}

/** A lock that lost its text to a power cut: it counts as another host's, so by its age. */
const unknownHolder: LockHolder = {
  pid: 0,
  host: '',
  pidNamespace: undefined,
  processStart: undefined,
  lockedAt: 'an unknown time',
  token: 'unknown',
};

function parseHolder(value: unknown): LockHolder {
  const { pid, host, pidNamespace, processStart, lockedAt, token } = value as Record<
    string,
    unknown
  >;
  const isWhole =
    Number.isSafeInteger(pid) &&
    typeof host === 'string' &&
    typeof lockedAt === 'string' &&
    typeof token === 'string' &&
    /^[0-9a-f-]{36}$/.test(token); // it becomes part of a path
  if (!isWhole) throw new Error('not a lock');
  return {
    pid: Number(pid),
    host,
    pidNamespace: typeof pidNamespace === 'string' ? pidNamespace : undefined,
    processStart: typeof processStart === 'string' ? processStart : undefined,
    lockedAt,
    token,
  };
}

async function isHeld(path: string, holder: LockHolder): Promise<boolean> {
  if (isNeighbour(holder)) return isAlive(holder);
  const file = await stat(path).catch(ignoreMissing);
  return file !== undefined && Date.now() - file.mtimeMs < foreignLockMaxAgeMs;
}

/** Whether the holder's number means here what it means there. */
function isNeighbour({ host, pidNamespace }: LockHolder): boolean {
  return host === hostname() && (pidNamespace === undefined || pidNamespace === readNamespace());
}

function isAlive(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (hasErrorCode(error, 'ESRCH')) return false; // EPERM: alive, of another user
  }
  const running = readProcess(holder.pid);
  if (!running) return true; // no /proc, or hidden from us
  const isDead = running.state === 'Z' || running.state === 'X';
  const isReused = holder.processStart !== undefined && running.start !== holder.processStart;
  return !isDead && !isReused;
}

/** Such as `pid:[4026531836]`, see pid_namespaces(7). */
function readNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** State and start time from /proc/<pid>/stat, proc(5): fields 3 and 22. */
function readProcess(pid: number): { readonly state: string; readonly start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 is the command in parentheses and may itself hold blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, start] = [fields[0], fields[19]];
    return state !== undefined && start !== undefined ? { state, start } : undefined;
  } catch {
    return undefined;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (hasErrorCode(error, 'ENOENT')) return undefined;
  throw error;
}
