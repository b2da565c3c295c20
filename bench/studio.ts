// What the studio costs: changes told between devices, whole copies of a folder, agents that are started and
// tasks that are given to them. `--only=<part>` measures one of them, `--files=<count>` copies so many.
import { quick, whole } from './foundation/depth.ts';
import { printReport, type Part } from './harness/report.ts';
import { measureCopies } from './studio/copies.ts';
import { measureLatency } from './studio/latency.ts';
import { measureDocker, measureSpawn } from './studio/spawn.ts';
import { measureTasks } from './studio/tasks.ts';

const depth = process.argv.includes('--quick') ? quick : whole;
const only = valueOf('only');
const files = valueOf('files');

const parts: readonly Part[] = [
  ['latency', () => measureLatency(depth)],
  ['copies', () => measureCopies(depth, files === undefined ? undefined : Number(files))],
  ['spawn', () => measureSpawn(depth)],
  ['docker', () => measureDocker(depth)],
  ['tasks', () => measureTasks(depth)],
];

await printReport(parts.filter(([what]) => only === undefined || what === only));

/** What `--name=` says; undefined without it. */
function valueOf(name: string): string | undefined {
  const start = `--${name}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
}
