import type { Database } from '../../kit/database/database.ts';

/** The names of the services that were seen, within the time that series are kept. */
export async function listServices(database: Database): Promise<string[]> {
  const rows = await database.query<{ service: string }>(
    `select distinct labels[1] as service from tracer.series where kind = 'operation' order by 1`,
  );
  return rows.map(({ service }) => service);
}

/** The operations of a service, each with the name of its kind. */
export async function listOperations(
  database: Database,
  service: string,
): Promise<{ readonly name: string; readonly kind: string }[]> {
  return database.query(
    `select labels[2] as name, labels[3] as kind from tracer.series
     where kind = 'operation' and labels[1] = $1 order by 1, 2`,
    [service],
  );
}
