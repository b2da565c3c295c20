import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { requirePermission } from '../../kit/permissions.ts';
import { parseTime, type DayEdge } from '../../kit/time/time-text.ts';
import type { searchRoutes as routes } from '../schemas/search.ts';
import type { Search, SearchHit } from '../search/search.ts';

type SearchHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of the search. */
export function searchHandlers({ search }: { readonly search: Search }): SearchHandlers {
  return {
    search: async ({ body, identity, signal }) => {
      const { query, limit, min_score: minScore, filters = {} } = body;
      const ownerId = whoseMessages(identity, filters.user_id);
      const range = readRange(filters.date_range ?? {});
      const { hits, total, isTotalExact, queryTimeMs } = await search.find(ownerId, {
        query,
        signal,
        ...(limit !== undefined && { limit }),
        ...(minScore !== undefined && { minScore }),
        ...range,
      });
      return {
        results: hits.map(toResult),
        total,
        total_is_exact: isTotalExact ?? true,
        query_time_ms: Math.round(queryTimeMs * 1_000) / 1_000,
      };
    },
  };
}

function whoseMessages({ subject, permissions }: Identity, userId: string | undefined): string {
  if (userId !== undefined && userId !== subject) requirePermission(permissions, 'chat:admin');
  return userId ?? subject;
}

interface DateRange {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

function readRange({ start, end }: DateRange): { readonly from?: Date; readonly to?: Date } {
  const from = start === undefined ? undefined : readDate(start, 'start');
  const to = end === undefined ? undefined : readDate(end, 'end');
  if (from && to && from > to) throw wrongDate('start', 'is after filters.date_range.end');
  return { ...(from && { from }), ...(to && { to }) };
}

function readDate(text: string, which: DayEdge): Date {
  const ms = parseTime(text, which);
  if (ms !== undefined) return new Date(ms);
  throw wrongDate(which, 'is no date');
}

function wrongDate(which: DayEdge, what: string): Fault {
  const field = `filters.date_range.${which}`;
  return new Fault('invalid', `${field} ${what}`, {
    reason: 'validation_error',
    detail: { field },
  });
}

function toResult({ messageId, conversationId, createdAtMs, ...hit }: SearchHit) {
  const { content, score, role, title, snippet, embedder, model } = hit;
  return {
    id: messageId,
    content,
    score,
    conversation_id: conversationId,
    timestamp: new Date(createdAtMs).toISOString(),
    metadata: { role, title, snippet, embedder, ...(model !== undefined && { model }) },
  };
}
