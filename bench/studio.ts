// What the studio costs: changes told between devices, whole copies of a folder, agents that are started and
// tasks that are given to them. `--only=<part>` measures one of them.
import { quick, whole } from './foundation/depth.ts';
import { printReport, type Part } from './harness/report.ts';
import { measureCopies } from './studio/copies.ts';
import { measureLatency } from './studio/latency.ts';
import { measureDocker, measureSpawn } from './studio/spawn.ts';
import { measureTasks } from './studio/tasks.ts';

const depth = process.argv.includes('--quick') ? quick : whole;
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length);

const parts: readonly Part[] = [
  ['latency', () => measureLatency(depth)],
  ['copies', () => measureCopies(depth)],
  ['spawn', () => measureSpawn(depth)],
  ['docker', () => measureDocker(depth)],
  ['tasks', () => measureTasks(depth)],
];

await printReport(parts.filter(([what]) => only === undefined || what === only));
