import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';

/** A file of a workspace; `seq` is of the change that made it so. */
export interface RemoteFile {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly executable: boolean;
  readonly seq: number;
}

export interface FilePlace {
  readonly workspaceId: string;
  readonly path: string;
  readonly deviceId: string;
}

/** What the path has to hold: a hash, null for nothing. */
export interface Expected {
  readonly expected: string | null;
}

/** A change of many, with its content, or the hash of one that was sent before. */
export interface SentChange extends Expected {
  readonly path: string;
  /** Absent: the file is deleted. */
  readonly content?: Buffer | { readonly hash: string };
  readonly executable?: boolean;
}

/** What came of it; `behind`: the path holds something other than expected. */
export type SentOutcome =
  | { readonly kind: 'done'; readonly file?: RemoteFile }
  | { readonly kind: 'behind' }
  | { readonly kind: 'refused'; readonly why: string };

interface Request {
  readonly method: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made anew for each attempt. */
  readonly body?: () => Promise<string | ReadableStream>;
}

const attemptsMax = 60;
const transferMs = 600_000;

/** Reads and writes files of workspaces; what is refused for a while is asked again. */
export class FileTransfers {
  readonly #url: string;
  readonly #identity: StudioIdentity;
  readonly #stop = new AbortController();

  constructor(url: string, identity: StudioIdentity) {
    this.#url = url;
    this.#identity = identity;
  }

  /** Ends every wait and transfer. */
  stop(): void {
    this.#stop.abort();
  }

  /** All files of a workspace. */
  async list(workspaceId: string): Promise<RemoteFile[]> {
    const files: RemoteFile[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const query = { workspaceId, limit: '5000', ...(after ? { after } : {}) };
      const response = await this.#ask('/api/v1/sync/snapshot', { method: 'GET', query });
      const page = (await response.json()) as { files: RemoteFile[]; next?: string };
      files.push(...page.files);
      after = page.next;
    }
    return files;
  }

  /** Sends changes together; answers what came of each, in their order. */
  async send(
    { workspaceId, deviceId }: Omit<FilePlace, 'path'>,
    changes: readonly SentChange[],
  ): Promise<SentOutcome[]> {
    const body = JSON.stringify({ workspaceId, deviceId, changes: changes.map(toSent) });
    const response = await this.#ask('/api/v1/sync/changes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: async () => body,
    });
    const { results } = (await response.json()) as { results: ChangeResult[] };
    return results.map(toOutcome);
  }

  /** Sends a content before the change that names it; `hash_mismatch` when it is another by now. */
  async sendBlob(
    workspaceId: string,
    hash: string,
    body: () => Promise<ReadableStream>,
  ): Promise<void> {
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'PUT', query: { workspaceId }, headers, body };
    await (await this.#ask(`/api/v1/sync/blobs/${hash}`, request)).arrayBuffer();
  }

  /** Small contents by their hashes; those that the workspace does not have any more are not among them. */
  async readMany(workspaceId: string, hashes: readonly string[]): Promise<Map<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    for (let left = hashes; left.length > 0;) {
      const body = JSON.stringify({ workspaceId, hashes: left });
      const response = await this.#ask('/api/v1/sync/contents', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: async () => body,
      });
      const answer = (await response.json()) as Contents;
      for (const { hash, content, encoding } of answer.contents) {
        contents.set(hash, Buffer.from(content, encoding));
      }
      left = answer.contents.length === 0 ? [] : answer.left;
    }
    return contents;
  }

  /** The bytes of a file and the hash that they should have; undefined when there is no such file. */
  async read(
    place: FilePlace,
  ): Promise<{ readonly hash: string; readonly body: ReadableStream<Uint8Array> } | undefined> {
    try {
      const { headers, body } = await this.#ask(urlOf(place), { method: 'GET' });
      const hash = (headers.get('etag') ?? '').replaceAll('"', '');
      // An empty file has no body.
      return { hash, body: body ?? new Blob([]).stream() };
    } catch (error) {
      if (error instanceof Fault && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  async #ask(path: string, request: Request): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#send(path, request);
      if (response.ok) return response;
      const fault = await faultOf(response);
      if (response.status === 401 && attempt === 1 && this.#identity.forgetToken) {
        this.#identity.forgetToken();
        continue;
      }
      const waitS = Number(response.headers.get('retry-after') ?? 0);
      if (!waitS || attempt >= attemptsMax) throw fault;
      await this.#wait(waitS);
    }
  }

  async #wait(seconds: number): Promise<void> {
    await sleep(seconds * 1_000, undefined, { signal: this.#stop.signal });
  }

  async #send(path: string, { method, query, headers, body }: Request): Promise<Response> {
    const search = new URLSearchParams(query).toString();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(transferMs)]);
    const authorization = `Bearer ${await this.#identity.token()}`;
    try {
      return await fetch(`${this.#url}${path}${search ? `?${search}` : ''}`, {
        method,
        headers: { ...headers, authorization },
        signal,
        ...(body ? { body: await body(), duplex: 'half' } : {}),
      });
    } catch (cause) {
      signal.throwIfAborted();
      throw new Fault('unavailable', 'studio cannot be reached', { cause });
    }
  }
}

interface ChangeResult {
  readonly outcome: 'applied' | 'unchanged' | 'conflict' | 'missing' | 'refused';
  readonly file?: RemoteFile;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Contents {
  readonly contents: readonly {
    readonly hash: string;
    readonly content: string;
    readonly encoding: 'utf8' | 'base64';
  }[];
  readonly left: readonly string[];
}

function toSent({ path, content, executable, expected }: SentChange) {
  const common = { path, baseHash: expected, strict: true };
  if (!content) return { ...common, operation: 'delete' };
  const operation = expected === null ? 'create' : 'update';
  if (!Buffer.isBuffer(content)) return { ...common, operation, executable, ...content };
  const encoding = isUtf8(content) ? 'utf8' : 'base64';
  return { ...common, operation, executable, content: content.toString(encoding), encoding };
}

function toOutcome({ outcome, file, error }: ChangeResult): SentOutcome {
  if (outcome === 'applied' || outcome === 'unchanged') {
    return { kind: 'done', ...(file ? { file } : {}) };
  }
  const isBehind = error === undefined || behindCodes.has(error.code);
  return isBehind ? { kind: 'behind' } : { kind: 'refused', why: error.message };
}

const behindCodes = new Set(['PRECONDITION_FAILED', 'CONTENT_MISSING', 'FILE_BUSY']);

function urlOf({ workspaceId, path }: Pick<FilePlace, 'workspaceId' | 'path'>): string {
  const parts = path.split('/').map(encodeURIComponent);
  return `/api/v1/workspaces/${workspaceId}/files/${parts.join('/')}`;
}

async function faultOf(response: Response): Promise<Fault> {
  const text = await response.text().catch(() => '');
  const { status } = response;
  const options = { status, reason: 'refused' };
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    const named = { status, reason: error.code.toLowerCase() };
    return new Fault(Fault.codeOf(status), error.message, named);
  } catch {
    return new Fault(Fault.codeOf(status), `the studio refused it (${status})`, options);
  }
}

export interface StudioIdentity {
  readonly token: () => Promise<string>;
  readonly forgetToken?: () => void;
}
