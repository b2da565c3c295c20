import type { ServiceDefinition } from '@grpc/grpc-js';

type Serialize = (answer: object) => Buffer;

/** An agent whose JSON lies ready, the same text until it changes. */
interface Written {
  readonly json: string;
}

interface Kept extends Written {
  readonly bytes: Buffer;
}

/** Most answers count as many agents as the one before. */
interface KeptCount {
  readonly totalFound: unknown;
  readonly bytes: Buffer;
}

/** The service with a DiscoverAgents that encodes each agent once for every change of it. */
export function encodingOnce(service: ServiceDefinition): ServiceDefinition {
  const { DiscoverAgents } = service;
  if (!DiscoverAgents) return service;
  const responseSerialize = encoderOf(DiscoverAgents.responseSerialize as Serialize);
  return { ...service, DiscoverAgents: { ...DiscoverAgents, responseSerialize } };
}

/** A message is the same as its parts one behind the other, so that those of agents can be kept. */
function encoderOf(serialize: Serialize): Serialize {
  const kept = new WeakMap<Written, Kept>();
  const encode = (agent: Written): Buffer => {
    const before = kept.get(agent);
    const { json } = agent;
    if (before?.json === json) return before.bytes;
    const bytes = serialize({ agents: [JSON.parse(json)] });
    kept.set(agent, { json, bytes });
    return bytes;
  };
  let last: KeptCount | undefined;
  const encodeCount = (totalFound: unknown): Buffer => {
    if (last && last.totalFound === totalFound) return last.bytes;
    last = { totalFound, bytes: serialize({ totalFound }) };
    return last.bytes;
  };
  return (answer) => {
    const { agents, totalFound } = answer as Readonly<Record<string, unknown>>;
    if (!isWritten(agents)) return serialize(answer);
    const parts = agents.map(encode);
    parts.push(encodeCount(totalFound));
    return Buffer.concat(parts);
  };
}

function isWritten(agents: unknown): agents is readonly Written[] {
  if (!Array.isArray(agents)) return false;
  const [first] = agents;
  return typeof first === 'object' && first !== null && 'json' in first;
}
