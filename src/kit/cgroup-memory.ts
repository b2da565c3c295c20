import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

interface Mount {
  /** The group whose folder the mount point is. */
  readonly group: string;
  readonly point: string;
  readonly type: string;
  readonly options: readonly string[];
}

/**
 * The least limit of memory that the control groups of this process set, those above its own included;
 * `Infinity` when there is none or the system has no control groups. What lies above the namespace of a
 * container shows in version 1 only.
 */
export function cgroupMemoryBytes(root = '/'): number {
  const mounts = readText(join(root, 'proc/self/mountinfo')).split('\n').flatMap(parseMount);
  const groups = readText(join(root, 'proc/self/cgroup')).split('\n').flatMap(parseGroup);
  const limits = groups.flatMap(({ controllers, group }) =>
    controllers.length === 0
      ? mounts.filter(isUnified).map((mount) => unifiedLimit(root, mount, group))
      : mounts.filter(hasMemory).map((mount) => separateLimit(root, mount, group)),
  );
  return Math.min(Infinity, ...limits);
}

const isUnified = ({ type }: Mount): boolean => type === 'cgroup2';
const hasMemory = ({ type, options }: Mount): boolean =>
  type === 'cgroup' && options.includes('memory');

/** A line of mountinfo, see proc_pid_mountinfo(5). */
function parseMount(line: string): Mount[] {
  const [place = '', kind = ''] = line.split(' - ');
  const [, , , group, point] = place.split(' ');
  const [type, , options] = kind.split(' ');
  if (group === undefined || point === undefined || type === undefined) {
    return [];
  }
  return [{ group, point, type, options: options?.split(',') ?? [] }];
}

/** A line of the groups of a process, see cgroups(7): version 2 names no controllers. */
function parseGroup(line: string): { controllers: string[]; group: string }[] {
  const [, controllers = '', ...path] = line.split(':');
  const names = controllers === '' ? [] : controllers.split(',');
  const isOfMemory = names.length === 0 || names.includes('memory');
  return path.length > 0 && isOfMemory ? [{ controllers: names, group: path.join(':') }] : [];
}

/** Version 2: a group has its own limits, so that each on the way up counts. */
function unifiedLimit(root: string, mount: Mount, group: string): number {
  const folders = foldersUpTo(mount, group).map((folder) => join(root, folder));
  const limits = folders.flatMap((folder) =>
    ['memory.max', 'memory.high'].map((name) => toBytes(readText(join(folder, name)))),
  );
  return Math.min(...limits);
}

/** Version 1: the kernel itself says what holds with the groups above, seen or not. */
function separateLimit(root: string, mount: Mount, group: string): number {
  const [folder = mount.point] = foldersUpTo(mount, group);
  const statistics = readText(join(root, folder, 'memory.stat'));
  return toBytes(/^hierarchical_memory_limit (\d+)$/m.exec(statistics)?.[1] ?? '');
}

/** The folders of a group and of those above it, up to the mount point. */
function foldersUpTo({ group: top, point }: Mount, group: string): string[] {
  const below = relative(top, group);
  const names = below === '' || below.startsWith('..') ? [] : below.split('/');
  return names
    .map((_, index) => join(point, ...names.slice(0, names.length - index)))
    .concat(point);
}

function toBytes(text: string): number {
  const bytes = Number.parseInt(text, 10);
  return bytes > 0 ? bytes : Infinity;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
