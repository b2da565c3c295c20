import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';

/** A database with empty tables of the gateway. */
export function openGatewayDatabase(): Promise<Database> {
  return openTestTables('gateway', new URL('../migrations/', import.meta.url));
}
