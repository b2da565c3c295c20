import { expect, test } from 'vitest';
import { Fault } from './kit/errors.ts';
import type { Service } from './kit/service.ts';
import { silentLog } from './kit/testing.ts';
import { RunningServices } from './running-services.ts';
import { services, startOrder } from './services.ts';

const nameOf = ({ contract }: Service) => contract.name;
const hosted = startOrder.filter((service) => nameOf(service) !== 'studio');

/** Services that are started and stopped by hand. */
function open({ fails = new Map<string, Error>(), gate = Promise.resolve() } = {}) {
  const steps: string[] = [];
  let atOnce = 0;
  let atOnceMax = 0;
  const step = async (what: string) => {
    atOnce += 1;
    atOnceMax = Math.max(atOnceMax, atOnce);
    steps.push(what);
    await gate;
    await new Promise(setImmediate);
    atOnce -= 1;
  };
  const running = new RunningServices({
    hosted,
    addresses: {
      consolePort: 7400,
      consoleUrl: 'http://console.test',
      portOf: () => 1,
      furtherPortsOf: () => ({}),
      urlOf: (name) => `http://${name}.test`,
      portsHere: () => new Map(),
    },
    open: async (service) => {
      const name = nameOf(service);
      await step(`start ${name}`);
      const error = fails.get(name);
      if (error) throw error;
      return { [Symbol.asyncDispose]: () => step(`stop ${name}`) };
    },
    onStarted: () => {},
    onStopping: async () => {},
    log: silentLog,
  });
  return { running, steps, fails, atOnceMax: () => atOnceMax };
}

const statusOf = (running: RunningServices, name: string) =>
  running.services().find((member) => member.name === name);

test('a service that fails to start is told with its reason and leaves the others up', async () => {
  const fails = new Map([['registry', new Fault('unavailable', 'the port is taken')]]);
  const { running } = open({ fails });
  expect(await running.start(['mesh', 'registry', 'models'])).toEqual({
    changed: ['models', 'mesh'],
    refused: [{ name: 'registry', reason: 'the port is taken' }],
  });
  expect(statusOf(running, 'registry')).toMatchObject({
    status: 'stopped',
    failure: 'the port is taken',
  });
  expect(statusOf(running, 'mesh')).toMatchObject({ status: 'running' });
  fails.clear();
  expect(await running.start(['registry'])).toEqual({ changed: ['registry'], refused: [] });
  expect(statusOf(running, 'registry')).not.toHaveProperty('failure');
});

test('an error of ours stays in the log', async () => {
  const { running } = open({ fails: new Map([['mesh', new Error('secret path /x')]]) });
  const { refused } = await running.start(['mesh']);
  expect(refused).toEqual([{ name: 'mesh', reason: expect.not.stringContaining('/x') }]);
});

test('services of other processes are refused, and so are those that stay up', async () => {
  const { running, steps } = open();
  await running.start(['auth', 'chat']);
  expect(await running.start(['studio', 'chat'])).toMatchObject({
    changed: [],
    refused: [{ name: 'studio' }],
  });
  expect(await running.stop(['studio', 'auth', 'chat'])).toMatchObject({
    changed: [],
    refused: [{ name: 'studio' }, { name: 'chat' }, { name: 'auth' }],
  });
  expect(steps).toEqual(['start auth', 'start chat']);
  expect(statusOf(running, 'studio')).toEqual({
    name: 'studio',
    version: '1.0.0',
    url: 'http://studio.test',
    status: 'elsewhere',
    isLasting: false,
  });
});

test('who asks twice at once waits, and the second change finds what the first one did', async () => {
  const { running, steps, atOnceMax } = open();
  const names = ['tracer', 'gateway'];
  const changes = await Promise.all([
    running.start(names),
    running.start(names),
    running.stop(names),
    running.stop(['gateway']),
    running.start(['gateway']),
  ]);
  expect(changes.map(({ changed }) => changed)).toEqual([
    ['tracer', 'gateway'],
    [],
    ['gateway', 'tracer'],
    [],
    ['gateway'],
  ]);
  expect(steps).toEqual([
    'start tracer',
    'start gateway',
    'stop gateway',
    'stop tracer',
    'start gateway',
  ]);
  expect(atOnceMax()).toBe(1);
});

test('closing stops all in reverse, what never stops too, and what is queued behind starts nothing', async () => {
  const { running, steps } = open();
  for (const service of hosted) await running.launch(service);
  steps.length = 0;
  const closing = running[Symbol.asyncDispose]();
  const late = running.start(['gateway']);
  await closing;
  expect(await late).toMatchObject({ changed: [], refused: [{ name: 'gateway' }] });
  expect(steps).toEqual(hosted.toReversed().map((service) => `stop ${nameOf(service)}`));
});

test('a launch that fails says why, and all services are listed in the order of their ports', async () => {
  const { running } = open({ fails: new Map([['mesh', new Fault('unavailable', 'no disk')]]) });
  const mesh = hosted.find((service) => nameOf(service) === 'mesh')!;
  await expect(running.launch(mesh)).rejects.toThrow('no disk');
  expect(running.services().map(({ name }) => name)).toEqual(services.map(nameOf));
});
