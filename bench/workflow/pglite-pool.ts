import { EventEmitter } from 'node:events';
import { PGlite, types, type Results } from '@electric-sql/pglite';

type Statement = string | { readonly text: string; readonly values?: readonly unknown[] };

const asText = (value: string): string => value;
const parsers = { [types.INT8]: asText, [types.NUMERIC]: asText };

/** As much of `pg.Pool` over one PGlite as DBOS uses: a transaction keeps all others out. */
export class PglitePool extends EventEmitter {
  readonly options = { max: 10 };
  readonly totalCount = 1;
  readonly idleCount = 1;
  readonly waitingCount = 0;
  readonly #db: PGlite;
  #turn: Promise<void> = Promise.resolve();

  constructor(db: PGlite) {
    super();
    this.#db = db;
  }

  async query(statement: Statement, values?: readonly unknown[]) {
    const leave = await this.#enter();
    try {
      return await this.#run(statement, values);
    } finally {
      leave();
    }
  }

  async connect() {
    let leave: (() => void) | undefined;
    const unlisten: (() => Promise<void>)[] = [];
    const client = new EventEmitter();
    const query = async (statement: Statement, values?: readonly unknown[]) => {
      const text = (typeof statement === 'string' ? statement : statement.text).trimStart();
      const listens = /^LISTEN\s+"?([^";\s]+)/i.exec(text)?.[1];
      if (listens !== undefined) {
        const channel = listens.toLowerCase();
        const notify = (payload: string) => client.emit('notification', { channel, payload });
        unlisten.push(await this.#db.listen(channel, notify));
        return { rows: [], rowCount: 0 };
      }
      const begins = /^(BEGIN|START TRANSACTION)/i.test(text);
      const ends = /^(COMMIT|ROLLBACK(?! TO))/i.test(text);
      if (!leave && !begins)
        return ends ? { rows: [], rowCount: 0 } : this.query(statement, values);
      leave ??= await this.#enter();
      try {
        return await this.#run(statement, values);
      } finally {
        if (ends) {
          leave();
          leave = undefined;
        }
      }
    };
    const release = () => {
      leave?.();
      leave = undefined;
      for (const stop of unlisten.splice(0)) void stop();
    };
    return Object.assign(client, { query, release, end: async () => release() });
  }

  async end(): Promise<void> {
    await this.#db.close();
  }

  async #enter(): Promise<() => void> {
    const before = this.#turn;
    let leave = (): void => {};
    this.#turn = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }

  async #run(statement: Statement, given?: readonly unknown[]) {
    const text = typeof statement === 'string' ? statement : statement.text;
    const values = (typeof statement === 'string' ? given : statement.values) ?? [];
    const results =
      values.length > 0
        ? [await this.#db.query(text, [...values], { parsers })]
        : await this.#db.exec(text, { parsers });
    const last: Results<unknown> | undefined = results.at(-1);
    const rows = last?.rows ?? [];
    return { rows, fields: last?.fields ?? [], rowCount: rows.length || (last?.affectedRows ?? 0) };
  }
}
