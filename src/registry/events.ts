/** Where all replicas tell what happens to connections; `/registry/stream` reads it. */
export const registryTopic = 'registry.events';

/** Where replicas tell one another of changed connections. */
export const connectionsTopic = 'registry.connections';

/** What the stream carries. Statuses are those of connections and of their health. */
export type RegistryEvent =
  | {
      readonly type: 'connection-status';
      readonly connectionId: string;
      readonly status: string;
      readonly timestamp: string;
      readonly reason?: string;
      /** `registered`, `updated`, `disconnected`, `tools-changed` (drift) and such. */
      readonly change?: string;
      readonly tools?: readonly string[];
    }
  | {
      readonly type: 'health-check';
      readonly connectionId: string;
      readonly health: string;
      readonly responseTime: number;
      readonly timestamp: string;
      readonly reason?: string;
    }
  | {
      readonly type: 'capability-request';
      /** Absent when nobody was found. */
      readonly connectionId?: string;
      readonly capability: string;
      readonly timestamp: string;
      readonly outcome: string;
    };

/** Tells all who follow the stream, on every replica; never waits and never throws. */
export interface EventSink {
  tell(event: RegistryEvent): void;
}
