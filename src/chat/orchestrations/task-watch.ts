import { WebSocket } from 'ws';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Log } from '../../kit/log.ts';
import type { ServiceToken } from '../../kit/identity/service-token.ts';
import type { AgentProgress, StepStatus } from './orchestration.ts';

export interface TaskWatchOptions {
  /** Of the mesh, http or https. */
  readonly meshUrl: string;
  /** This service's own. */
  readonly token: Pick<ServiceToken, 'get' | 'forget'>;
  readonly onProgress: (progress: AgentProgress) => void;
  readonly log: Log;
  /** The longest pause before it connects again; 10,000 unless told. */
  readonly pauseMsMax?: number;
}

const path = '/api/v1/activity/stream';
const endings = {
  'task-executed': 'completed',
  'task-failed': 'failed',
  'task-cancelled': 'cancelled',
} as const satisfies Readonly<Record<string, StepStatus>>;
const pauseMsMin = 250;
const pauseMsMaxDefault = 10_000;
const pingMs = 20_000;
const messageBytesMax = 1024 * 1024;

const endedTask = Type.Object({
  type: Type.Enum(['task-executed', 'task-failed', 'task-cancelled']),
  agentId: Type.String(),
  seq: Type.Integer(),
  data: Type.Object({
    taskId: Type.String(),
    type: Type.Optional(Type.String()),
    duration: Type.Optional(Type.Number()),
  }),
});
const gap = Type.Object({ type: Type.Literal('gap'), to: Type.Integer() });

/** Watches the mesh's tasks, whoever asked for them, while somebody wants to know. */
export class TaskWatch implements AsyncDisposable {
  readonly #options: TaskWatchOptions;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #isWanted = false;
  #isConnecting = false;
  /** What was seen last; absent while nobody watched. */
  #after: number | undefined;
  #pauseMs = pauseMsMin;

  constructor(options: TaskWatchOptions) {
    this.#options = options;
  }

  /** Watches from now on, or no longer. */
  set(isWanted: boolean): void {
    if (this.#isWanted === isWanted) return;
    this.#isWanted = isWanted;
    clearTimeout(this.#timer);
    if (isWanted) {
      this.#pauseMs = pauseMsMin;
      void this.#connect();
      return;
    }
    this.#after = undefined;
    this.#socket?.close(1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.set(false);
    this.#socket?.terminate();
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting || this.#socket) return;
    this.#isConnecting = true;
    try {
      const headers = { authorization: `Bearer ${await this.#options.token.get()}` };
      if (this.#isWanted) this.#open(headers);
    } catch (err) {
      this.#options.log.debug({ err }, 'no token for the activity of the mesh');
      this.#connectLater();
    } finally {
      this.#isConnecting = false;
    }
  }

  #open(headers: Readonly<Record<string, string>>): void {
    const url = this.#options.meshUrl.replace(/^http/, 'ws') + path;
    const socket = new WebSocket(url, { headers, maxPayload: messageBytesMax });
    this.#socket = socket;
    socket.on('open', () => this.#subscribe(socket));
    // A client gives each message as one Buffer unless told otherwise.
    socket.on('message', (data) => this.#receive((data as Buffer).toString()));
    socket.on('unexpected-response', (_, { statusCode }) => {
      if (statusCode === 401) this.#options.token.forget();
      socket.terminate();
    });
    // What is wrong shows in the close that follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(this.#pinging);
      if (this.#socket === socket) this.#socket = undefined;
      this.#connectLater();
    });
  }

  #subscribe(socket: WebSocket): void {
    const filters = { eventTypes: Object.keys(endings) };
    const after = this.#after === undefined ? { ack: true } : { after: this.#after };
    socket.send(JSON.stringify({ action: 'subscribe', filters, ...after }));
    let isAlive = true;
    socket.on('pong', () => (isAlive = true));
    clearInterval(this.#pinging);
    this.#pinging = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      socket.ping();
    }, pingMs).unref();
  }

  #receive(text: string): void {
    this.#pauseMs = pauseMsMin;
    const message = parse(text);
    if (Value.Check(subscribed, message)) this.#after = message.seq;
    else if (Value.Check(gap, message)) this.#after = message.to;
    else if (Value.Check(endedTask, message)) {
      this.#after = message.seq;
      if (this.#isWanted) this.#options.onProgress(toProgress(message));
    }
  }

  #connectLater(): void {
    if (!this.#isWanted || this.#socket) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), this.#pauseMs).unref();
    const { pauseMsMax = pauseMsMaxDefault } = this.#options;
    this.#pauseMs = Math.min(pauseMsMax, this.#pauseMs * 2);
  }
}

const subscribed = Type.Object({ type: Type.Literal('subscribed'), seq: Type.Integer() });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toProgress({ type, agentId, data }: Static<typeof endedTask>): AgentProgress {
  const { taskId, type: taskType = 'task', duration } = data;
  const status = endings[type];
  const took = duration === undefined ? '' : ` after ${Math.round(duration)} ms`;
  return { agentId, taskId, progress: 1, status, message: `${taskType} ${status}${took}` };
}
