import { openSocket } from '../../api/events.ts';
import { send } from '../../api/send.ts';

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

const restMs = 2_000;
/** The studio closes so for those who are no members any more. */
const isNoMember = 1008;

/** Follows a workspace, over breaks too, until what it answers is called. */
export function followWorkspace({ workspaceId, lastSeq, onEvent }: WorkspaceFollower): () => void {
  let socket: WebSocket | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const open = () => {
    const query = new URLSearchParams({ workspaceId, lastSeq: String(lastSeq() ?? 0) });
    socket = openSocket('studio', `/api/v1/sync/stream?${query}`);
    socket.addEventListener('message', ({ data }) => onEvent(readEvent(String(data))));
    socket.addEventListener('close', ({ code }) => {
      if (!isOver && code !== isNoMember) rest = setTimeout(() => void openAgain(), restMs);
    });
  };
  const openAgain = async () => {
    // A socket cannot renew a session that has run out meanwhile; a request does.
    await send(new Request('/session')).catch(() => {});
    if (!isOver) open();
  };
  open();
  return () => {
    isOver = true;
    clearTimeout(rest);
    socket?.close();
  };
}

function readEvent(text: string): WorkspaceEvent {
  // The studio writes events by its contract.
  return JSON.parse(text) as WorkspaceEvent;
}
