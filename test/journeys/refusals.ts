import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { pathsOf, type Contract } from '../../src/kit/contract.ts';

interface Target {
  readonly contract: Contract;
  readonly url: string;
  /** A token that may do everything. */
  readonly token: string;
}

/** Every route of a service that needs a token refuses a caller without one. */
export async function expectAnonymousRefused({ contract, url }: Target): Promise<void> {
  for (const route of Object.values(contract.routes)) {
    // Who asks from this machine, as this test does, may read what is public here.
    if (route.auth !== undefined) continue;
    for (const path of pathsOf(route)) {
      const answer = await fetch(url + path.replaceAll(/:\w+/g, 'x'), { method: route.method });
      expect([route.method, path, answer.status]).toEqual([route.method, path, 401]);
      await expectEnvelope(contract, answer);
    }
  }
}

/** Rubbish gets the right status in the service's own envelope, and the service stays healthy. */
export async function expectRubbishRefused(target: Target): Promise<void> {
  const { contract, url, token } = target;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  await expectAnswer(contract, fetch(`${url}/no/such/path`), 404);
  const [wrongMethod, wrongType] = hasFewStatuses(contract) ? [404, 400] : [405, 415];
  await expectAnswer(contract, fetch(`${url}/health`, { method: 'DELETE' }), wrongMethod);
  const posts = Object.values(contract.routes).filter(({ schema }) => schema.body);
  for (const route of posts) {
    const address = url + route.url.replaceAll(/:\w+/g, 'x');
    const send = (body: string, more = {}) =>
      fetch(address, { method: route.method, body, headers: { ...headers, ...more } });
    await expectAnswer(contract, send('{"a":'), 400);
    await expectAnswer(contract, send('{"__proto__":{"a":1}}'), 400);
    await expectAnswer(contract, send(`${'['.repeat(5_000)}${']'.repeat(5_000)}`), 400);
    await expectAnswer(contract, send('"text"'), 400);
    await expectAnswer(contract, send('a=b', { 'content-type': 'text/plain' }), wrongType);
    const bytes = (route.bodyBytesMax ?? 1024 * 1024) + 1024;
    await expectAnswer(contract, send(`{"a":"${'x'.repeat(bytes)}"}`), 413);
  }
  expect((await fetch(`${url}/health`)).status).toBe(200);
}

/** Chat's interface names all statuses that it has. */
function hasFewStatuses({ name }: Contract): boolean {
  return name === 'chat';
}

async function expectAnswer(contract: Contract, asked: Promise<Response>, status: number) {
  const answer = await asked;
  expect([contract.name, answer.url, answer.status]).toEqual([contract.name, answer.url, status]);
  await expectEnvelope(contract, answer);
}

async function expectEnvelope(contract: Contract, answer: Response): Promise<void> {
  const body: unknown = await answer.json();
  const isEnvelope = Value.Check(contract.error, body);
  expect(isEnvelope, `${answer.url}: ${JSON.stringify(body)}`).toBe(true);
}
