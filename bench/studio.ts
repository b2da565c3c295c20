// What the studio costs: changes told between devices, whole copies of a folder, agents that are started and
// tasks that are given to them. `--files=<count>` copies so many.
import { chosenDepth } from './harness/depth.ts';
import { valueOf } from './harness/arguments.ts';
import { printReport } from './harness/report.ts';
import { measureCopies } from './studio/copies.ts';
import { measureLatency } from './studio/latency.ts';
import { measureDocker, measureSpawn } from './studio/spawn.ts';
import { measureTasks } from './studio/tasks.ts';

const depth = chosenDepth();
const files = valueOf('files');

await printReport([
  ['latency', () => measureLatency(depth)],
  ['copies', () => measureCopies(depth, files === undefined ? undefined : Number(files))],
  ['spawn', () => measureSpawn(depth)],
  ['docker', () => measureDocker(depth)],
  ['tasks', () => measureTasks(depth)],
]);
