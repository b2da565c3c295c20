// A studio with its database in a process of its own.
import { startStudio } from '../../src/studio/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { StudioHello } from './studio.ts';

const studio = await startStudio({
  environment: { RATE_LIMIT_STUDIO_PER_MINUTE: '10000000', RATE_LIMIT_STUDIO_BURST: '10000000' },
});
const hello: StudioHello = { url: studio.url, token: await studio.tokenOf('usr_bench') };
serveOrders(hello, () => undefined);
