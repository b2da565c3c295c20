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
    has.tools ? reader.read('tools', callable(schemas.Tool)) : unread,
    has.prompts ? reader.read('prompts', schemas.Prompt) : unread,
    has.resources ? reader.read('resources', schemas.Resource) : unread,
    has.resources ? reader.read('resourceTemplates', schemas.ResourceTemplate) : unread,
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

  async read<T>(list: ListName, schema: StandardSchemaV1Sync<unknown, T>): Promise<Read<T>> {
    const taken = new TakenItems(schema, (bytes) => this.#spend(bytes));
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
  async #walk(list: ListName, taken: TakenItems<unknown>): Promise<boolean> {
    let cursor: string | undefined;
    for (let count = 0; count < pagesMax; count += 1) {
      const page = await this.#ask(list, cursor);
      const { [list]: items, nextCursor } = page;
      if (!Array.isArray(items)) throw notMcp();
      for (const item of items) if (!taken.take(item)) return false;
      if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) return true;
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

/** Items of one list that are what they should be. */
class TakenItems<T> {
  readonly items: T[] = [];
  readonly #schema: StandardSchemaV1Sync<unknown, T>;
  readonly #spend: (bytes: number) => boolean;
  #malformed = 0;

  constructor(schema: StandardSchemaV1Sync<unknown, T>, spend: (bytes: number) => boolean) {
    this.#schema = schema;
    this.#spend = spend;
  }

  /** False when there is no room for it. */
  take(item: unknown): boolean {
    if (this.items.length + this.#malformed >= itemsMax) return false;
    if (!this.#spend(JSON.stringify(item).length)) return false;
    const found = this.#schema['~standard'].validate(item);
    if (found.issues) this.#malformed += 1;
    else this.items.push(found.value);
    return true;
  }

  flawsOf(list: ListName): ListFlaw[] {
    return this.#malformed > 0 ? [{ list, reason: 'malformed', count: this.#malformed }] : [];
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
