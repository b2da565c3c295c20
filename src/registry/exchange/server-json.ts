import { inputNeeded, unsupported, type Candidate } from './candidate.ts';
import { isRecord, listOf, recordOf, textOf, type Json } from './json-values.ts';
import type { Inputs } from './placeholders.ts';
import type { NewConnection } from './registrar.ts';
import { toPlainName } from './safe-name.ts';

/**
 * A `server.json` of the official registry (schema 2025-12-11): its first remote address, else the
 * command that runs its first package.
 */
export function readServerJson(server: Json, inputs: Inputs): Candidate {
  const given = textOf(server['name']) ?? '';
  const name = toPlainName(given);
  if (!name) return unsupported(given || 'unnamed');
  const base = {
    name,
    type: 'server',
    capabilities: [],
    metadata: metadataOf(server, given),
  } as const;
  const remote = listOf(server['remotes']).filter(isRecord).find(isReachable);
  if (remote) return readRemote(base, remote, inputs);
  const runnable = listOf(server['packages']).filter(isRecord).find(isRunnable);
  return runnable ? readPackage(base, runnable, inputs) : unsupported(name);
}

type Base = Pick<NewConnection, 'name' | 'type' | 'capabilities' | 'metadata'>;

function metadataOf(server: Json, serverName: string): Json {
  const description = textOf(server['description']);
  const version = textOf(server['version']);
  return {
    ...(description ? { description } : {}),
    serverName,
    ...(version ? { serverVersion: version } : {}),
  };
}

function isReachable({ type, url }: Json): boolean {
  return type === 'streamable-http' && textOf(url) !== undefined;
}

function readRemote(base: Base, remote: Json, inputs: Inputs): Candidate {
  const values = new Values(inputs);
  const url = values.resolve({ ...remote, value: remote['url'] }, 'url') ?? '';
  if (values.missing.length > 0) return inputNeeded(base.name, values.missing);
  const headers = values.members(remote['headers']);
  const hasHeaders = Object.keys(headers).length > 0;
  const endpoint = { url, ...(hasHeaders ? { headers } : {}) };
  return { input: { ...base, protocol: 'http', endpoint }, needs: values.needs };
}

interface Launcher {
  /** Behind those that the package brings, of which it may bring one itself. */
  readonly flags: readonly string[];
  readonly target: (identifier: string, version: string | undefined) => readonly string[];
}

const pinned = (identifier: string, version: string | undefined) =>
  version ? `${identifier}@${version}` : identifier;

/** How a package is run by its registry's own runner; a version is pinned where there is one. */
const launchers: Readonly<Record<string, Launcher>> = {
  npm: { flags: ['-y'], target: (identifier, version) => [pinned(identifier, version)] },
  pypi: { flags: [], target: (identifier, version) => [pinned(identifier, version)] },
  nuget: { flags: [], target: (identifier, version) => [pinned(identifier, version), '--yes'] },
  oci: {
    flags: [],
    target: (identifier, version) => [
      hasTag(identifier) || !version ? identifier : `${identifier}:${version}`,
    ],
  },
};
const runners: Readonly<Record<string, string>> = {
  npm: 'npx',
  pypi: 'uvx',
  nuget: 'dnx',
  oci: 'docker',
};

/** A name that the runner cannot take for one of its options. */
const identifierPattern = /^[\w@][\w@./:+~-]*$/;
const versionPattern = /^[A-Za-z0-9][\w.+!~-]*$/;

function isRunnable({ registryType, identifier, version, transport }: Json): boolean {
  const kind = textOf(registryType) ?? '';
  const told = textOf(recordOf(transport)['type']) ?? 'stdio';
  if (!Object.hasOwn(launchers, kind) || told !== 'stdio') return false;
  const isNamed = identifierPattern.test(textOf(identifier) ?? '');
  return isNamed && versionPattern.test(textOf(version) ?? 'none');
}

function readPackage(base: Base, given: Json, inputs: Inputs): Candidate {
  const kind = textOf(given['registryType']) ?? '';
  const command = runners[kind];
  const launch = launchers[kind];
  if (!command || !launch) return unsupported(base.name);
  const values = new Values(inputs);
  const runtime = values.args(given['runtimeArguments']);
  const own = values.args(given['packageArguments']);
  if (values.missing.length > 0) return inputNeeded(base.name, values.missing);
  const env = values.members(given['environmentVariables']);
  const flags = launch.flags.filter((flag) => !runtime.includes(flag));
  const target = launch.target(textOf(given['identifier']) ?? '', textOf(given['version']));
  // A container sees only the variables that it is told of.
  const passed = kind === 'oci' ? Object.keys(env).flatMap((name) => ['-e', name]) : [];
  const start = kind === 'oci' ? ['run', '-i', '--rm', ...passed] : [];
  const args = [
    ...start,
    ...runtime,
    ...flags,
    ...target,
    ...(kind === 'nuget' && own.length > 0 ? ['--'] : []),
    ...own,
  ];
  const endpoint = { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
  return { input: { ...base, protocol: 'stdio', endpoint }, needs: values.needs };
}

/** Whether an image's name ends in a tag or digest; the port of its registry is none. */
function hasTag(identifier: string): boolean {
  return /[:@]/.test(identifier.slice(identifier.lastIndexOf('/') + 1));
}

/** Works out what a server wants to be given, and keeps what nobody gave. */
class Values {
  /** What arguments or the address lack: there is no connection without. */
  readonly missing: string[] = [];
  readonly #needs = new Set<string>();
  readonly #inputs: Inputs;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
  }

  /** Headers and variables that were left out. */
  get needs(): readonly string[] {
    return [...this.#needs];
  }

  /** The text of an input, its variables filled; undefined when it is optional and not there. */
  resolve(input: Json, name: string): string | undefined {
    const value = textOf(input['value']);
    if (value !== undefined) return this.#fill(value, recordOf(input['variables']));
    const given = this.#inputs.get(name) ?? plainText(input['default']);
    if (given === undefined && input['isRequired'] === true) this.missing.push(name);
    return given;
  }

  args(list: unknown): string[] {
    return listOf(list)
      .filter(isRecord)
      .flatMap((one) => this.#argument(one));
  }

  members(list: unknown): Record<string, string> {
    const members: Record<string, string> = {};
    for (const one of listOf(list).filter(isRecord)) {
      const name = textOf(one['name']);
      if (!name) continue;
      const before = this.missing.length;
      const value = this.resolve(one, name);
      const lacking = this.missing.splice(before);
      for (const need of lacking) this.#needs.add(need);
      if (value !== undefined && lacking.length === 0) members[name] = value;
    }
    return members;
  }

  #argument(one: Json): readonly string[] {
    const name = textOf(one['name']);
    if (one['type'] !== 'named' || !name) {
      const hint = textOf(one['valueHint']) ?? name ?? 'argument';
      const value = this.resolve(one, hint);
      return value === undefined ? [] : [value];
    }
    const isFlag = !(
      'value' in one ||
      'default' in one ||
      'valueHint' in one ||
      'isRequired' in one
    );
    if (isFlag) return [name];
    const value = this.resolve(one, name);
    return value === undefined ? [] : [name, value];
  }

  /** `{name}` in a value stands for one of its variables. */
  #fill(text: string, variables: Json): string {
    return text.replaceAll(/\{([\w.-]+)\}/g, (whole: string, name: string) => {
      const variable = variables[name];
      if (!isRecord(variable)) return whole;
      const value = this.resolve(variable, name);
      if (value !== undefined) return value;
      if (variable['isRequired'] !== true) this.missing.push(name);
      return whole;
    });
  }
}

function plainText(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
