import type { Answer } from '../../api/contracts.ts';

export type TraceSummary = Answer<'tracer', 'GET /api/v1/traces'>['traces'][number];
export type Trace = Answer<'tracer', 'GET /api/v1/traces/:traceId'>;
export type Span = Trace['spans'][number];
export type CriticalPath = Answer<'tracer', 'GET /api/v1/traces/:traceId/critical-path'>;
export type Bottlenecks = Answer<'tracer', 'GET /api/v1/traces/:traceId/bottlenecks'>;
export type WhatIf = Answer<'tracer', 'POST /api/v1/traces/:traceId/what-if'>;
export type Comparison = Answer<'tracer', 'GET /api/v1/traces/compare'>;
export type Metrics = Answer<'tracer', 'GET /api/v1/metrics/aggregate'>;
export type Dependencies = Answer<'tracer', 'GET /api/v1/dependencies'>;
export type Alert = Answer<'tracer', 'POST /api/v1/alerts'>;
export type AlertEvent = Answer<'tracer', 'GET /api/v1/alerts/:id/history'>['history'][number];
export type DryRun = Answer<'tracer', 'POST /api/v1/alerts/dry-run'>;
