import { resolve } from 'node:path';
import { processEnvironment } from '../../kit/config.ts';
import { lockDataFolder } from '../../kit/database/data-folder.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { services } from '../../services.ts';
import { readConfiguration } from '../../settings.ts';
import { databaseOf, migrate } from '../../ground.ts';
import { Progress } from '../progress.ts';

/** Applies all migrations that are due and prints their names. */
export async function migrateCommand(): Promise<number> {
  const { suite } = readConfiguration(processEnvironment(), services);
  const dataFolder = resolve(suite.dataFolder);
  const progress = new Progress();
  const lock = suite.databaseUrl ? undefined : await lockDataFolder(dataFolder);
  try {
    progress.show('opening the database');
    const database = await openDatabase(databaseOf(suite, dataFolder));
    try {
      progress.show('migrating');
      report(await migrate(database, services), progress);
    } finally {
      await database[Symbol.asyncDispose]();
    }
  } finally {
    progress.end();
    await lock?.[Symbol.asyncDispose]();
  }
  return 0;
}

function report(applied: readonly string[], progress: Progress): void {
  progress.end();
  const lines = applied.length > 0 ? applied.map((name) => `applied ${name}`) : ['up to date'];
  process.stdout.write(`${lines.join('\n')}\n`);
}
