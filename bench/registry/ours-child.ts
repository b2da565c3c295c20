// The whole registry on a PGlite folder, its limits far away, its metrics and spans on (the spans are
// made and dropped).
import { join } from 'node:path';
import { openDatabase } from '../../src/kit/database/database.ts';
import { listenAnywhere, startService } from '../../src/kit/testing.ts';
import { registry } from '../../src/registry/service.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { OursHello } from './contestant.ts';

const subjects = 64;
const forgetSpansMs = 100;
const permissions = ['registry:write', 'registry:call', 'registry:execute'];

async function start(folder: string): Promise<OursHello> {
  // Its other files go with the folder too: this process is killed and tidies nothing.
  process.env['TMPDIR'] = folder;
  const running = await startService(registry, {
    database: await openDatabase({ folder: join(folder, 'database') }),
    environment: { REGISTRY_STDIO_ALLOW: `${process.execPath} **` },
  });
  setInterval(() => running.spans.splice(0), forgetSpansMs);
  const signed = Array.from({ length: subjects }, (_, at) =>
    running.issuer.sign({ sub: `usr_${at}`, permissions }),
  );
  return { url: await listenAnywhere(running.host.http), tokens: await Promise.all(signed) };
}

const [folder = ''] = process.argv.slice(2);
serveOrders(await start(folder), () => {});
