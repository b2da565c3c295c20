import type {
  Client,
  RequestOptions,
  StandardSchemaV1,
  StandardSchemaV1Sync,
} from '@modelcontextprotocol/client';
import { isNeverSent, notMcp, toLinkFault } from './link-faults.ts';
import { toolNameCharsMax, type ListFlaw, type ListName, type Offer } from './link.ts';

/** Of each kind. */
const itemsMax = 1_000;
const pagesMax = 200;
/** Of all kinds together. */
const bytesMax = 10 * 1024 * 1024;
/** The rest of the time is for keeping what came when one list does not come. */
const timeShare = 0.8;
const methodNotFound = -32_601;

const methods = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const satisfies Readonly<Record<ListName, string>>;

interface Read<T> {
  readonly items: readonly T[];
  readonly flaws: readonly ListFlaw[];
  /** Why the list ended before its end. */
  readonly error?: unknown;
}

const unread: Read<never> = { items: [], flaws: [] };

/**
 * Every list that the server says it has, page by page and each by itself: what came is kept, the first
 * 1,000 of a kind and 10 MiB at most, and `flaws` tells what did not. Rejects with the SDK's errors when
 * it was aborted, or when the link carried no list.
 */
export async function listOffer(client: Client, options: RequestOptions): Promise<Offer> {
  // Whoever has a client has loaded it.
  const { specTypeSchemas: schemas } = await import('@modelcontextprotocol/client');
  const has = client.getServerCapabilities() ?? {};
  const reader = new ListReader(client, options);
  const [tools, prompts, resources, resourceTemplates] = await Promise.all([
    has.tools ? reader.read('tools', callable(schemas.Tool), nameOf) : unread,
    has.prompts ? reader.read('prompts', schemas.Prompt, nameOf) : unread,
    has.resources ? reader.read('resources', schemas.Resource, ({ uri }) => uri) : unread,
    has.resources
      ? reader.read('resourceTemplates', schemas.ResourceTemplate, ({ uriTemplate }) => uriTemplate)
      : unread,
  ]);
  const reads = [tools, prompts, resources, resourceTemplates].filter((read) => read !== unread);
  const [first] = reads;
  if (first && reads.every(({ error }) => isOfLink(error))) throw first.error;
  const flaws = reads.flatMap((read) => read.flaws);
  return {
    tools: tools.items,
    prompts: prompts.items,
    resources: resources.items,
    resourceTemplates: resourceTemplates.items,
    ...(flaws.length > 0 ? { flaws } : {}),
  };
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** What has a name that no call can say is malformed. */
function callable<T extends { readonly name: string }>({
  '~standard': standard,
}: StandardSchemaV1Sync<unknown, T>): StandardSchemaV1Sync<unknown, T> {
  const validate = (value: unknown) => {
    const found = standard.validate(value);
    if (found.issues) return found;
    const { length } = found.value.name;
    const isCallable = length > 0 && length <= toolNameCharsMax;
    return isCallable ? found : { issues: [{ message: 'no call has this name' }] };
  };
  return { '~standard': { ...standard, validate } };
}

/** The lists of one server, side by side: one that hangs keeps none of the others back. */
class ListReader {
  readonly #client: Client;
  readonly #options: RequestOptions;
  readonly #endsAtMs: number;
  #bytesLeft = bytesMax;

  constructor(client: Client, options: RequestOptions) {
    this.#client = client;
    this.#options = options;
    this.#endsAtMs = Date.now() + (options.timeout ?? 60_000) * timeShare;
  }

  async read<T>(
    list: ListName,
    schema: StandardSchemaV1Sync<unknown, T>,
    keyOf: (item: T) => string,
  ): Promise<Read<T>> {
    const taken = new TakenItems({ schema, keyOf, spend: (bytes) => this.#spend(bytes) });
    try {
      const isWhole = await this.#walk(list, taken);
      const flaws = isWhole ? [] : [{ list, reason: 'too_many' }];
      return { items: taken.items, flaws: [...flaws, ...taken.flawsOf(list)] };
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      const flaw = flawOf(list, error);
      // Servers with resources need not know of templates.
      if (list === 'resourceTemplates' && flaw.code === methodNotFound) return unread;
      return { items: taken.items, flaws: [flaw, ...taken.flawsOf(list)], error };
    }
  }

  /** False when it goes on beyond what is taken. */
  async #walk(list: ListName, taken: Pick<TakenItems<unknown>, 'take'>): Promise<boolean> {
    let cursor: string | undefined;
    const cursors = new Set<string>();
    for (let count = 0; count < pagesMax; count += 1) {
      const page = await this.#ask(list, cursor);
      const { [list]: items, nextCursor } = page;
      if (!Array.isArray(items)) throw notMcp();
      for (const item of items) if (!taken.take(item)) return false;
      if (typeof nextCursor !== 'string' || nextCursor === '' || cursors.has(nextCursor))
        return true;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    return false;
  }

  #ask(list: ListName, cursor: string | undefined): Promise<Readonly<Record<string, unknown>>> {
    const request = {
      method: methods[list],
      ...(cursor === undefined ? {} : { params: { cursor } }),
    };
    const timeout = Math.max(1, this.#endsAtMs - Date.now());
    return this.#client.request(request, anyResult, { ...this.#options, timeout });
  }

  #spend(bytes: number): boolean {
    this.#bytesLeft -= bytes;
    return this.#bytesLeft >= 0;
  }
}

interface Taking<T> {
  readonly schema: StandardSchemaV1Sync<unknown, T>;
  /** What no two items of a list have in common. */
  readonly keyOf: (item: T) => string;
  /** False when so many bytes are too many. */
  readonly spend: (bytes: number) => boolean;
}

/** Items of one list that are what they should be, each once. */
class TakenItems<T> {
  readonly #taking: Taking<T>;
  readonly #items = new Map<string, T>();
  readonly #leftOut = { malformed: 0, repeated: 0 };

  constructor(taking: Taking<T>) {
    this.#taking = taking;
  }

  get items(): readonly T[] {
    return [...this.#items.values()];
  }

  /** False when there is no room for it. */
  take(item: unknown): boolean {
    const { schema, keyOf, spend } = this.#taking;
    if (this.#items.size + this.#leftOut.malformed >= itemsMax) return false;
    if (!spend(JSON.stringify(item).length)) return false;
    const found = schema['~standard'].validate(item);
    if (found.issues) this.#leftOut.malformed += 1;
    else if (this.#items.has(keyOf(found.value))) this.#leftOut.repeated += 1;
    else this.#items.set(keyOf(found.value), found.value);
    return true;
  }

  flawsOf(list: ListName): ListFlaw[] {
    const { malformed, repeated } = this.#leftOut;
    return [
      ...(malformed > 0 ? [{ list, reason: 'malformed', count: malformed }] : []),
      ...(repeated > 0 ? [{ list, reason: 'repeated', count: repeated }] : []),
    ];
  }
}

/** Whatever the server answered: each item is looked at by itself. */
const anyResult: StandardSchemaV1<unknown, Readonly<Record<string, unknown>>> = {
  '~standard': {
    version: 1,
    vendor: 'ennead',
    validate: (value) =>
      typeof value === 'object' && value !== null
        ? { value: { ...value } }
        : { issues: [{ message: 'no object' }] },
  },
};

function flawOf(list: ListName, error: unknown): ListFlaw {
  const { reason, code, detail } = toLinkFault(error);
  const said = detail['code'];
  return { list, reason: reason ?? code, ...(typeof said === 'number' ? { code: said } : {}) };
}

/** Whether the server was never asked: that says nothing of its lists. */
function isOfLink(error: unknown): boolean {
  if (error === undefined) return false;
  const fault = toLinkFault(error);
  return isNeverSent(fault) || fault.reason === 'unreachable';
}
