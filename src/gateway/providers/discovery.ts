import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { DialectName } from '../dialects/dialect.ts';
import type { ProviderDefinition } from './definition.ts';
import type { DiscoveredModel } from './listed-model.ts';

/** The headers that carry a key in a dialect. */
export type Credentials = (
  dialect: DialectName,
  apiKey: string,
) => Readonly<Record<string, string>>;

export interface DiscoveryOptions {
  readonly egress: Egress;
  readonly credentials: Credentials;
  readonly log: Log;
}

const timeoutMs = 10_000;
const answerBytesMax = 4 * 1024 * 1024;
const modelsMax = 2000;
const nameMax = 256;

/** Asks providers which models they have. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  /** Providers whose last asking failed, by what was asked: each failure is told once. */
  readonly #failing = new Set<string>();
  /** Providers that have more models than are kept: told once, too. */
  readonly #cut = new Set<string>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** Undefined when it cannot say; never rejects. */
  async ask(
    definition: ProviderDefinition,
    signal: AbortSignal,
  ): Promise<readonly DiscoveredModel[] | undefined> {
    const place = endpointOf(definition);
    try {
      const models = await this.#fetch(definition, signal);
      this.#failing.delete(place);
      return models;
    } catch (error) {
      if (!signal.aborted && !this.#failing.has(place)) {
        this.#failing.add(place);
        const { name: provider } = definition;
        const reason = Fault.from(error).message;
        this.#options.log.warn({ provider, reason }, 'a provider does not say which models it has');
      }
      return undefined;
    }
  }

  async #fetch(
    definition: ProviderDefinition,
    signal: AbortSignal,
  ): Promise<readonly DiscoveredModel[]> {
    const { dialect, baseUrl, keys, headers: own } = definition;
    const { path, headers, read } = listings[dialect];
    const apiKey = await keys[0]?.reveal();
    const credential = apiKey === undefined ? {} : this.#options.credentials(dialect, apiKey);
    const answer = await this.#options.egress.fetch(baseUrl + path, {
      headers: { ...headers, ...own, ...credential },
      timeoutMs,
      responseBytesMax: answerBytesMax,
      isRedirectFollowed: false,
      signal,
    });
    if (answer.status !== 200) throw new Fault('upstream', `it answered ${answer.status}`);
    const models = read(answer.json()).filter(({ name }) => isName(name));
    if (models.length > modelsMax) this.#tellCut(definition, models.length);
    const byName = new Map(models.slice(0, modelsMax).map((model) => [model.name, model]));
    return [...byName.values()];
  }

  #tellCut(definition: ProviderDefinition, found: number): void {
    const place = endpointOf(definition);
    if (this.#cut.has(place)) return;
    this.#cut.add(place);
    const facts = { provider: definition.name, found, kept: modelsMax };
    this.#options.log.warn(facts, 'a provider has more models than are kept of one');
  }
}

/** Tells whether two definitions would be asked the same. */
export function endpointOf({ name, dialect, baseUrl, keys }: ProviderDefinition): string {
  return [name, dialect, baseUrl, ...keys.map(({ id }) => id)].join(' ');
}

type Fields = Readonly<Record<string, unknown>>;

interface Listing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly read: (answer: unknown) => DiscoveredModel[];
}

const listings: Readonly<Record<DialectName, Listing>> = {
  openai: { path: '/models', headers: {}, read: readOpenAi },
  anthropic: {
    path: '/models?limit=1000',
    headers: { 'anthropic-version': '2023-06-01' },
    read: readAnthropic,
  },
  gemini: { path: '/models?pageSize=1000', headers: {}, read: readGemini },
  ollama: { path: '/api/tags', headers: {}, read: readOllama },
};

/** Most say it as OpenAI does; Together answers the bare list, and each names the window anew. */
function readOpenAi(answer: unknown): DiscoveredModel[] {
  const list = Array.isArray(answer) ? answer : fieldsOf(answer)['data'];
  return entriesOf(list).map((one) => ({
    name: textOf(one['id']),
    createdAt: countOf(one['created']) ?? 0,
    ...roomOf(one, windowFields, 'max_completion_tokens'),
  }));
}

function readAnthropic(answer: unknown): DiscoveredModel[] {
  return entriesOf(fieldsOf(answer)['data']).map((one) => ({
    name: textOf(one['id']),
    createdAt: secondsOf(one['created_at']),
  }));
}

function readGemini(answer: unknown): DiscoveredModel[] {
  return entriesOf(fieldsOf(answer)['models']).map((one) => ({
    name: textOf(one['name']).replace(/^models\//, ''),
    createdAt: 0,
    ...roomOf(one, ['inputTokenLimit'], 'outputTokenLimit'),
  }));
}

function readOllama(answer: unknown): DiscoveredModel[] {
  return entriesOf(fieldsOf(answer)['models']).map((one) => ({
    name: textOf(one['name']),
    createdAt: secondsOf(one['modified_at']),
    sizeBytes: countOf(one['size']),
  }));
}

const windowFields = ['context_length', 'context_window', 'max_model_len', 'max_context_length'];

function roomOf(one: Fields, windows: readonly string[], output: string) {
  const [contextWindow] = windows.flatMap((name) => countOf(one[name]) ?? []);
  const maxOutput = countOf(one[output]);
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
  };
}

function entriesOf(list: unknown): Fields[] {
  if (!Array.isArray(list)) throw new Fault('upstream', 'its answer is no list of models');
  return list.map(fieldsOf);
}

function fieldsOf(value: unknown): Fields {
  // Whatever it is, its fields are read as unknown.
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}

function secondsOf(value: unknown): number {
  const time = Date.parse(textOf(value));
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000);
}

function isName(name: string): boolean {
  return name.length > 0 && name.length <= nameMax && !/[\s\p{Cc}]/u.test(name);
}
