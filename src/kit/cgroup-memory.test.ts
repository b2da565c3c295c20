import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cgroupMemoryBytes } from './cgroup-memory.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) {
    rmSync(root, { recursive: true });
  }
});

/** A machine whose files are these. */
function machine(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'cgroup-memory-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const unified = '41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n';

test('a system without control groups sets no limit', () => {
  expect(cgroupMemoryBytes(machine({}))).toBe(Infinity);
});

test('the least limit of the groups above counts, in version 2', () => {
  const root = machine({
    'proc/self/mountinfo': unified,
    'proc/self/cgroup': '0::/ours.slice/suite.service/part\n',
    'sys/fs/cgroup/ours.slice/memory.max': '2000\n',
    'sys/fs/cgroup/ours.slice/suite.service/memory.max': '3000\n',
    'sys/fs/cgroup/ours.slice/suite.service/part/memory.max': 'max\n',
  });
  expect(cgroupMemoryBytes(root)).toBe(2000);
});

test('a limit beyond which the kernel slows a group counts', () => {
  const root = machine({
    'proc/self/mountinfo': unified,
    'proc/self/cgroup': '0::/ours\n',
    'sys/fs/cgroup/ours/memory.max': '3000\n',
    'sys/fs/cgroup/ours/memory.high': '1000\n',
  });
  expect(cgroupMemoryBytes(root)).toBe(1000);
});

test('the limit of a container counts in its own namespace', () => {
  const root = machine({
    'proc/self/mountinfo': unified,
    'proc/self/cgroup': '0::/\n',
    'sys/fs/cgroup/memory.max': '1500\n',
  });
  expect(cgroupMemoryBytes(root)).toBe(1500);
});

test('what the kernel says of the groups above counts, in version 1', () => {
  const root = machine({
    'proc/self/mountinfo':
      '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n' +
      '36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n',
    'proc/self/cgroup': '5:cpu:/\n4:memory:/ours/part\n0::/\n',
    'sys/fs/cgroup/memory/ours/part/memory.stat':
      'cache 4\nhierarchical_memory_limit 2500\nhierarchical_memsw_limit 2600\n',
  });
  expect(cgroupMemoryBytes(root)).toBe(2500);
});

test('a group whose folder is mounted by itself is found, as in a container of version 1', () => {
  const root = machine({
    'proc/self/mountinfo':
      '35 31 0:32 /docker/1f /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
    'proc/self/cgroup': '4:memory:/docker/1f\n',
    'sys/fs/cgroup/memory/memory.stat': 'hierarchical_memory_limit 2500\n',
  });
  expect(cgroupMemoryBytes(root)).toBe(2500);
});
