import {
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { Batch } from '../../api/batch.ts';
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
/** Each costs a copy of the list: long enough for a thousand changes to be drawn once, too short to be noticed. */
const restMs = 50;

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
    const changes = new Batch<WorkspaceEvent>(restMs, (events) =>
      client.setQueryData<HeldFiles>(
        keyOf(workspaceId),
        (known) => known && withEvents(known, events),
      ),
    );
    const stop = followWorkspace({
      workspaceId,
      lastSeq: () => client.getQueryData<HeldFiles>(keyOf(workspaceId))?.lastSeq,
      onEvent: (event) => {
        if (event.type === 'file_change') changes.add(event);
        else askAnew(client, workspaceId, event);
      },
    });
    return () => {
      stop();
      changes.flush();
    };
  }, [client, workspaceId, isRead]);
  return held;
}

/** Takes a change of one's own in, before the stream tells it. */
export function noteApplied(client: QueryClient, place: FilePlace, { file }: Applied): void {
  const { workspaceId, path } = place;
  client.setQueryData<HeldFiles>(
    keyOf(workspaceId),
    (held) => held && { ...held, files: changeFiles(held.files, [{ path, file }]) },
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

/** Whoever shows what is told of, asks again: devices, agents, tasks, or the workspace itself. */
function askAnew(client: QueryClient, workspaceId: string, { type }: WorkspaceEvent): void {
  const queryKey = type === 'snapshot_required' ? keyOf(workspaceId) : ['studio'];
  void client.invalidateQueries({ queryKey });
}

function withEvents(held: HeldFiles, events: readonly WorkspaceEvent[]): HeldFiles {
  const news = events.filter(({ seq = 0 }) => seq > held.lastSeq);
  const changes = news.map(({ data, seq = 0 }) => readChange(data, seq));
  return {
    files: changeFiles(
      held.files,
      changes.filter((change) => change !== undefined),
    ),
    lastSeq: news.at(-1)?.seq ?? held.lastSeq,
  };
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
