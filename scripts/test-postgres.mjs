// `npm run test:postgres`: the tests of services whose tables matter most, once more on the PostgreSQL
// server of ENNEAD_TEST_POSTGRES_URL. They share its schemas, so one file runs after the other.
import { prepare } from './prepare.mjs';
import { runTests } from './vitest.mjs';

if (!process.env.ENNEAD_TEST_POSTGRES_URL) {
  console.log('skipped: ENNEAD_TEST_POSTGRES_URL names no server');
  process.exit(0);
}
prepare();
const tested = [
  'auth',
  'chat/conversations',
  'chat/orchestrations',
  'chat/search/normal-form.test.ts',
  'chat/search/search.test.ts',
  'chat/search/words-renewal.slow.test.ts',
  'chat/turns',
  'gateway/cache',
  'gateway/money',
  'gateway/providers',
  'gateway/routes',
  'mesh/agents',
  'mesh/attestation',
  'mesh/certificates',
  'mesh/swarms',
  'mesh/tasks',
  'registry/authorization',
  'registry/connections',
  'registry/exchange',
  'registry/health',
  'registry/registry.test.ts',
  'registry/traffic',
  'studio/agents',
  'studio/files/files.test.ts',
  'studio/sync',
  'studio/tasks',
  'studio/workspaces',
  'tracer/alerts',
  'tracer/intake',
  'tracer/metrics',
  'tracer/routes',
  'tracer/series',
  'tracer/tracer.test.ts',
  'workflow/batches',
  'workflow/collections',
  'workflow/definitions',
  'workflow/engine',
  'workflow/triggers',
  'workflow/workflow.test.ts',
];
const { status } = runTests({
  filter: tested.map((path) => `src/${path}`),
  parameters: ['--maxWorkers=1'],
  env: { ...process.env, ENNEAD_TEST_DATABASE: 'postgres' },
});
process.exit(status);
