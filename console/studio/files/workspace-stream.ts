import { LastingSocket } from '../../api/lasting-socket.ts';

/** What the stream of a workspace tells. */
export interface WorkspaceEvent {
  readonly type: string;
  readonly seq?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WorkspaceFollower {
  readonly workspaceId: string;
  /** The newest change that is known, when the stream begins or begins anew. */
  readonly lastSeq: () => number | undefined;
  readonly onEvent: (event: WorkspaceEvent) => void;
}

/** The studio closes so for those who are no members any more. */
const isNoMember = 1008;

/** Follows a workspace, over breaks too, until what it answers is called. */
export function followWorkspace({ workspaceId, lastSeq, onEvent }: WorkspaceFollower): () => void {
  const socket = new LastingSocket('studio', {
    path: () => {
      const query = new URLSearchParams({ workspaceId, lastSeq: String(lastSeq() ?? 0) });
      return `/api/v1/sync/stream?${query}`;
    },
    onMessage: (text) => onEvent(readEvent(text)),
    isFinal: (code) => code === isNoMember,
  });
  return () => socket[Symbol.dispose]();
}

function readEvent(text: string): WorkspaceEvent {
  // The studio writes events by its contract.
  return JSON.parse(text) as WorkspaceEvent;
}
