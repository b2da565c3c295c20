import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { atMost, type Figure } from '../harness/figure.ts';
import { Clone } from './clone.ts';

const bytesPerBlock = 512;
const sizeGoalMb = 400;

/** What a clean installation of the locked dependencies takes on disk. */
export async function measureInstallSize(): Promise<Figure> {
  await using clone = await Clone.make();
  const modules = join(clone.folder, 'node_modules');
  runNpm(clone, ['ci']);
  const fullMb = sizeMb(modules);
  const foreignMb = gpuVariantsMb(join(modules, '@node-llama-cpp'));
  runNpm(clone, ['prune', '--omit=dev']);
  const row = { unit: 'MB', role: 'ours' } as const;
  return {
    title: 'Size of node_modules after npm ci, on disk',
    rows: [
      { ...row, name: 'all', samples: [fullMb], goal: atMost(sizeGoalMb, 'MB') },
      {
        ...row,
        name: 'GPU variants of node-llama-cpp',
        samples: [foreignMb],
        goal: atMost(1, 'MB'),
      },
      { ...row, name: 'without development', samples: [sizeMb(modules)] },
    ],
    note: 'a MB is 10^6 bytes; blocks as the file system counts them',
  };
}

function runNpm({ folder }: Clone, args: readonly string[]): void {
  const options = [
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const { status, stderr } = spawnSync('npm', [...args, ...options], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr.slice(0, 800)}`);
}

function gpuVariantsMb(folder: string): number {
  if (!existsSync(folder)) return 0;
  const variants = readdirSync(folder).filter((name) => /cuda|vulkan/.test(name));
  return variants.reduce((sum, name) => sum + sizeMb(join(folder, name)), 0);
}

function sizeMb(path: string): number {
  return (countBlocks(path) * bytesPerBlock) / 1e6;
}

function countBlocks(path: string): number {
  const own = lstatSync(path);
  if (!own.isDirectory()) return own.blocks;
  return readdirSync(path).reduce((sum, name) => sum + countBlocks(join(path, name)), own.blocks);
}
