import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessStudio } from '../../src/commands/sync/studio-access.ts';
import { SyncFolder } from '../../src/commands/sync/sync-folder.ts';
import { SyncIndex } from '../../src/commands/sync/sync-index.ts';
import { SyncRun } from '../../src/commands/sync/sync-run.ts';
import type { Depth } from '../harness/depth.ts';
import type { Figure, Row } from '../harness/figure.ts';
import { runRounds, type Contestant } from '../harness/rounds.ts';
import { makeWorkspace, startStudioChild, type StudioHello } from './studio.ts';

const files = 10_000;
const fileBytes = 2_000;
const sending = 'ours, to a new workspace';
const taking = 'ours, to a new folder';
const bare = 'fs.cp, nothing reaches the disk for sure';
const rsync = 'rsync -a --fsync, folder to folder';

/** A first copy of many small files, each way, beside a plain copy and rsync. */
export async function measureCopies(
  depth: Depth,
  count = Math.ceil(files / depth.shortening),
): Promise<Figure[]> {
  const root = await mkdtemp(join(tmpdir(), 'ennead-copies-'));
  try {
    await using studio = await startStudioChild();
    const source = join(root, 'source');
    await makeFiles(source, count);
    const hasRsync = spawnSync('rsync', ['--version']).status === 0;
    const contestants = contestantsOf(studio.hello, { root, source, hasRsync });
    const rounds = { rounds: Math.min(3, depth.rounds), warmUps: 1 };
    const samples = await runRounds(contestants, rounds);
    const row = (name: string, role: Row['role']): Row => {
      return { name, role, unit: 's', samples: samples(name) };
    };
    return [
      {
        title: `A first copy of ${count.toLocaleString('en-US')} files`,
        rows: [
          row(sending, 'ours'),
          row(taking, 'ours'),
          row(bare, 'limit'),
          ...(hasRsync ? [row(rsync, 'peer')] : []),
        ],
        note: `${fileBytes} bytes each, in 100 folders; ours keeps each in the store and in the workspace, both synced${hasRsync ? '' : '; rsync is not installed and was left out'}`,
      },
    ];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function makeFiles(folder: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const inside = join(folder, `folder-${index % 100}`);
    await mkdir(inside, { recursive: true });
    const content = `${index} `.repeat(fileBytes).slice(0, fileBytes);
    await writeFile(join(inside, `file-${index}.txt`), content);
  }
}

interface Ground {
  readonly root: string;
  readonly source: string;
  readonly hasRsync: boolean;
}

function contestantsOf(
  hello: StudioHello,
  { root, source, hasRsync }: Ground,
): readonly Contestant[] {
  let copies = 0;
  let workspaceId = '';
  const timed = (copy: (target: string) => Promise<void>) => async () => {
    copies += 1;
    const target = join(root, `copy-${copies}`);
    await mkdir(target);
    const startedAt = performance.now();
    await copy(target);
    const seconds = (performance.now() - startedAt) / 1_000;
    await rm(target, { recursive: true, force: true });
    return seconds;
  };
  const send = timed(async () => {
    await rm(join(source, '.ennead'), { recursive: true, force: true });
    workspaceId = await makeWorkspace(hello);
    await syncOnce(hello, workspaceId, source);
  });
  const take = timed((target) => syncOnce(hello, workspaceId, target));
  return [
    {
      name: sending,
      measure: send,
    },
    {
      name: taking,
      measure: async () => {
        // In a round that runs in reverse it comes first.
        if (workspaceId === '') await send();
        return take();
      },
    },
    { name: bare, measure: timed((target) => cp(source, target, { recursive: true })) },
    ...(hasRsync
      ? [
          {
            name: rsync,
            measure: timed(async (target) => {
              spawnSync('rsync', ['-a', '--fsync', '--exclude=.ennead', `${source}/`, target]);
            }),
          },
        ]
      : []),
  ];
}

async function syncOnce(hello: StudioHello, workspaceId: string, path: string): Promise<void> {
  const access = accessStudio(hello.url, { token: async () => hello.token });
  const folder = await SyncFolder.open(path);
  const index = await SyncIndex.open(folder.root, workspaceId);
  const signal = new AbortController().signal;
  const common = { folder, index, workspaceId, deviceId: 'bench', signal };
  const run = new SyncRun({ ...common, files: access.files, onProgress: () => {} });
  if (!(await run.settleAll())) throw new Error(`${run.leftOut.size} files were left out`);
}
