import type { Connection } from '../../kit/sockets/connection.ts';
import type { Doors } from '../channel/doors.ts';
import { servePlainSocket } from '../channel/plain-sockets.ts';

/** The channel over plain WebSockets. */
export function channelSocketHandlers(doors: Pick<Doors, 'channel' | 'desk'>) {
  const serve = (connection: Connection): void => servePlainSocket(connection, doors);
  return { channel: serve, channelAlias: serve };
}
