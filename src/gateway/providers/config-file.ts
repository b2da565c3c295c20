import { readFile, stat } from 'node:fs/promises';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { defineProvider, type ProviderDefinition } from './definition.ts';
import { badSetting, checkProviderName, readSettings, type ProviderSettings } from './settings.ts';

export interface ConfigFileOptions {
  readonly path: string;
  /** Throws for an address that may not be called. */
  readonly checkUrl: (url: string) => void;
  readonly log: Log;
  /** Called with what a changed file says, never with less than all of it. */
  readonly changed: (definitions: readonly ProviderDefinition[]) => void;
}

const pollMs = 500;

/**
 * Reads the file and goes on looking at it. Rejects with `invalid` when it cannot be used now; later
 * a faulty file is logged, and what the last good one said stays.
 */
export async function openConfigFile(options: ConfigFileOptions): Promise<ConfigFile> {
  const mark = await markOf(options.path);
  const definitions = await readDefinitions(options);
  return new ConfigFile(options, { mark, definitions });
}

interface Reading {
  readonly mark: string;
  readonly definitions: readonly ProviderDefinition[];
}

/** The providers of a file that may change at any time. */
export class ConfigFile implements AsyncDisposable {
  readonly #options: ConfigFileOptions;
  readonly #timer: NodeJS.Timeout;
  /** What the first reading said. */
  readonly definitions: readonly ProviderDefinition[];
  #mark: string;
  #looking: Promise<void> | undefined;

  /** Use `openConfigFile`. */
  constructor(options: ConfigFileOptions, { mark, definitions }: Reading) {
    this.#options = options;
    this.#mark = mark;
    this.definitions = definitions;
    // Looked at rather than watched: mounted files are replaced in ways that no watch reports.
    this.#timer = setInterval(() => void this.look(), pollMs).unref();
  }

  /** Reads the file if it changed; never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { path, log, changed } = this.#options;
    const mark = await markOf(path);
    if (mark === this.#mark) return;
    this.#mark = mark;
    try {
      changed(await readDefinitions(this.#options));
      log.info({ path }, 'the providers of the configuration file were read again');
    } catch (error) {
      const reason = Fault.from(error).message;
      log.error({ path, reason }, 'the configuration file is refused; the last good one stays');
    }
  }
}

/** Differs when the file does; the same for every file that is not there. */
async function markOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : 'absent';
}

async function readDefinitions(options: ConfigFileOptions): Promise<ProviderDefinition[]> {
  const { path, checkUrl } = options;
  const entries = Object.entries(providersOf(await readJson(path)));
  return entries.map(([name, value]) => {
    const place = `providers.${name}.`;
    checkProviderName(name);
    if (name === 'local') throw badSetting('providers.local', 'is a reserved name');
    const settings = readSettings(value, place);
    checkUrl(settings.baseUrl);
    return defineProvider(settings, { name, origin: 'file', keys: keysOf(settings) });
  });
}

function keysOf({ apiKey, apiKeys }: ProviderSettings): readonly string[] {
  return apiKeys ?? (typeof apiKey === 'string' ? [apiKey] : []);
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Fault('invalid', `GATEWAY_CONFIG: ${path} cannot be read`, { cause });
  });
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    // The parser's own words would quote the file, keys and all.
    throw new Fault('invalid', `GATEWAY_CONFIG: ${path} is not valid JSON`, { cause });
  }
}

function providersOf(file: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(file)) throw badSetting('', 'must be an object');
  const unknown = Object.keys(file).find((name) => name !== 'providers');
  if (unknown !== undefined) throw badSetting(unknown, 'is not a known setting');
  const { providers = {} } = file;
  if (!isObject(providers)) throw badSetting('providers', 'must be an object');
  return providers;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
