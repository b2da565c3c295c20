import { Fault } from '../../kit/errors.ts';
import type { AgentEndpoints } from './agent.ts';
import type { CardJson } from './card-signature.ts';

/** What a card says that the mesh has use for. */
export interface CardContent {
  readonly name: string;
  readonly version: string | undefined;
  /** The skills' ids and tags. */
  readonly capabilities: readonly string[];
  readonly endpoints: AgentEndpoints;
}

/** Reads a card of A2A 1.0 or 0.3; refuses with `invalid` one that lacks what either demands. */
export function readCard(card: CardJson): CardContent {
  const name = textOf(card['name']);
  if (!name) throw cardFault('has no name');
  const interfaces = listInterfaces(card);
  if (interfaces.length === 0) throw cardFault('names no interface');
  return {
    name,
    version: textOf(card['version']),
    capabilities: listCapabilities(card),
    endpoints: toEndpoints(interfaces),
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

/** The first interface of each binding counts: a card lists them by preference. */
function toEndpoints(interfaces: readonly CardInterface[]): AgentEndpoints {
  const first = (binding: string) => interfaces.find((one) => one.binding === binding);
  const a2a = first('JSONRPC');
  const grpc = first('GRPC');
  const rest = first('HTTP+JSON');
  return {
    ...(grpc ? { grpc: grpc.url.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '') } : {}),
    ...(rest ? { rest: rest.url } : {}),
    ...(a2a ? { a2a: a2a.url, a2aVersion: a2a.version.startsWith('0.') ? '0.3' : '1.0' } : {}),
  };
}

function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((element) => typeof element === 'object' && element !== null);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function cardFault(what: string): Fault {
  return new Fault('invalid', `the agent card ${what}`, { reason: 'agent_card_invalid' });
}
