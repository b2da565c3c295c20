import {
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '../../api/call.ts';
import type { HeldFile } from '../answers.ts';
import type { Applied, FilePlace } from './file-calls.ts';
import { changeFiles, type FileChange } from './file-tree.ts';
import { followWorkspace, type WorkspaceEvent } from './workspace-stream.ts';

/** All files of a workspace by path, after the change with this number. */
export interface HeldFiles {
  readonly files: ReadonlyMap<string, HeldFile>;
  readonly lastSeq: number;
}

const pageSize = 5_000;

/** All files of a workspace, kept in step with it by its stream of changes. */
export function useHeldFiles(workspaceId: string, isEnabled: boolean): UseQueryResult<HeldFiles> {
  const client = useQueryClient();
  const queryKey = keyOf(workspaceId);
  const held = useQuery({
    queryKey,
    queryFn: () => readAll(workspaceId),
    enabled: isEnabled,
    staleTime: Infinity,
    structuralSharing: false,
  });
  const isRead = held.isSuccess;
  useEffect(() => {
    if (!isRead) return undefined;
    return followWorkspace({
      workspaceId,
      lastSeq: () => client.getQueryData<HeldFiles>(keyOf(workspaceId))?.lastSeq,
      onEvent: (event) => takeIn(client, workspaceId, event),
    });
  }, [client, workspaceId, isRead]);
  return held;
}

/** Takes a change of one's own in, before the stream tells it. */
export function noteApplied(client: QueryClient, place: FilePlace, { file }: Applied): void {
  const { workspaceId, path } = place;
  client.setQueryData<HeldFiles>(
    keyOf(workspaceId),
    (held) => held && { ...held, files: changeFiles(held.files, { path, file }) },
  );
}

async function readAll(workspaceId: string): Promise<HeldFiles> {
  const files = new Map<string, HeldFile>();
  let lastSeq: number | undefined;
  let after: string | undefined = '';
  while (after !== undefined) {
    const page: { files: HeldFile[]; next?: string; lastSeq: number } = await call(
      'studio',
      'GET /api/v1/sync/snapshot',
      { query: { workspaceId, limit: pageSize, after } },
    );
    for (const file of page.files) files.set(file.path, file);
    lastSeq ??= page.lastSeq;
    after = page.next;
  }
  return { files, lastSeq: lastSeq ?? 0 };
}

function takeIn(client: QueryClient, workspaceId: string, event: WorkspaceEvent): void {
  if (event.type === 'snapshot_required') {
    void client.invalidateQueries({ queryKey: keyOf(workspaceId) });
  } else if (event.type === 'file_change') {
    client.setQueryData<HeldFiles>(keyOf(workspaceId), (held) => held && withEvent(held, event));
  } else {
    // Devices, agents, tasks, or the workspace itself: whoever shows them asks anew.
    void client.invalidateQueries({ queryKey: ['studio'] });
  }
}

function withEvent(held: HeldFiles, { seq = held.lastSeq, data }: WorkspaceEvent): HeldFiles {
  if (seq <= held.lastSeq) return held;
  const change = readChange(data, seq);
  return change ? { files: changeFiles(held.files, change), lastSeq: seq } : held;
}

/** A change of a file as the stream tells it. */
function readChange(data: Readonly<Record<string, unknown>>, seq: number): FileChange | undefined {
  const { path, operation, hash, size, executable } = data;
  if (typeof path !== 'string') return undefined;
  if (operation === 'delete') return { path, file: undefined };
  if (typeof hash !== 'string' || typeof size !== 'number') return undefined;
  return { path, file: { path, hash, size, executable: executable === true, seq } };
}

function keyOf(workspaceId: string): readonly string[] {
  return ['held-files', workspaceId];
}
