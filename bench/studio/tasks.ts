import { createClient, type Client } from '../../src/kit/client.ts';
import { Tracer } from '../../src/kit/trace/trace.ts';
import { joinMesh } from '../../src/mesh/agent.ts';
import { meshContract } from '../../src/mesh/contract.ts';
import { startMesh } from '../../src/mesh/testing.ts';
import { openTaskGround } from '../../src/studio/tasks/ground-testing.ts';
import { hasEnded } from '../../src/studio/tasks/stored-task.ts';
import type { StoredTasks } from '../../src/studio/tasks/stored-tasks.ts';
import { identityOf, taskOf } from '../../src/studio/tasks/testing.ts';
import type { Depth } from '../harness/depth.ts';
import type { Figure } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';

const agentId = 'agt_bench';
const atOnce = 32;

/** How many tasks a second reach an agent that answers at once, beside the mesh alone. */
export async function measureTasks(depth: Depth): Promise<Figure[]> {
  const boundless = { RATE_LIMIT_MESH_PER_MINUTE: '10000000', RATE_LIMIT_MESH_BURST: '10000000' };
  await using mesh = await startMesh({ environment: boundless });
  await using ground = await openTaskGround();
  await using agent = await joinMesh({
    url: mesh.url,
    token: await mesh.tokenOf(agentId),
    agentId,
    capabilities: ['code_generation'],
    listen: {},
    concurrency: 2 * atOnce,
    metadata: { maxConcurrency: 2 * atOnce },
    onTask: () => ({ text: 'done', artefacts: [] }),
  });
  const studioToken = await mesh.tokenOf('svc_studio');
  const client = createClient(meshContract, {
    baseUrl: mesh.url,
    token: async () => studioToken,
    tracer: new Tracer(() => {}),
  });
  Object.assign(ground, { mesh: client });
  ground.agents.set({ id: agent.agentId });
  const tasks = await ground.startTasks({ agentTasksMax: atOnce });
  const count = Math.max(100, Math.round(depth.requests / 6));
  const rateOf = async (work: () => Promise<void>) => {
    const startedAt = performance.now();
    await work();
    return (count * 1_000) / (performance.now() - startedAt);
  };
  const samplesOf = await runRounds(
    [
      { name: 'mesh', measure: () => rateOf(() => executeAll(client, count)) },
      { name: 'studio', measure: () => rateOf(() => giveAll(tasks, count)) },
    ],
    depth,
  );
  await ground.clear();
  return [figureOf(samplesOf)];
}

/** Asks the mesh for so many tasks and waits for each. */
async function executeAll(mesh: Client<typeof meshContract>, count: number): Promise<void> {
  const body = { targetAgent: agentId, task: { type: 'code_generation', input: { prompt: 'x' } } };
  let left = count;
  const work = async () => {
    while ((left -= 1) >= 0) {
      const headers = { 'idempotency-key': `k${Math.random()}` };
      await mesh.executeTask({ body }, { headers });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Gives the studio so many tasks at once and waits until the last has ended. */
async function giveAll(tasks: StoredTasks, count: number): Promise<void> {
  let left = count;
  let stop = () => {};
  const ended = new Promise<void>((resolve) => {
    stop = tasks.listen((task) => {
      if (!hasEnded(task)) return;
      if (task.status === 'failed') throw new Error(task.failure?.message);
      left -= 1;
      if (left === 0) resolve();
    });
  });
  const ada = identityOf('usr_ada');
  await Promise.all(Array.from({ length: count }, () => tasks.add(ada, taskOf())));
  await ended;
  stop();
}

function figureOf(samplesOf: (name: string) => readonly number[]): Figure {
  const unit = '/s';
  return {
    title: `Tasks a second to an agent that answers at once, ${atOnce} at a time`,
    rows: [
      { name: 'executeTask of the mesh', role: 'limit', unit, samples: samplesOf('mesh') },
      { name: 'tasks of the studio', role: 'ours', unit, samples: samplesOf('studio') },
    ],
    note: 'Each durable at every step, on a PGlite of each service. Mesh, studio and agent share one process.',
  };
}
