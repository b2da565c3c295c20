import { Fault } from '../../kit/errors.ts';
import type { AgentEndpoints } from './agent.ts';
import type { CardJson } from './card-signature.ts';

/** What a card says that the mesh has use for. */
export interface CardContent {
  readonly name: string;
  readonly version: string | undefined;
  /** The skills' ids and tags. */
  readonly capabilities: readonly string[];
  /** Empty when the mesh speaks none of its interfaces. */
  readonly endpoints: AgentEndpoints;
}

/** Reads a card of A2A 1.0 or 0.3; refuses with `invalid` one that lacks what either demands. */
export function readCard(card: CardJson): CardContent {
  const name = textOf(card['name']);
  if (!name) throw cardFault('has no name');
  return {
    name,
    version: textOf(card['version']),
    capabilities: listCapabilities(card),
    endpoints: toEndpoints(listInterfaces(card)),
  };
}

interface CardInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
}

function listCapabilities(card: CardJson): string[] {
  const found = new Set<string>();
  for (const skill of objectsOf(card['skills'])) {
    const id = textOf(skill['id']);
    if (!id) throw cardFault('has a skill without an id');
    found.add(id);
    const { tags } = skill;
    for (const tag of Array.isArray(tags) ? tags : [])
      if (typeof tag === 'string' && tag) found.add(tag);
  }
  return [...found];
}

function listInterfaces(card: CardJson): CardInterface[] {
  const current = objectsOf(card['supportedInterfaces']).map((one) =>
    toInterface(one['url'], one['protocolBinding'], one['protocolVersion'] ?? '1.0'),
  );
  // As of 0.3.
  const version = card['protocolVersion'] ?? '0.3';
  const main = toInterface(card['url'], card['preferredTransport'] ?? 'JSONRPC', version);
  const further = objectsOf(card['additionalInterfaces']).map((one) =>
    toInterface(one['url'], one['transport'], version),
  );
  return [...current, main, ...further].flatMap((one) => one ?? []);
}

function toInterface(url: unknown, binding: unknown, version: unknown): CardInterface | undefined {
  if (typeof url !== 'string' || typeof binding !== 'string' || !url) return undefined;
  return { url, binding: binding.toUpperCase(), version: textOf(version) ?? '1.0' };
}

/**
 * The first interface that the mesh speaks, for a card lists them by preference; none when there is none.
 * A2A's other bindings are not the mesh's own REST and gRPC.
 */
function toEndpoints(interfaces: readonly CardInterface[]): AgentEndpoints {
  for (const { url, binding, version } of interfaces) {
    const a2aVersion = binding === 'JSONRPC' ? versionOf(version) : undefined;
    if (a2aVersion) return { a2a: url, a2aVersion };
  }
  return {};
}

function versionOf(version: string): AgentEndpoints['a2aVersion'] {
  if (/^0\.\d/.test(version)) return '0.3';
  return /^1(\.|$)/.test(version) ? '1.0' : undefined;
}

function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((element) => typeof element === 'object' && element !== null);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The refusal of a card that cannot be taken. */
export function cardFault(what: string): Fault {
  return new Fault('invalid', `the agent card ${what}`, { reason: 'agent_card_invalid' });
}
