import assert from 'node:assert/strict';
import type { Depth } from '../harness/depth.ts';
import { atMost, type Figure } from '../harness/figure.ts';
import { addedTo, medianMs } from '../harness/latency.ts';
import type { Shot } from '../harness/load.ts';
import { runRounds } from '../harness/rounds.ts';
import { Contestant, underLoad } from './contestant.ts';
import { task, taskResult } from './exchange.ts';

const agentId = 'rest-agent';

/** What a task costs that the mesh passes on to an agent's address, beside calling the agent. */
export async function measureForwarding(depth: Depth): Promise<Figure[]> {
  await using agent = await Contestant.limit('bare', JSON.stringify({ result: taskResult }));
  await using bare = await Contestant.passThrough(agent.hello.url);
  await using ours = await Contestant.ours('empty');
  await ours.load.send({ ...registration(agent.hello.url), status: 201 });
  const answer = JSON.parse(await ours.load.send(oursShot, 1)) as { readonly result: unknown };
  assert.deepEqual(answer.result, taskResult);
  const ways = {
    agent: { at: agent, shot: agentShot },
    bare: { at: bare, shot: agentShot },
    ours: { at: ours, shot: oursShot },
  };
  const names = ['agent', 'bare', 'ours'] as const;
  const timed = await runRounds(
    names.map((name) => {
      const { at, shot } = ways[name];
      const step = (turn: number) => at.load.send(shot, turn);
      return { name, measure: () => medianMs(step, depth.requests / 4) };
    }),
    depth,
  );
  const cpu = await runRounds(
    names.map((name) => ({
      name,
      measure: () => ways[name].at.cpuMicrosPerShot(() => ways[name].shot, depth.requests),
    })),
    depth,
  );
  return [timeFigure(timed), cpuFigure(cpu)];
}

function timeFigure(samplesOf: (name: string) => readonly number[]): Figure {
  const unit = 'ms';
  const direct = samplesOf('agent');
  const added = (name: string) => addedTo(direct, samplesOf(name));
  return {
    title: 'Time of a task that is passed on to a REST agent, median of each round',
    rows: [
      { name: 'the agent itself', role: 'limit', unit, samples: direct },
      { name: 'added by a bare pass-through', role: 'check', unit, samples: added('bare') },
      {
        name: 'added by ours',
        role: 'ours',
        unit,
        samples: added('ours'),
        goal: atMost(1, unit),
      },
    ],
    note: 'wall time at one connection: only worth something on a quiet machine',
  };
}

function cpuFigure(samplesOf: (name: string) => readonly number[]): Figure {
  const unit = 'us';
  return {
    title: 'CPU per task that is passed on',
    rows: [
      { name: 'ours: limits, queue, span, record', role: 'ours', unit, samples: samplesOf('ours') },
      {
        name: 'bare: node:http handed through to undici',
        role: 'limit',
        unit,
        samples: samplesOf('bare'),
      },
      { name: 'the agent itself', role: 'check', unit, samples: samplesOf('agent') },
    ],
    note: underLoad,
  };
}

const oursShot: Shot = {
  method: 'POST',
  path: '/api/v1/tasks/execute',
  body: JSON.stringify({ targetAgent: agentId, task }),
};

const agentShot: Shot = {
  method: 'POST',
  path: '/tasks',
  body: JSON.stringify({ taskId: 'tsk_0', ...task, timeout: 30_000, priority: 'normal' }),
};

function registration(url: string): Shot {
  return {
    method: 'POST',
    path: '/api/v1/agents/register',
    body: JSON.stringify({
      agentId,
      capabilities: ['summarise'],
      endpoints: { rest: url },
      metadata: { maxConcurrency: 1_000 },
    }),
  };
}
