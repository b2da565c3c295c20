/**
 * The child process that creates a cluster in the folder of its first argument: initdb leaves
 * 0.9 GB behind in the process that runs it. Nothing but this folder's cluster.ts starts it.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

/** Sized for many small tables on a laptop; how much memory is for pages is said at each start. */
const settings = `
# Ennead
max_wal_size = 64MB
min_wal_size = 32MB
jit = off
`;

const folder = process.argv[2];
if (folder === undefined) throw new Error('the folder is missing');
const database = await PGlite.create(folder);
// Two thirds of a thousand files, never used again, which every new folder would copy.
await database.exec('update pg_database set datistemplate = false');
await database.exec('drop database template0');
await database.exec('drop database template1');
await database.close();
await appendFile(join(folder, 'postgresql.conf'), settings);
