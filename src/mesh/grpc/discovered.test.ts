import { beforeAll, expect, test } from 'vitest';
import { loadDefinition } from './definition.ts';

interface Codec {
  readonly responseSerialize: (answer: object) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
}

let codec: Codec;

/** An agent as the directory has it: with its JSON at hand. */
function writtenAgent(agentId: string, load: number) {
  const agent = { agentId, capabilities: ['a', 'ü'], endpoints: { rest: 'http://x' }, load };
  return { ...agent, json: JSON.stringify({ ...agent, status: 'active', region: 'eu' }) };
}

const roundTrip = (answer: object) => codec.responseDeserialize(codec.responseSerialize(answer));

beforeAll(async () => {
  // The loader makes codecs of this shape.
  const { DiscoverAgents } = (await loadDefinition()).services.AgentCommunication;
  codec = DiscoverAgents as unknown as Codec;
});

test('an answer without agents has none, and its count', () => {
  expect(roundTrip({ agents: [], totalFound: 0 })).toEqual({ agents: [], totalFound: 0 });
  expect(roundTrip({ agents: [], totalFound: 7 })).toEqual({ agents: [], totalFound: 7 });
});

test('agents whose JSON is at hand have the bytes of any others, in their order', () => {
  const agents = [writtenAgent('one', 0.25), writtenAgent('two', 0)];
  const plain = agents.map(({ json }) => JSON.parse(json) as object);
  const bytes = codec.responseSerialize({ agents, totalFound: 300 });
  expect(bytes).toEqual(codec.responseSerialize({ agents: plain, totalFound: 300 }));
  expect(codec.responseDeserialize(bytes)).toMatchObject({
    agents: [{ agentId: 'one', load: 0.25, capabilities: ['a', 'ü'] }, { agentId: 'two' }],
    totalFound: 300,
  });
});

test('an agent that has changed is encoded anew', () => {
  const agent = writtenAgent('one', 0.25);
  roundTrip({ agents: [agent], totalFound: 1 });
  agent.json = agent.json.replace('0.25', '0.75');
  expect(roundTrip({ agents: [agent], totalFound: 1 })).toMatchObject({ agents: [{ load: 0.75 }] });
});
