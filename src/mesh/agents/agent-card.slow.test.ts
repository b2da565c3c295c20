import { exportJWK, FlattenedSign, generateKeyPair, type CryptoKey } from 'jose';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { openGround, startAgents, type Ground } from './testing.ts';

let ground: Ground;
let mesh: Awaited<ReturnType<typeof startAgents>>;
const servers: Server[] = [];

beforeAll(async () => {
  ground = await openGround();
  mesh = await startAgents(ground);
});

afterAll(async () => {
  for (const server of servers) server.close();
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const register = (body: object) => mesh.call('POST', '/api/v1/agents/register', body);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const card = {
  name: 'Card Agent',
  description: 'Reads cards.',
  version: '2.1.0',
  supportedInterfaces: [
    { url: 'http://localhost:9/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://localhost:9999', protocolBinding: 'GRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: false },
  skills: [{ id: 'translate', name: 'Translate', description: '', tags: ['language', 'text'] }],
};

async function signCard(content: object, privateKey: CryptoKey, extra: object = {}) {
  const jws = await new FlattenedSign(Buffer.from(canonicalJson(content)))
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'JOSE', ...extra })
    .sign(privateKey);
  return { ...content, signatures: [{ protected: jws.protected, signature: jws.signature }] };
}

test('an A2A card registers: skills are capabilities, interfaces endpoints', async () => {
  const { status, body } = await register({ agentCard: card });
  expect(status).toBe(201);
  expect(body.agentId).toBe('Card-Agent');
  expect(body.card).toEqual({ name: 'Card Agent', version: '2.1.0', verified: false });
  expect((await mesh.call('GET', '/api/v1/agents/Card-Agent')).body).toMatchObject({
    capabilities: ['translate', 'language', 'text'],
    endpoints: { a2a: 'http://localhost:9/a2a', a2aVersion: '1.0' },
    metadata: { version: '2.1.0' },
  });
  const old = { name: 'old', url: 'http://localhost:9/old', protocolVersion: '0.3.0', skills: [] };
  await register({ agentId: 'old-card', agentCard: old });
  expect((await mesh.call('GET', '/api/v1/agents/old-card')).body.endpoints).toEqual({
    a2a: 'http://localhost:9/old',
    a2aVersion: '0.3',
  });
  const nameless = await register({ agentCard: { ...card, name: '' } });
  expect([nameless.status, nameless.body.error.code]).toEqual([400, 'AGENT_CARD_INVALID']);
});

test('of a card’s interfaces the first that the mesh speaks counts, and one without any is refused', async () => {
  const at = (path: string, protocolBinding: string, protocolVersion = '1.0') => ({
    url: `https://localhost:9/${path}`,
    protocolBinding,
    protocolVersion,
  });
  const send = (supportedInterfaces: object[], more: object = {}) =>
    register({ agentId: 'many', agentCard: { ...card, supportedInterfaces }, ...more });
  const others = [at('grpc', 'GRPC'), at('rest', 'HTTP+JSON'), at('next', 'JSONRPC', '2.0')];
  const taken = await send([...others, at('old', 'JSONRPC', '0.3.0'), at('rpc', 'JSONRPC')]);
  expect(taken.status).toBe(201);
  const read = () => mesh.call('GET', '/api/v1/agents/many');
  expect((await read()).body.endpoints).toEqual({
    a2a: 'https://localhost:9/old',
    a2aVersion: '0.3',
  });
  for (const interfaces of [others, []]) {
    const refused = await send(interfaces);
    expect([refused.status, refused.body.error]).toMatchObject([
      400,
      { code: 'AGENT_CARD_INVALID', message: expect.stringContaining('JSONRPC') },
    ]);
  }
  const beside = await send(others, { endpoints: { rest: 'http://localhost:9/own' } });
  expect(beside.status).toBe(201);
  expect((await read()).body.endpoints).toEqual({ rest: 'http://localhost:9/own' });
});

test('a card’s signature must be of a pinned key, whatever address the card gives', async () => {
  const pinned = await generateKeyPair('ES256', { extractable: true });
  const foreign = await generateKeyPair('ES256', { extractable: true });
  const jwk = async (key: CryptoKey, kid = 'k1') => ({ ...(await exportJWK(key)), kid });
  const cardKeys = [await jwk(pinned.publicKey)];
  let calls = 0;
  const jku = await serve(async (_request, response) => {
    calls += 1;
    response.end(JSON.stringify({ keys: [await jwk(foreign.publicKey)] }));
  });
  const code = async (body: object) => (await register({ agentId: 'signed', ...body })).body;
  const forged = await signCard(card, foreign.privateKey, { jku });
  expect((await code({ agentCard: forged, cardKeys })).error.code).toBe('CARD_SIGNATURE_INVALID');
  expect((await code({ agentCard: card, cardKeys })).error.code).toBe('CARD_SIGNATURE_INVALID');
  const signed = await signCard(card, pinned.privateKey);
  expect((await code({ agentCard: signed, cardKeys })).card.verified).toBe(true);
  expect((await code({ agentCard: signed })).card.verified).toBe(true);
  for (const agentCard of [card, forged, { ...signed, name: 'Changed' }]) {
    expect((await code({ agentCard })).error.code).toBe('CARD_SIGNATURE_INVALID');
  }
  const takeover = [await jwk(foreign.publicKey)];
  expect((await code({ capabilities: [], cardKeys: takeover })).error.code).toBe(
    'CARD_KEYS_PINNED',
  );
  expect((await code({ agentCard: forged, cardKeys: takeover })).error.code).toBe(
    'CARD_SIGNATURE_INVALID',
  );
  expect(calls).toBe(0);
});

test('a card that the A2A SDK has signed holds', async () => {
  const { AgentCard, generateAgentCardSignature } = await import('@a2a-js/sdk');
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'k1', typ: 'JOSE' });
  const signed = AgentCard.toJSON(await sign(AgentCard.fromJSON(card)));
  const cardKeys = [{ ...(await exportJWK(publicKey)), kid: 'k1' }];
  const { body } = await register({ agentId: 'sdk', agentCard: signed, cardKeys });
  expect(body.card).toMatchObject({ verified: true });
});

test('a card is fetched from its address, but no redirect is followed', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/card') response.end(JSON.stringify(card));
    else if (request.url === '/moved') response.writeHead(302, { location: '/card' }).end();
    else if (request.url === '/huge') response.end('x'.repeat(300 * 1024));
    else response.writeHead(404).end();
  });
  const fetched = await register({ agentId: 'fetched', agentCardUrl: `${url}/card` });
  expect(fetched.status).toBe(201);
  for (const [path, code] of [
    ['/moved', 'REDIRECT_REFUSED'],
    ['/none', 'AGENT_CARD_UNREACHABLE'],
  ]) {
    const { status, body } = await register({ agentId: 'fetched', agentCardUrl: url + path });
    expect([status, body.error.code]).toEqual([502, code]);
  }
  const huge = await register({ agentId: 'fetched', agentCardUrl: `${url}/huge` });
  expect(huge.status).toBe(502);
  const spy = await register({ agentId: 'fetched', agentCardUrl: 'http://169.254.169.254/' });
  expect(spy.status).toBe(403);
});

test('JSON is written in its canonical form', () => {
  // RFC 8785, section 3.2.3 and appendix B.
  const value = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = {
    '\u20ac': 1,
    '\r': 2,
    '\ufb33': 3,
    '1': 4,
    '\u{1f600}': 5,
    '\u0080': 6,
    '\u00f6': 7,
  };
  const sorted = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}';
  expect(canonicalJson(names)).toBe(sorted);
  expect(() => canonicalJson({ text: '\udc00' })).toThrow('surrogate');
  expect(canonicalJson(String.raw`\ud800 is text`)).toBe(String.raw`"\\ud800 is text"`);
});
