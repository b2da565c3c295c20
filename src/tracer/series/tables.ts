import type { Database } from '../../kit/database/database.ts';

/** What statements about the series run on. */
export type SeriesSql = Pick<Database, 'query'>;
