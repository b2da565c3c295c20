import { expect, test } from 'vitest';
import { failureOf, type Finding } from './finding.ts';
import { judgeCheck, judgeSignal, type Judgement } from './judgement.ts';
import { connectionOf } from './testing.ts';

const answered = (responseTimeMs = 1): Finding => ({ isAnswered: true, responseTimeMs });
const failed = (reason: string): Finding => ({
  isAnswered: false,
  responseTimeMs: 1,
  ...failureOf(reason),
});

/** What a connection goes through, finding by finding, a second apart. */
function live(findings: readonly Finding[], from: Partial<Judgement> = {}): Judgement[] {
  let now = { ...connectionOf('c'), ...from };
  return findings.map((finding, place) => {
    const judgement = judgeCheck(now, finding, (place + 1) * 1000);
    now = { ...now, ...judgement };
    return judgement;
  });
}

const statesOf = (judgements: readonly Judgement[]) =>
  judgements.map(({ status, health }) =>
    `${status} ${health.status} ${health.reason ?? ''}`.trim(),
  );

test('two failures in a row degrade, the third is an error, one success mends all', () => {
  const findings = ['timeout', 'unreachable', 'unreachable', 'not_mcp'].map(failed);
  const judgements = live([...findings, answered()]);
  expect(statesOf(judgements)).toEqual([
    'active degraded timeout',
    'active degraded unreachable',
    'error error unreachable',
    'error error not_mcp',
    'active healthy',
  ]);
  expect(judgements.at(-1)?.health).toEqual({
    status: 'healthy',
    checksPerformed: 5,
    failedChecks: 4,
    failuresInRow: 0,
    lastCheckMs: 5000,
    upSinceMs: 5000,
  });
});

test('a refusal is an error at once, the status waits for the third', () => {
  expect(statesOf(live([1, 2, 3].map(() => failed('approval_required'))))).toEqual([
    'active error approval_required',
    'active error approval_required',
    'error error approval_required',
  ]);
});

test('an answer that took over half of its time degrades without being a failure', () => {
  const [slow, quick] = live([answered(26), answered(25)]);
  expect(slow).toMatchObject({
    status: 'active',
    health: { status: 'degraded', reason: 'slow', failuresInRow: 0, upSinceMs: 1000 },
  });
  expect(quick?.health).toMatchObject({ status: 'healthy', upSinceMs: 1000 });
  expect(quick?.health).not.toHaveProperty('reason');
});

test('a success leaves an idle connection idle, and a failure forgets since when it was up', () => {
  const [up, down] = live([answered(), failed('timeout')], { status: 'idle' });
  expect(up?.status).toBe('idle');
  expect(down?.status).toBe('idle');
  expect(down?.health).not.toHaveProperty('upSinceMs');
});

test('what calls show moves the states and counts no check', () => {
  const connection = connectionOf('c');
  const { health } = judgeSignal(connection, failed('calls_failed'), 5000);
  expect(health).toEqual({
    status: 'degraded',
    reason: 'calls_failed',
    checksPerformed: 0,
    failedChecks: 0,
    failuresInRow: 1,
  });
});

test('a call that failed once does not begin the uptime anew', () => {
  const [checked] = live([answered()]);
  const up = { ...connectionOf('c'), ...checked };
  const failing = judgeSignal(up, failed('calls_failed'), 5000);
  expect(failing.health).toMatchObject({ status: 'degraded', upSinceMs: 1000 });
  const mended = judgeSignal({ ...up, ...failing }, answered(), 6000);
  expect(mended.health).toMatchObject({ status: 'healthy', upSinceMs: 1000 });
});
