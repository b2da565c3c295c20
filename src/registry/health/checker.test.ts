import { expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { explain } from './finding.ts';
import { HealthGround, type Conduct } from './testing.ts';

/** What a check of a server says that behaves like this. */
async function verdictOf(conduct: Conduct, over = {}) {
  const ground = new HealthGround();
  ground.links.conducts.set('c', conduct);
  const verdict = await ground.checker.check(ground.add('c', over));
  await ground.ledger.flush();
  return { ground, verdict };
}

test('a closed port is unreachable, and one that keeps silent a timeout', async () => {
  const [closed, silent] = await Promise.all([
    verdictOf('is unreachable'),
    verdictOf('hangs at the door'),
  ]);
  expect(closed.verdict).toMatchObject({
    isAnswered: false,
    status: 'degraded',
    reason: 'unreachable',
    message: 'no MCP server answered there',
  });
  expect(silent.verdict).toMatchObject({
    isAnswered: false,
    status: 'degraded',
    reason: 'timeout',
    message: 'the server did not answer in time',
  });
});

test('a server that hangs after it was reached is a timeout, and costs no more than that', async () => {
  const { verdict, ground } = await verdictOf('hangs');
  expect(verdict).toMatchObject({ status: 'degraded', reason: 'timeout' });
  expect(verdict.responseTime).toBeGreaterThanOrEqual(49);
  expect(ground.get('c').health).toMatchObject({ failuresInRow: 1, checksPerformed: 1 });
});

test('a refusal says what is missing', async () => {
  const { verdict } = await verdictOf('needs approval');
  expect(verdict).toMatchObject({ status: 'error', reason: 'approval_required' });
});

test.for(['knows no ping', 'limits its callers'] as const)(
  'a server that %s has answered',
  async (conduct) => {
    const { verdict } = await verdictOf(conduct);
    expect(verdict).toMatchObject({ isAnswered: true, status: 'healthy' });
  },
);

test('the reason of a failure is the one of its Fault, when it is one that may be told', () => {
  const reasonOf = (code: 'upstream' | 'unavailable' | 'internal', reason?: string) =>
    explain(new Fault(code, 'x', reason === undefined ? {} : { reason }), false).reason;
  expect(reasonOf('unavailable', 'process_exited')).toBe('process_exited');
  expect(reasonOf('unavailable', 'econnrefused')).toBe('unreachable');
  expect(reasonOf('upstream')).toBe('not_mcp');
  expect(explain(new Error('ours'), false).reason).toBe('unreachable');
});

test('who asks while a check runs gets the same verdict', async () => {
  const ground = new HealthGround();
  const connection = ground.add('c');
  const verdicts = await Promise.all([1, 2, 3].map(() => ground.checker.check(connection)));
  expect(ground.links.asked).toEqual(['c']);
  expect(new Set(verdicts).size).toBe(1);
  expect(ground.events).toHaveLength(1);
});

test('a check tells what the interface promises', async () => {
  const { ground } = await verdictOf('answers');
  expect(ground.events).toEqual([
    {
      type: 'health-check',
      connectionId: 'c',
      health: 'healthy',
      responseTime: expect.any(Number),
      timestamp: new Date(ground.nowMs).toISOString(),
    },
  ]);
});

test('what has nothing to ask or is disconnected is not asked, and nothing counts', async () => {
  const none = await verdictOf('answers', { type: 'client', endpoint: { url: '' } });
  expect(none.verdict).toMatchObject({ status: 'initializing', reason: 'no_endpoint' });
  const gone = await verdictOf('answers', { status: 'disconnected' });
  expect(gone.verdict).toMatchObject({ status: 'error', reason: 'disconnected' });
  expect([...none.ground.links.asked, ...gone.ground.links.asked]).toEqual([]);
  expect([...none.ground.events, ...gone.ground.statements]).toEqual([]);
});

test('a check under which the connection is disconnected is no failure, and is not told', async () => {
  const ground = new HealthGround();
  ground.links.conducts.set('c', 'hangs');
  const check = ground.checker.check(ground.add('c'));
  ground.change('c', { status: 'disconnected' });
  expect(await check).toMatchObject({ status: 'error', reason: 'disconnected' });
  await ground.ledger.flush();
  expect(ground.get('c').health).toMatchObject({ checksPerformed: 0, failuresInRow: 0 });
  expect(ground.events).toEqual([]);
});

test('lists are learned after an answer only, and a failure of that is none of the check', async () => {
  const learned: string[] = [];
  const learn = async (id: string): Promise<void> => {
    learned.push(id);
    throw new Error('no list');
  };
  const ground = new HealthGround({ learn });
  ground.links.conducts.set('down', 'is unreachable');
  await ground.checker.check(ground.add('down'));
  const verdict = await ground.checker.check(ground.add('up'));
  expect(learned).toEqual(['up']);
  expect(verdict.status).toBe('healthy');
});

test('ending the checks ends those that run, and they count for nothing', async () => {
  const ground = new HealthGround();
  ground.links.conducts.set('c', 'hangs');
  const check = ground.checker.check(
    ground.add('c', { healthCheck: { enabled: true, interval: 30, timeout: 600_000 } }),
  );
  const refused = expect(check).rejects.toMatchObject({ reason: 'stopping' });
  await Promise.resolve();
  ground.checker[Symbol.dispose]();
  await refused;
  await ground.ledger.flush();
  expect(ground.statements).toEqual([]);
});

test('a thousand findings are few statements, and the next judgement knows those that wait', async () => {
  const ground = new HealthGround();
  const connections = Array.from({ length: 1000 }, (_, at) => ground.add(`c${at}`));
  await Promise.all(connections.map((connection) => ground.checker.check(connection)));
  const [first = ground.add('x')] = connections;
  ground.links.conducts.set(first.id, 'is unreachable');
  await ground.checker.check(first);
  expect(ground.ledger.standing(first).health.checksPerformed).toBe(2);
  await ground.ledger.flush();
  expect(ground.statements.length).toBeLessThanOrEqual(3);
  expect(ground.get(first.id).health).toMatchObject({ checksPerformed: 2, failuresInRow: 1 });
});

test('what was found under a lease that is lost is not written, nor what the table does not take', async () => {
  const ground = new HealthGround();
  await ground.checker.check(ground.add('c'), { isValid: () => false });
  await ground.ledger.flush();
  expect(ground.statements).toEqual([]);
  ground.isTableAway = true;
  const { written } = await ground.checker.check(ground.add('d'));
  await Promise.all([ground.ledger.flush(), written]);
  expect(ground.get('d').health.status).toBe('initializing');
  expect(ground.ledger.standing(ground.get('d')).health.status).toBe('initializing');
});
