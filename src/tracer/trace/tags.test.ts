import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AttributeMap } from './span.ts';
import { packTags, unpackTags } from './tags.ts';

const value = fc.oneof(
  fc.string({ maxLength: 200, unit: 'grapheme' }),
  fc.constantFrom('/api/v1/', '/api/v1/traces', 'usr_', 'GET', 'GETTING', '', 'https://a.example'),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((float) => float + 0),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
);
const key = fc.oneof(
  fc.constantFrom('http.route', 'agent.id', 'http.response.status_code', 'user_agent.original'),
  fc
    .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
    .filter((text) => text !== '__proto__'),
);

it('what is packed is unpacked as it was', () => {
  const attributes = fc.dictionary(key, value, { maxKeys: 12, noNullPrototype: true });
  fc.assert(
    fc.property(attributes, (given: AttributeMap) => {
      const packed = packTags(given);
      if (Object.keys(given).length === 0) expect(packed).toBeUndefined();
      else expect(unpackTags(packed ?? null)).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

it('few common attributes take few bytes, many are deflated', () => {
  const common = {
    'agent.id': 'agent-12',
    'http.request.method': 'GET',
    'http.route': '/api/v1/agents/{id}',
    'http.response.status_code': 200,
  };
  expect(packTags(common)?.length).toBeLessThan(50);
  const texts = Array.from({ length: 30 }, (_, index) => [
    `key.${index}`,
    'the same text '.repeat(9),
  ]);
  const many = Object.fromEntries(texts) as AttributeMap;
  expect(packTags(many)?.length).toBeLessThan(1_000);
  expect(unpackTags(packTags(many) ?? null)).toEqual(many);
});

it('long texts are cut, and there are 64 attributes at most', () => {
  const texts = Array.from({ length: 80 }, (_, index) => [`k${index}`, index]);
  expect(Object.keys(unpackTags(packTags(Object.fromEntries(texts)) ?? null))).toHaveLength(64);
  const cut = unpackTags(packTags({ text: 'x'.repeat(1_000) }) ?? null)['text'];
  expect(cut).toBe(`${'x'.repeat(256)}…`);
});

it('rows of before are read: neither the dictionary nor the numbers of keys and beginnings change', () => {
  const deflated =
    'abc6d4040ead62fdeacc945a5008e797a4ea192859299564a42a1427e6a62a94a4569428d09b077389e1a07189d1a07189f1c0bba41600';
  const notes = [0, 1, 2, 3].map((index) => [`note.${index}`, 'the same text '.repeat(9)]);
  const long = { 'http.route': '/v1/agents/{id}', ...Object.fromEntries(notes) };
  expect(unpackTags(Buffer.from(deflated, 'hex'))).toEqual(long);
  const brief =
    '07010d023132021200050a156167656e74732f6167656e742d31322f7461736b73030a116167656e74732f7b69647d2f7461736b73' +
    '0403900308081d656467652e6167656e74732e7376632e636c75737465722e6c6f63616c0c0803312e310d1003332e330e0e0431323334';
  expect(unpackTags(Buffer.from(brief, 'hex'))).toEqual({
    'agent.id': 'agent-12',
    'http.request.method': 'GET',
    'url.path': '/v1/agents/agent-12/tasks',
    'http.route': '/v1/agents/{id}/tasks',
    'http.response.status_code': 200,
    'server.address': 'edge.agents.svc.cluster.local',
    'network.protocol.version': '1.1',
    'user_agent.original': 'node-fetch/3.3',
    'enduser.id': 'usr_1234',
  });
});
