import { createClient } from '../kit/client.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { modelsContract } from './contract.ts';
import { models } from './service.ts';

/** The models service on a port of its own, and a client of it. */
export async function startModels() {
  const lifetime = new Lifetime(silentLog);
  const running = lifetime.own('models', await startService(models));
  const baseUrl = await listenAnywhere(running.host.http);
  const token = () => running.issuer.sign();
  const client = createClient(modelsContract, { baseUrl, token, tracer: running.host.tracer });
  return {
    url: baseUrl,
    token,
    client,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
