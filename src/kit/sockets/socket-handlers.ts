import type { Contract, SocketRoute } from '../contract.ts';
import type { Connection, SocketRequest } from './connection.ts';

/** What a service does with the connections of one WebSocket path. */
export interface SocketHandler<R extends SocketRoute = SocketRoute> {
  /** Last word before the upgrade; what it throws is the refusal, such as 404 for an unknown id. */
  readonly admit?: (request: SocketRequest<R>) => Promise<void> | void;
  /** Takes over an open connection; returns at once. */
  readonly serve: (connection: Connection<R>) => void;
}

type RoutesOf<C extends Contract> = NonNullable<C['sockets']>;

/** A handler for every WebSocket path of a contract; a function alone is its `serve`. */
export type SocketHandlers<C extends Contract> = {
  readonly [K in keyof RoutesOf<C>]:
    | SocketHandler<RoutesOf<C>[K]>
    | SocketHandler<RoutesOf<C>[K]>['serve'];
};
