import { readdirSync, readFileSync } from 'node:fs';

/** A process of a tree, as /proc of Linux shows it. */
export interface ProcessState {
  readonly pid: number;
  readonly command: string;
  /** Bytes; pages shared with other processes count in full. */
  readonly residentBytes: number;
}

/** A process and all below it, itself first; what ended meanwhile is left out. */
export function readTree(pid: number): ProcessState[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const status = /^\d+$/.test(name) ? readStatus(Number(name)) : undefined;
    if (status) parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
  }
  const below = (root: number): number[] => {
    const children = [...parents].filter(([, parent]) => parent === root);
    return [root, ...children.flatMap(([child]) => below(child))];
  };
  return below(pid).flatMap((id) => {
    const status = readStatus(id);
    return status
      ? [{ pid: id, command: readCommand(id), residentBytes: residentBytes(status) }]
      : [];
  });
}

function residentBytes(status: string): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

function readStatus(pid: number): string | undefined {
  return readOrNothing(`/proc/${pid}/status`);
}

function readCommand(pid: number): string {
  return (readOrNothing(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
