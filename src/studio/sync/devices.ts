import { recentEntries } from '../../kit/recent-entries.ts';
import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { devicesTopic } from '../events.ts';
import { ownDevices } from '../files/own-devices.ts';
import {
  claimDevice,
  noteDevices,
  readDevices,
  type Device,
  type DeviceSql,
} from './device-store.ts';

export interface DevicesOptions {
  readonly sql: DeviceSql;
  readonly bus: Bus;
  readonly log: Log;
}

/** A device came to a workspace, or left it. */
export interface DeviceNews {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly userId: string;
  readonly isConnected: boolean;
}

/** A device with whether it is connected here. */
export interface SeenDevice extends Device {
  readonly isConnected: boolean;
}

const ownersMax = 10_000;

export type DeviceListener = (news: DeviceNews) => void;

/** The devices that follow workspaces. How far they have come is stored within half a second. */
export class Devices implements AsyncDisposable {
  readonly #options: DevicesOptions;
  readonly #topic: Topic<DeviceNews>;
  readonly #noted: Batch<Device>;
  readonly #listeners = new Set<DeviceListener>();
  /** Connections by workspace and device. */
  readonly #connected = new Map<string, number>();
  /** Whose devices are, by workspace and device. */
  readonly #owners = recentEntries<string>(ownersMax);
  #subscription: Subscription | undefined;

  constructor(options: DevicesOptions) {
    this.#options = options;
    this.#topic = options.bus.topic<DeviceNews>(devicesTopic);
    this.#noted = createBatch({
      flush: (devices) => noteDevices(options.sql, devices),
      maxItems: 500,
      maxDelayMs: 500,
      maxPending: 50_000,
    });
  }

  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => {
      for (const listener of this.#listeners) listener(data);
    });
  }

  /** Told on every replica. */
  listen(listener: DeviceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Binds a device of a workspace to the user who names it first; `conflict` (`device_taken`) for everybody
   * else, and for the names that the service itself uses.
   */
  async claim(device: Pick<Device, 'workspaceId' | 'deviceId' | 'userId'>): Promise<void> {
    const key = keyOf(device);
    const owner = this.#owners.get(key) ?? (await this.#ownerOf(device));
    if (owner !== device.userId) throw deviceTaken(device.deviceId);
    this.#owners.set(key, owner);
  }

  /** A connection of a device; the answer ends it. */
  connect(device: Omit<DeviceNews, 'isConnected'>): () => void {
    this.#count(device, 1);
    return () => this.#count(device, -1);
  }

  note(device: Omit<Device, 'seenAtMs'>): void {
    this.#noted.add({ ...device, seenAtMs: Date.now() }).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'how far a device has come could not be noted');
    });
  }

  async of(workspaceId: string): Promise<SeenDevice[]> {
    await this.#noted.flush();
    const devices = await readDevices(this.#options.sql, workspaceId);
    return devices.map((device) => ({
      ...device,
      isConnected: this.#connected.has(keyOf(device)),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
    await this.#noted.close();
  }

  async #ownerOf(device: Pick<Device, 'workspaceId' | 'deviceId' | 'userId'>): Promise<string> {
    if (ownDevices.includes(device.deviceId)) throw deviceTaken(device.deviceId);
    return claimDevice(this.#options.sql, device);
  }

  #count(device: Omit<DeviceNews, 'isConnected'>, difference: 1 | -1): void {
    const key = keyOf(device);
    const before = this.#connected.get(key) ?? 0;
    const after = before + difference;
    if (after > 0) this.#connected.set(key, after);
    else this.#connected.delete(key);
    if (before > 0 && after > 0) return;
    const news = { ...device, isConnected: after > 0 };
    this.#topic.publish(news).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'that a device came or left could not be told');
    });
  }
}

function deviceTaken(deviceId: string): Fault {
  return new Fault('conflict', `the device ${deviceId} is somebody else’s: choose another name`, {
    reason: 'device_taken',
    detail: { deviceId },
  });
}

function keyOf({ workspaceId, deviceId }: { workspaceId: string; deviceId: string }): string {
  return `${workspaceId}/${deviceId}`;
}
