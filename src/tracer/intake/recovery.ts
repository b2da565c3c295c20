import type { Database } from '../../kit/database/database.ts';
import { unpackChunk } from '../chunk/chunk-body.ts';
import { dayOf } from './days.ts';
import { ExportReader } from './export-reader.ts';
import { openRow } from './open-row.ts';
import { listOpenChunks, payChunk } from './open-store.ts';
import { OpenTrace } from './open-trace.ts';
import { TagPacker } from './tag-packer.ts';
import { TermBook } from './term-book.ts';
import { readChunks } from './chunk-store.ts';

/**
 * Writes the rows that a process which ended still owed: of every chunk whose traces had none, those that
 * are not complete with it.
 */
export async function payOwedRows(database: Database): Promise<void> {
  const maker = new RowMaker();
  for (const { id, receivedAt } of await listOpenChunks(database)) {
    const body = (await readChunks(database, [id])).get(id);
    // What is not kept any more owes nothing.
    const rows = body === undefined ? [] : maker.rowsOf(unpackChunk(body), receivedAt);
    await payChunk(database, id, JSON.stringify(rows));
  }
}

class RowMaker {
  readonly #reader = new ExportReader();
  readonly #packer = new TagPacker();
  readonly #terms = new TermBook();

  rowsOf(body: Uint8Array, receivedAt: number) {
    const traces = new Map<string, OpenTrace>();
    const { heads, entries } = this.#reader.read(body);
    for (const head of heads) {
      const { traceId } = head;
      const at = { day: dayOf(receivedAt), nowMs: receivedAt };
      const trace = traces.get(traceId) ?? new OpenTrace(traceId, at);
      traces.set(traceId, trace);
      trace.add(head, { bytes: entries.get(head.spanId), terms: this.#terms.of(head) });
    }
    return [...traces.values()].map((trace) => openRow(trace, this.#packer));
  }
}
