import { Fault } from '../../kit/errors.ts';
import type { Connection } from '../connections/connection.ts';

/** The address for which tokens are asked; throws `not_found`, or `conflict` where none are shown. */
export function requireAddress(connectionId: string, connection: Connection | undefined): string {
  if (!connection) {
    const options = { reason: 'connection_not_found', detail: { connectionId } };
    throw new Fault('not_found', 'there is no such connection', options);
  }
  if (connection.protocol === 'http' && connection.status !== 'disconnected') {
    return connection.endpoint.url;
  }
  const message = 'only servers over HTTP are authorized with';
  throw new Fault('conflict', message, { reason: 'not_callable', detail: { connectionId } });
}

/** Whether what was issued for this address may be kept for the connection. */
export function isAt(connection: Connection | undefined, resource: string): boolean {
  if (!connection || connection.status === 'disconnected') return false;
  return addressOf(connection) === resource;
}

/** Whether tokens for the one must not go to the other. */
export function isLeft(before: Connection | undefined, after: Connection): boolean {
  if (after.status === 'disconnected') return before?.status !== 'disconnected';
  return before !== undefined && addressOf(before) !== addressOf(after);
}

/** What was issued is nothing for the server any longer. */
export function moved(connectionId: string): Fault {
  const message = 'the server has another address by now: the login was for the one before';
  return new Fault('conflict', message, { reason: 'address_changed', detail: { connectionId } });
}

function addressOf(connection: Connection): string | undefined {
  return connection.protocol === 'stdio' ? undefined : connection.endpoint.url;
}
