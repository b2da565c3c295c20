import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { atMost, type Figure, type Row } from '../harness/figure.ts';
import { Clone } from './clone.ts';
import type { Depth } from '../harness/depth.ts';
import { findPortBase } from '../harness/free-ports.ts';
import { isNpm, Program } from './program.ts';

const residentGoalMb = 600;

/** Samples by row, one each round. */
class Samples {
  readonly #byName = new Map<string, number[]>();

  add(name: string, sample: number): void {
    this.#byName.set(name, [...this.of(name), sample]);
  }

  of(name: string): readonly number[] {
    return this.#byName.get(name) ?? [];
  }
}

/** How long `npm start` takes in a clone of its own, and what memory the suite then rests at. */
export async function measureStartup(depth: Depth): Promise<Figure[]> {
  if (process.platform !== 'linux') {
    return [{ title: 'npm start', rows: [], note: 'not measured: the figures come from /proc' }];
  }
  await using clone = await Clone.make();
  await clone.linkDependencies();
  const samples = new Samples();
  for (let round = 0; round < depth.startRounds; round += 1) await runRound(clone, samples, depth);
  return [startFigure(samples, depth), memoryFigure(samples, depth)];
}

async function runRound(clone: Clone, samples: Samples, { isWhole, restMs }: Depth): Promise<void> {
  const at = (name: string) => join(clone.folder, name);
  const remove = (name: string) => rm(at(name), { recursive: true, force: true });
  await Promise.all(['dist', 'node_modules/.cache', 'reopened', 'fresh', 'bare'].map(remove));
  samples.add('first', await timeStart(clone, at('reopened')));
  if (isWhole) samples.add('fresh', await timeStart(clone, at('fresh')));
  await cp(at('reopened/postgres'), at('bare'), { recursive: true });
  samples.add('npm', await timeNothing(at('nothing')));
  await using suite = await startSuite(clone, at('reopened'));
  samples.add('second', suite.readyMs);
  samples.add('second own', suite.ownReadyMs);
  await using bare = await startBare(clone, at('bare'));
  samples.add('bare', bare.readyMs);
  await wait(restMs);
  noteMemory(samples, suite, bare);
}

async function timeStart(clone: Clone, dataFolder: string): Promise<number> {
  await using program = await startSuite(clone, dataFolder);
  return program.readyMs;
}

async function startSuite({ folder }: Clone, dataFolder: string): Promise<Program> {
  const environment = {
    ENNEAD_DATA_DIR: dataFolder,
    ENNEAD_PORT_BASE: String(await findPortBase()),
  };
  return Program.start({ command: 'npm', args: ['start'], folder, environment });
}

/** PGlite alone on a copy of the suite's database: below this no program with that database gets. */
function startBare({ folder }: Clone, cluster: string): Promise<Program> {
  const program = `
    import { PGlite } from '@electric-sql/pglite';
    const database = await PGlite.create(${JSON.stringify(join(cluster, 'pgdata'))});
    await database.query('select 1');
    console.log('ready in ' + Math.round(performance.now()) + ' ms');
    process.once('SIGTERM', () => process.exit());
    setInterval(() => {}, 60_000);`;
  const args = ['--input-type=module', '--eval', program];
  return Program.start({ command: process.execPath, args, folder });
}

/** `npm start` of a package that does nothing. */
async function timeNothing(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const program = "console.log('ready in 0 ms'); setInterval(() => {}, 60_000)";
  await writeFile(join(folder, 'nothing.mjs'), program);
  await writeFile(join(folder, 'package.json'), '{ "scripts": { "start": "node nothing.mjs" } }');
  await using started = await Program.start({ command: 'npm', args: ['start'], folder });
  return started.readyMs;
}

function noteMemory(samples: Samples, suite: Program, bare: Program): void {
  const sizes = suite.processes();
  const own = sizes.filter(({ command }) => !isNpm(command) && !command.startsWith('sh '));
  samples.add('suite memory', sumMb(own));
  samples.add('tree memory', sumMb(sizes));
  samples.add('bare memory', sumMb(bare.processes()));
}

function sumMb(processes: readonly { readonly residentBytes: number }[]): number {
  return processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1e6;
}

function startFigure(samples: Samples, { isWhole }: Depth): Figure {
  const row = { unit: 'ms' };
  const ours = (name: string, sample: string): Row => ({
    ...row,
    name,
    role: 'ours',
    samples: samples.of(sample),
  });
  return {
    title: 'npm start until ready, from the spawn',
    rows: [
      ours('first on a clone: builds, creates the database', 'first'),
      ...(isWhole ? [ours('built before, new data folder', 'fresh')] : []),
      ours('second: built before, data folder reopened', 'second'),
      ours('second, as `ready in` says', 'second own'),
      { ...row, name: 'npm start of nothing', role: 'limit', samples: samples.of('npm') },
      {
        ...row,
        name: 'node and PGlite on the same database',
        role: 'peer',
        samples: samples.of('bare'),
      },
    ],
    note: 'the dependencies are installed; the ports and the folders are of their own',
  };
}

function memoryFigure(samples: Samples, { restMs }: Depth): Figure {
  const row = { unit: 'MB' };
  return {
    title: `Resident memory at rest, ${restMs / 1000} s after the second start`,
    rows: [
      {
        ...row,
        name: "the suite's process",
        role: 'ours',
        samples: samples.of('suite memory'),
        goal: atMost(residentGoalMb, 'MB'),
      },
      {
        ...row,
        name: 'with npm and the shell around it',
        role: 'ours',
        samples: samples.of('tree memory'),
      },
      {
        ...row,
        name: 'node and PGlite on the same database',
        role: 'limit',
        samples: samples.of('bare memory'),
      },
    ],
    note: 'resident set sizes; pages that processes share count in each',
  };
}
