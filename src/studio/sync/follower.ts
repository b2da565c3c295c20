import { Fault } from '../../kit/errors.ts';
import type { Connection } from '../../kit/sockets/connection.ts';
import type { WorkspaceFiles } from '../files/file.ts';
import { toFileChange } from './messages.ts';

export interface FollowerOptions {
  readonly connection: Pick<Connection, 'send' | 'room' | 'sendFault' | 'close' | 'signal'>;
  readonly files: Pick<WorkspaceFiles, 'changes' | 'lastSeq' | 'read' | 'listen' | 'watch'>;
  readonly workspaceId: string;
  /** Whose own changes are left out. */
  readonly deviceId: string | undefined;
  readonly after: number;
}

const pageSize = 100;

/**
 * Tells a connection of all changes of a workspace behind one, in order and none twice, as fast as it
 * takes them: they are read from the log, so a slow reader costs no memory.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #stops: (() => void)[] = [];
  #position: number;
  #isReading = false;
  #isDue = true;
  #isClosed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  start(): void {
    const { files, workspaceId } = this.#options;
    this.#stops.push(files.watch(workspaceId));
    this.#stops.push(
      files.listen((change) => {
        if (change.workspaceId === workspaceId && change.seq > this.#position) this.#nudge();
      }),
    );
    this.#nudge();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
  }

  #nudge(): void {
    this.#isDue = true;
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isDue && !this.#isClosed) {
        this.#isDue = false;
        while (await this.#readPage());
      }
    } catch (error) {
      if (this.#isClosed) return;
      const { connection } = this.#options;
      connection.sendFault(Fault.from(error));
      connection.close(1013, 'changes cannot be read now');
    } finally {
      this.#isReading = false;
    }
  }

  /** True when there may be more. */
  async #readPage(): Promise<boolean> {
    const { files, workspaceId, deviceId } = this.#options;
    const changes = await files.changes(workspaceId, this.#position, pageSize);
    if (!changes) {
      await this.#requireSnapshot();
      return true;
    }
    for (const change of changes) {
      if (this.#isClosed) return false;
      if (change.deviceId !== deviceId) await this.#send(await toFileChange(files, change));
      this.#position = change.seq;
    }
    return changes.length === pageSize;
  }

  /** What it missed is no longer kept: it compares its files with the listing, and goes on from here. */
  async #requireSnapshot(): Promise<void> {
    const { files, workspaceId } = this.#options;
    this.#position = await files.lastSeq(workspaceId);
    const data = { lastSeq: this.#position };
    await this.#send({ type: 'snapshot_required', workspaceId, timestamp: Date.now(), data });
  }

  async #send(message: object): Promise<void> {
    const { connection } = this.#options;
    while (!this.#isClosed && !connection.send(message)) await connection.room();
  }
}
