import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bus, Topic } from '../kit/bus/bus.ts';
import { openBus } from '../kit/bus/open-bus.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { silentLog } from '../kit/testing.ts';
import { openGround, startAuth, type RunningAuth } from './testing.ts';

const base = '/api/v1/auth';
const lifetime = new Lifetime(silentLog);
let auth: RunningAuth;
let admin: string;
let user: { id: string; token: string };
let release = () => {};

beforeAll(async () => {
  const ground = lifetime.own('the ground', await openGround());
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  auth = lifetime.own('auth', await startAuth(ground, { bus: silence(bus) }));
  lifetime.defer('the silence', async () => release());
  admin = await auth.adminToken();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

/** A bus that takes nothing until it is released. */
function silence(bus: Bus): Bus {
  const released = new Promise<number>((resolve) => {
    release = () => resolve(0);
  });
  return {
    kind: bus.kind,
    isConnected: bus.isConnected,
    ping: () => bus.ping(),
    topic: <T>(name: string): Topic<T> => {
      const topic = bus.topic<T>(name);
      return {
        publish: () => released,
        subscribe: (handler, options) => topic.subscribe(handler, options),
        lastSeq: () => topic.lastSeq(),
      };
    },
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

beforeEach(async () => {
  const username = `user${Math.random().toString(36).slice(2)}`;
  const password = 'a good password';
  const body = { username, password, email: 'u@example.com', name: 'U', roles: ['developer'] };
  const { id } = (await auth.call('POST', `${base}/users`, { token: admin, body })).body;
  user = { id, token: (await auth.login(username, password)).body.access_token };
});

const userInfoStatus = async () =>
  (await auth.call('GET', `${base}/userinfo`, { token: user.token })).status;

type Act = () => Readonly<{ method: 'POST' | 'PATCH' | 'DELETE'; path: string; body?: object }>;

test.each<[string, Act]>([
  ['a revoked token', () => ({ method: 'POST', path: 'revoke', body: { token: user.token } })],
  ['ended sessions', () => ({ method: 'DELETE', path: `sessions?userId=${user.id}` })],
  [
    'roles that were taken',
    () => ({ method: 'PATCH', path: `users/${user.id}`, body: { roles: ['user'] } }),
  ],
  [
    'a user who was disabled',
    () => ({ method: 'PATCH', path: `users/${user.id}`, body: { disabled: true } }),
  ],
])('%s is answered at once and in force while the bus takes nothing', async (_, act) => {
  expect(await userInfoStatus()).toBe(200);
  const { method, path, body } = act();
  const { status } = await auth.call(method, `${base}/${path}`, { token: admin, body });
  expect([status, await userInfoStatus()]).toEqual([200, 401]);
});

test('changed mappings and signing keys are answered while the bus takes nothing', async () => {
  const { body } = await auth.call('GET', `${base}/group-mappings`, { token: admin });
  const put = await auth.call('PUT', `${base}/group-mappings`, { token: admin, body });
  expect(put.status).toBe(200);
  const rotated = await auth.call('POST', `${base}/keys/rotate`, { token: admin });
  expect(rotated.status).toBe(200);
  const { previousKid } = rotated.body;
  const revoked = await auth.call('POST', `${base}/keys/${previousKid}/revoke`, { token: admin });
  expect([revoked.status, await userInfoStatus()]).toEqual([200, 401]);
});
