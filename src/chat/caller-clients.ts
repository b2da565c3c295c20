import { createClient, type Client } from '../kit/client.ts';
import type { Contract } from '../kit/contract.ts';
import type { Host } from '../kit/service.ts';
import type { Caller } from './caller.ts';

/** A typed client of another service that speaks as a caller of ours, with their rights and limits. */
export type CallerClients = <C extends Contract>(
  contract: C,
  caller: Pick<Caller, 'credential'>,
) => Client<C>;

/** Clients of the suite's other services; one that is not in the suite refuses connections. */
export function createCallerClients({
  peers,
  tracer,
}: Pick<Host<never>, 'peers' | 'tracer'>): CallerClients {
  return (contract, { credential }) => {
    const peer = peers.find(({ name }) => name === contract.name);
    const token = () => Promise.resolve(credential);
    return createClient(contract, { baseUrl: peer?.url ?? nowhere, token, tracer });
  };
}

/** A port on which nobody listens (RFC 863). */
const nowhere = 'http://127.0.0.1:9';
