import type { Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import { checkMessage } from '../../kit/sockets/subscription.ts';
import type { Agents } from '../agents/agent.ts';
import type { Tasks } from '../tasks/task.ts';
import type { WantedChange, WorkspaceFiles } from '../files/file.ts';
import { apiDevice } from '../files/own-devices.ts';
import { ackMessage, changeMessage, subscribeMessage } from '../schemas/sync.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import type { Devices } from './devices.ts';
import { Follower } from './follower.ts';
import { toOutcome } from './messages.ts';
import { agentNews, taskNews, type News } from './news.ts';

export interface SyncParts {
  readonly workspaces: Pick<Workspaces, 'require' | 'list'> & {
    readonly listen: (listener: (workspaceId: string) => void) => () => void;
  };
  readonly files: WorkspaceFiles;
  readonly devices: Devices;
  /** Told of on the stream where they are there. */
  readonly agents?: Pick<Agents, 'listen'>;
  readonly tasks?: Pick<Tasks, 'listen'>;
}

const malformedMax = 3;

interface Place {
  readonly workspaceId: string;
  readonly deviceId: string | undefined;
}

/** What is told as it happens. */
interface ToldEvent {
  readonly type: string;
  /** Whose doing it is. */
  readonly deviceId?: string;
  readonly data: object;
}

/** An agent or a task. */
interface Owned {
  readonly workspaceId?: string;
  readonly ownerId: string;
}

/** One connection's subscription, and the changes that it sends. */
export class SyncSession {
  readonly #connection: Connection;
  readonly #parts: SyncParts;
  #place: Place | undefined;
  #follower: Follower | undefined;
  #stops: (() => void)[] = [];
  #malformedCount = 0;
  #begun: Promise<void> = Promise.resolve();

  constructor(connection: Connection, parts: SyncParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  /** A connection that says in its address what it wants need not say it again. */
  beginByQuery(): void {
    const {
      workspaceId,
      deviceId,
      after,
      lastSeq = after,
    } = Object.fromEntries(this.#connection.query);
    if (workspaceId === undefined) return;
    const message = {
      action: 'subscribe',
      workspaceId,
      ...(deviceId === undefined ? {} : { deviceId }),
      ...(lastSeq === undefined ? {} : { lastSeq: Number(lastSeq) }),
    };
    this.#begun = this.#take(JSON.stringify(message));
  }

  /** What the address asked for comes first. */
  async receive(text: string): Promise<void> {
    await this.#begun;
    await this.#take(text);
  }

  close(): void {
    this.#follower?.close();
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  async #take(text: string): Promise<void> {
    try {
      await this.#obey(parseJsonBody(text));
    } catch (error) {
      this.#refuse(error);
    }
  }

  async #obey(message: unknown): Promise<void> {
    const { action } = (message ?? {}) as { readonly action?: unknown };
    if (action === 'ack') this.#ack(checkMessage(ackMessage, message));
    else if (action === 'change') await this.#change(checkMessage(changeMessage, message));
    else await this.#subscribe(checkMessage(subscribeMessage, message));
  }

  async #subscribe({
    workspaceId,
    deviceId,
    after: place,
    lastSeq = place,
    ack,
  }: Static<typeof subscribeMessage>): Promise<void> {
    const { workspaces, files, devices } = this.#parts;
    const { identity, signal } = this.#connection;
    await workspaces.require(identity, workspaceId, 'code:read');
    const after = lastSeq ?? (await files.lastSeq(workspaceId));
    const userId = identity.subject;
    if (deviceId !== undefined) await devices.claim({ workspaceId, deviceId, userId });
    if (signal.aborted) return;
    this.close();
    this.#place = { workspaceId, deviceId };
    if (ack) this.#connection.send({ type: 'subscribed', seq: after });
    this.#hear(workspaceId);
    if (deviceId !== undefined) {
      const device = { workspaceId, deviceId, userId };
      this.#stops.push(devices.connect(device));
      devices.note({ ...device, lastSeq: after });
    }
    const connection = this.#connection;
    this.#follower = new Follower({ connection, files, workspaceId, deviceId, after });
    this.#follower.start();
  }

  /** What is no file: told as it happens, and not again. */
  #hear(workspaceId: string): void {
    const { workspaces, devices } = this.#parts;
    const tell = (event: ToldEvent) =>
      void this.#connection.send({ ...event, workspaceId, timestamp: Date.now() });
    this.#stops.push(
      workspaces.listen((changed) => {
        if (changed === workspaceId) void this.#tellState(tell);
      }),
      devices.listen(({ workspaceId: where, deviceId, userId, isConnected }) => {
        if (where !== workspaceId) return;
        const data = { deviceId, userId, connected: isConnected };
        tell({ type: 'session_change', deviceId, data });
      }),
    );
    this.#hearAgents(workspaceId, tell);
  }

  /** Of the workspace to who may see its agents; of those without a workspace to who spawned them. */
  #hearAgents(workspaceId: string, tell: (news: News) => void): void {
    const { agents, tasks, workspaces } = this.#parts;
    const { identity } = this.#connection;
    // One after the other, so that states come in their order.
    let last: Promise<unknown> = Promise.resolve();
    const tellIfSeen = (of: Owned, news: () => News) => {
      if (of.workspaceId === undefined && of.ownerId === identity.subject) tell(news());
      if (of.workspaceId !== workspaceId) return;
      const told = news();
      last = last
        .then(() => workspaces.require(identity, workspaceId, 'agents:view'))
        .then(
          () => tell(told),
          // Whoever may not see them is told nothing.
          () => {},
        );
    };
    if (agents) this.#stops.push(agents.listen((one) => tellIfSeen(one, () => agentNews(one))));
    if (tasks) this.#stops.push(tasks.listen((one) => tellIfSeen(one, () => taskNews(one))));
  }

  /** Whoever is no member any more hears nothing more. */
  async #tellState(tell: (event: ToldEvent) => void): Promise<void> {
    const place = this.#place;
    if (!place) return;
    try {
      const { identity } = this.#connection;
      const workspace = await this.#parts.workspaces.require(
        identity,
        place.workspaceId,
        'code:read',
      );
      const { name, description, members, settings } = workspace;
      const data = { name, description, members, settings };
      tell({ type: 'state_update', deviceId: apiDevice, data });
    } catch (error) {
      this.#connection.sendFault(Fault.from(error));
      this.#connection.close(1008, 'the workspace is no longer yours to read');
    }
  }

  #ack({ seq }: Static<typeof ackMessage>): void {
    const { workspaceId, deviceId } = this.#requirePlace();
    if (deviceId === undefined) throw needsDevice();
    const userId = this.#connection.identity.subject;
    this.#parts.devices.note({ workspaceId, deviceId, userId, lastSeq: seq });
  }

  async #change(message: Static<typeof changeMessage>): Promise<void> {
    const { workspaceId, deviceId } = this.#requirePlace();
    if (deviceId === undefined) throw needsDevice();
    const { workspaces, files } = this.#parts;
    await workspaces.require(this.#connection.identity, workspaceId, 'code:edit');
    try {
      const applied = await files.apply(workspaceId, toWanted(message, deviceId));
      this.#connection.send({ workspaceId, deviceId, ...toOutcome(message.opId, applied) });
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code === 'internal' || message.opId === undefined) throw error;
      const detail = { ...fault.detail, opId: message.opId };
      const { reason, status } = fault;
      const named = reason === undefined ? {} : { reason };
      throw new Fault(fault.code, fault.message, { ...named, status, detail, cause: error });
    }
  }

  #requirePlace(): Place {
    if (this.#place) return this.#place;
    throw new Fault('invalid', 'subscribe to a workspace first', { reason: 'not_subscribed' });
  }

  #refuse(error: unknown): void {
    const fault = Fault.from(error);
    this.#connection.sendFault(fault);
    if (fault.reason !== 'validation_error' && fault.reason !== 'invalid_json') return;
    this.#malformedCount += 1;
    if (this.#malformedCount < malformedMax) return;
    this.#connection.close(1007, `${malformedMax} malformed messages`);
  }
}

function toWanted(message: Static<typeof changeMessage>, deviceId: string): WantedChange {
  const { path, operation, baseHash, hash, opId, executable, content, encoding = 'utf8' } = message;
  const common = {
    deviceId,
    path,
    ...(opId === undefined ? {} : { opId }),
    ...(baseHash === undefined ? {} : { baseHash }),
  };
  if (operation === 'delete') return common;
  if (content === undefined) {
    throw new Fault('invalid', 'message.content is needed for this', {
      reason: 'validation_error',
    });
  }
  return {
    ...common,
    content: Buffer.from(content, encoding),
    ...(hash === undefined ? {} : { hash }),
    ...(executable === undefined ? {} : { isExecutable: executable }),
  };
}

function needsDevice(): Fault {
  return new Fault('invalid', 'subscribe with a deviceId first', { reason: 'device_needed' });
}
